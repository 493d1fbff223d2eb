"""The text of one scrape: families of metrics, each parsed by the client library of Prometheus.

A family that the library refuses becomes a reject, and the others are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_classic

from counterflow.collectors.records import Reason, Reject
from counterflow.collectors.text.codepages import text
from counterflow.collectors.text.labels import joined
from counterflow.collectors.text.lines import KEPT_BYTES, Line

MOST_SAMPLES = 20_000
"""Samples of one scrape that are read; node_exporter returns 500 to 3,000. The excess is counted and refused."""

END = b"# EOF"
"""The last line of OpenMetrics; the classic text has none."""

_COMMENT = re.compile(rb"# (HELP|TYPE|UNIT) ")
_DECLARED = re.compile(r"^# TYPE (\S+) counter", re.MULTILINE)
_TOTAL = "_total"

_UNITS = {
    "seconds": "s", "bytes": "bytes", "ratio": "ratio", "percent": "%", "celsius": "degrees Celsius", "joules": "J",
    "watts": "W", "volts": "V", "amperes": "A", "hertz": "Hz", "meters": "m", "grams": "g",
}  # fmt: skip
"""Units by the last word of a name (Prometheus, "Metric and label naming", base units)."""
_KINDS = {"counter": "cumulative", "histogram": "cumulative", "summary": "cumulative"}
_LEVELS = ("gauge", "gaugehistogram", "stateset", "info")


class Metric(NamedTuple):
    """One sample. `at_s` is its own time in seconds of Unix time, None where it has none; `line` is that of its family.

    `kind` and `unit` are those of the dataset `counter`, None where the exposition states none. The value may be NaN or
    infinite.
    """

    name: str
    labels: dict[str, str]
    value: float
    at_s: float | None
    kind: str | None
    unit: str | None
    line: int

    @property
    def instance(self) -> str:
        """Its labels in the order of their names, as an exposition writes them."""
        return joined(self.labels)

    @property
    def series(self) -> str:
        """Name and labels: what identifies a series of one target."""
        return f"{self.name}{{{self.instance}}}" if self.labels else self.name


class Family(NamedTuple):
    """A family as its comments describe it: `about` has `type`, `unit` and `help`, those that there are."""

    name: str
    about: dict[str, str]
    metrics: list[Metric]


def families(lines: Sequence[Line]) -> Iterator[Family | Reject]:
    """Yield the families of one scrape in their order, and a reject for each that cannot be parsed."""
    is_openmetrics = bool(lines) and lines[-1].data.rstrip() == END
    left = MOST_SAMPLES
    for block in _blocks(lines):
        samples = sum(not line.data.startswith(b"#") for line in block)
        if samples > left:
            yield _refused(block, Reason.OUT_OF_RANGE, f"{samples} samples beyond the {MOST_SAMPLES} of one scrape")
            continue
        left -= samples
        fault = next((line.fault for line in block if line.fault), None)
        if fault is not None:
            yield _refused(block, fault, "the line is cut or too long")
            continue
        try:
            yield from _parsed(block, is_openmetrics)
        except (ValueError, OverflowError, LookupError, TypeError, AttributeError) as error:  # all are raised on text
            form = "OpenMetrics" if is_openmetrics else "the text format of Prometheus"
            yield _refused(block, Reason.UNKNOWN_LINE, f"not {form}: {' '.join(str(error).split()):.200}")


def _blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield the lines of each family: comments, and the samples behind them."""
    block: list[Line] = []
    for line in lines:
        data = line.data.strip()
        if not data or data == END:
            continue
        is_comment = data.startswith(b"#")
        if is_comment and not _COMMENT.match(data):
            continue  # for people
        if is_comment and block and not block[-1].data.startswith(b"#"):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _parsed(block: Sequence[Line], is_openmetrics: bool) -> Iterator[Family]:
    content = "\n".join(text(line.data) for line in block) + "\n"
    read = openmetrics.text_string_to_metric_families if is_openmetrics else read_classic
    declared = set() if is_openmetrics else set(_DECLARED.findall(content))
    for family in list(read(content + "# EOF\n" if is_openmetrics else content)):
        about = {"type": family.type, "unit": family.unit, "help": family.documentation}
        metrics = []
        for sample in family.samples:
            name = sample.name
            if name.removesuffix(_TOTAL) in declared:  # the library adds what the exposition does not write
                name = name.removesuffix(_TOTAL)
            at_s = None if sample.timestamp is None else float(sample.timestamp)
            kind, unit = _kind(family.type, name), _unit(name, family.unit)
            metrics.append(Metric(name, sample.labels, sample.value, at_s, kind, unit, block[0].number))
        written = family.name + _TOTAL if family.name + _TOTAL in declared else family.name  # the library shortens it
        yield Family(written, {key: value for key, value in about.items() if value}, metrics)


def _kind(of_family: str, name: str) -> str | None:
    """Return how a sample behaves over time: the quantiles of a summary are levels, its sum and count grow."""
    if of_family in _LEVELS or name.endswith("_created"):
        return "gauge"
    if of_family == "summary" and not name.endswith(("_sum", "_count")):
        return "gauge"
    return _KINDS.get(of_family)


def _unit(name: str, stated: str) -> str | None:
    """Return the unit of a sample: that of its family, else the base unit that the name ends with."""
    if name.endswith(("_count", "_bucket", "_info")):
        return None
    last = name.removesuffix(_TOTAL).removesuffix("_sum").rpartition("_")[2]
    return _UNITS.get(stated, stated) or _UNITS.get(last)


def is_number(metric: Metric) -> bool:
    """Return whether a sample has a value: NaN means that it has none; limits of 2^63 and more, that there is none."""
    return abs(metric.value) < 2.0**63


def _refused(block: Sequence[Line], reason: Reason, detail: str) -> Reject:
    first = block[0]
    raw = b"\n".join(line.raw for line in block)[:KEPT_BYTES]
    return Reject(reason, detail, "none", first.number, first.offset, section="openmetrics", raw=raw)
