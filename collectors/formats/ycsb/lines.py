"""The lines that YCSB prints, as its source has them (d9faaac): StatusThread, Client, exporters, OneMeasurement*.

A locale prints decimal commas in status lines; the summary always has points.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from operator import methodcaller
from typing import Literal, NamedTuple

from counterflow.collectors.text import trees

_STATUS = re.compile(
    r"(?P<label>.*?)(?:(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}) )?(?P<elapsed>-?\d{1,9}) sec: (?P<done>\d{1,15}) "
    r"operations;\s?(?:(?P<rate>\S+) current ops/sec;\s?)?(?:est completion in [^\[]*)?(?P<kinds>.*)"
)
KIND = re.compile(
    r"\[(?P<name>[^\[\]:=]+): (?P<figures>Count=[^\[\]]*)\]"  # hdrhistogram
    r"|\[(?P<of>[^\[\]:=]+) AverageLatency\(us\)=(?P<mean>[^\[\]]+)\]"  # histogram, timeseries
    r"|(?P<raw>[A-Za-z][\w-]*) count: (?P<count>\d+), average latency\(us\): (?P<raw_mean>\S+)"  # raw
)
SUMMARY = re.compile(r"\[(?P<name>[^\[\]]+)\], (?P<measurement>[^\[\]]+), (?P<value>\S+)\s*")
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?")
_PAIR = methodcaller("partition", "=")
_NONE = frozenset(("NaN", "Infinity", "-Infinity", "∞", "\ufffd", "?", "-∞"))
RAW_DATA = re.compile(  # of measurementtype=raw: one point per line
    r"[A-Za-z][\w-]* latency raw data: op, timestamp\(ms\), latency\(us\)|[A-Za-z][\w-]*,\d{13},-?\d+"
)
OWN = re.compile(  # lines of YCSB itself that hold no figure
    r"Loading workload\.\.\.|Starting test\.|DBWrapper: report latency| ?\(might take a few minutes"
    r"|Unable to retrieve client version|Warning: the threadcount is bigger|.*\b(?:site|com\.yahoo)\.ycsb\.Client\b"
)
_FAILED = re.compile(
    r"(?P<operation>.+)-(?:FAILED|ERROR|NOT_FOUND|NOT_IMPLEMENTED|UNEXPECTED_STATE|BAD_REQUEST|FORBIDDEN"
    r"|SERVICE_UNAVAILABLE)"
)
_BESIDE = frozenset(("CLEANUP", "VERIFY", "THREAD_COUNT", "USED_MEM_MB", "SYS_LOAD_AVG", "GCS", "GCS_TIME"))
_AGAIN = re.compile(r"Bucket[A-Z]|Raw[A-Z]|Intended-")
_SETTINGS = ("recordcount", "operationcount", "insertcount", "maxexecutiontime", "target", "threadcount")
_OPTIONS = {"-threads": "threadcount", "-target": "target", "-db": "db", "-P": "workload", "-l": "label"}

OK = frozenset(("OK", "BATCHED_OK", "0"))
"""Return codes of operations that succeeded; versions before 0.5 print numbers."""


class Kind(NamedTuple):
    """What is measured under a name: an operation, its failures, or something that does not count as work."""

    operation: str
    what: Literal["done", "failed", "other"]


class StatusFigures(NamedTuple):
    """The figures of one name in a status line, by its own labels; None for one that is NaN, or `refused`."""

    name: str
    figures: dict[str, float | None]
    refused: tuple[str, ...] = ()


class Status(NamedTuple):
    """A status line: local time, seconds and operations since the run began, the rate of the interval.

    The seconds are negative where the clock was set back to a time before the begin.
    """

    label: str
    time: datetime | None
    elapsed_s: int
    done: int
    rate: float | None
    measured: list[StatusFigures]


class Summed(NamedTuple):
    """A line of the summary; the value is None for NaN."""

    name: str
    measurement: str
    value: float | None


def status(line: str) -> Status | None:
    """Return the content of a status line, None for another line.

    Raises
    ------
    ValueError : its time does not exist.
    """
    found = _STATUS.fullmatch(line) if " operations;" in line else None
    if found is None:
        return None
    time = datetime.strptime(f"{found['time']}000", "%Y-%m-%d %H:%M:%S:%f") if found["time"] else None  # noqa: DTZ007
    rate = number(found["rate"]) if found["rate"] else None
    return Status(
        found["label"].strip(), time, int(found["elapsed"]), int(found["done"]), rate, list(measured(found["kinds"]))
    )


def measured(text: str) -> Iterator[StatusFigures]:
    """Yield what is measured under each name in the rest of a status line, or in a line that continues one."""
    for found in KIND.finditer(text):
        if found["name"]:
            written = {name: value for name, _, value in map(_PAIR, found["figures"].split(", "))}
            figures = {name: number(value) for name, value in written.items()}
            none = (name for name, figure in figures.items() if figure is None)
            refused = (f"{found['name']} {name}: {written[name]:.40}" for name in none if written[name] not in _NONE)
            yield StatusFigures(found["name"], figures, tuple(refused))
        elif found["of"]:
            yield StatusFigures(found["of"], {"Avg": number(found["mean"])})
        else:
            yield StatusFigures(found["raw"], {"Count": number(found["count"]), "Avg": number(found["raw_mean"])})


def summed(line: str) -> Summed | None:
    """Return the content of a line of the summary, None for another line.

    Raises
    ------
    ValueError : its value is no number.
    """
    found = SUMMARY.fullmatch(line)
    if found is None:
        return None
    value = number(found["value"])
    if value is None and found["value"] not in _NONE:
        raise ValueError(f"{found['name']}, {found['measurement']}: expected a number, found {found['value'][:40]!r}")
    return Summed(found["name"], found["measurement"], value)


def number(text: str) -> float | None:
    """Return a number, None for a text that is not one, NaN and infinity included."""
    return trees.number(float(text.replace(",", "."))) if _NUMBER.fullmatch(text) else None


def kind(name: str) -> Kind:
    """Return what is measured under a name.

    With two types of measurement, `Hdr` stands before the names of one, and the other measures the same again, as do
    names with `Intended-`.
    """
    name = name[3:] if name.startswith("Hdr") and name[3:4].isupper() else name
    if _AGAIN.match(name) or name in _BESIDE:
        return Kind(name, "other")
    failed = _FAILED.fullmatch(name)
    return Kind(failed["operation"], "failed") if failed else Kind(name, "done")


def command(line: str) -> dict[str, str] | None:
    """Return the settings in `Command line:` that are known to hold no secret, None for another line."""
    if not line.startswith("Command line:"):
        return None
    words = line.split()[2:]
    found: dict[str, str] = {}
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        if word in _OPTIONS:
            found.setdefault(_OPTIONS[word], after.replace("\\", "/").rsplit("/", 1)[-1])
        elif word in ("-load", "-t"):
            found["phase"] = "load" if word == "-load" else "transactions"
        elif word == "-p" and after.partition("=")[0] in _SETTINGS:
            name, _, value = after.partition("=")
            found.setdefault(name, value)
    return found


def version(line: str) -> str | None:
    """Return the version that `YCSB Client` names, None for another line."""
    return line[12:].strip() if line.startswith("YCSB Client ") else None
