"""Metrics that an OpenTelemetry collector writes: OTLP as JSON, one export request after another.

Every data point is rows of `counter`, with its attributes as the instance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO, NamedTuple

from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject
from counterflow.collectors.text.documents import Documents, read_items
from counterflow.collectors.text.keys import Times, is_new
from counterflow.collectors.text.labels import joined
from counterflow.collectors.text.lines import BOM
from counterflow.collectors.text.settings import changes
from counterflow.collectors.text.stamps import iso, unix_time
from counterflow.collectors.text.trees import mapping, mappings, number

SOURCE = "otlp_json"

SYSTEM = ("host.name", "k8s.node.name", "host.id")
"""Attributes of a resource that name the system, the first that there is (OpenTelemetry, semantic conventions)."""
SECTION = "service.name"
NO_SECTION = "otlp"

_DOCUMENTS = Documents(re.compile(rb'\{\s{0,64}"resourceMetrics"\s{0,64}:'), '{"resourceMetrics": …}')
_CUMULATIVE, _DELTA = (2, "AGGREGATION_TEMPORALITY_CUMULATIVE"), (1, "AGGREGATION_TEMPORALITY_DELTA")
_FORMS = ("gauge", "sum", "histogram", "summary")
_LONGEST_TEXT = 200


@dataclass
class OtlpState:
    """What is kept from one request to the next: JSON values.

    `about` has unit and description of each metric published last, `times` those of each series.
    """

    about: dict[str, dict[str, str]] = field(default_factory=dict)
    times: Times = field(default_factory=dict)


class Value(NamedTuple):
    """One figure of a data point: its name, the labels that it adds, its unit and kind."""

    name: str
    labels: dict[str, str]
    value: float | None
    unit: str | None
    kind: str


def recognises(head: bytes) -> bool:
    return _DOCUMENTS.start.match(head.removeprefix(BOM).lstrip()) is not None


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of every request; one that is damaged becomes a reject, and the next is read."""
    return read_items(stream, position, context, _DOCUMENTS, OtlpState, _items)


def _items(tree: Any, state: OtlpState, context: Context) -> Iterator[Item]:
    for resource in mappings(mapping(tree).get("resourceMetrics")):
        about = labels(mapping(resource.get("resource")).get("attributes"))
        section = about.get(SECTION) or NO_SECTION
        system = context.system or next((about[name] for name in SYSTEM if about.get(name)), None)
        if system is None:
            detail = f"expected the attribute {' or '.join(SYSTEM)}, or `system` of the source"
            yield Reject(Reason.BAD_HEADER, detail, "none", section=section)
            continue
        envelope: Fields = {"system": system, "source": SOURCE}
        for scope in mappings(resource.get("scopeMetrics")):
            for metric in mappings(scope.get("metrics")):
                yield from _metric(metric, envelope, section, state)


def _metric(metric: Mapping[str, Any], envelope: Fields, section: str, state: OtlpState) -> Iterator[Item]:
    name = metric.get("name")
    if not isinstance(name, str) or not name:
        yield Reject(Reason.UNKNOWN_LINE, "expected a metric with its `name`", "none", section=section)
        return
    form = next((form for form in _FORMS if isinstance(metric.get(form), dict)), None)
    if form is None:
        found = ", ".join(key for key in metric if key not in ("name", "unit", "description"))
        detail = f"{name:.100}: expected {', '.join(_FORMS)}, found {found:.100}"
        yield Reject(Reason.UNKNOWN_LINE, detail, "none", section=section)
        return
    content = mapping(metric.get(form))
    unit = metric["unit"] if isinstance(metric.get("unit"), str) and metric["unit"] not in ("", "1") else None
    first: datetime | None = None
    for point in mappings(content.get("dataPoints")):
        instant = _instant(point.get("timeUnixNano"))
        if instant is None:
            detail = f"{name:.100}: expected timeUnixNano, found {point.get('timeUnixNano')!r:.40}"
            yield Reject(Reason.STAMP_INVALID, detail, "none", section=section)
            continue
        first = first or instant
        yield from _point(name, unit, form, content, point, instant, envelope, section, state)
    if first is not None:
        described = {"unit": unit, "help": metric.get("description")}
        words = {key: text[:_LONGEST_TEXT] for key, text in described.items() if isinstance(text, str) and text}
        known = state.about.setdefault(f"{envelope['system']} {section} {name}", {})
        yield from changes(known, {"type": form, **words}, {**envelope, "ts": iso(first)}, section, name)


def _point(
    name: str,
    unit: str | None,
    form: str,
    content: Mapping[str, Any],
    point: Mapping[str, Any],
    instant: datetime,
    envelope: Fields,
    section: str,
    state: OtlpState,
) -> Iterator[Record | Reject]:
    kind = _kind(form, content)
    begun = _instant(point.get("startTimeUnixNano"))
    if begun is None and kind == "delta" and point.get("startTimeUnixNano") not in (None, 0, "0", ""):  # 0 is unknown
        detail = (
            f"{name:.100}: expected startTimeUnixNano, found {point['startTimeUnixNano']!r:.40}: no interval is known"
        )
        yield Reject(Reason.STAMP_INVALID, detail, "part", section=section, ts=iso(instant))
    interval_s = round((instant - begun).total_seconds(), 3) if begun and kind == "delta" else None
    shared = {**envelope, "ts": iso(instant), "section": section, **({"interval_s": interval_s} if interval_s else {})}
    own = labels(point.get("attributes"))
    for value in _values(name, unit, form, kind, point):
        instance = joined(own | value.labels)
        if value.value is None:
            detail = f"{value.name:.100}{{{instance:.100}}}: expected a number"
            yield Reject(Reason.NOT_A_NUMBER, detail, "none", section=section, ts=iso(instant))
            continue
        if not is_new(state.times, f"{envelope['system']} {section} {value.name} {instance}", iso(instant), most=2):
            detail = f"{value.name:.100}{{{instance:.100}}} of {iso(instant)} was read already"
            yield Reject(Reason.DUPLICATE_ROW, detail, "none", section=section, ts=iso(instant))
            continue
        known = {"unit": value.unit} if value.unit else {}
        figure = {"counter": value.name, "instance": instance, "value": value.value, "kind": value.kind}
        yield Record("counter", {**shared, **figure, **known})


def _kind(form: str, content: Mapping[str, Any]) -> str:
    if form == "gauge" or (form == "sum" and not content.get("isMonotonic")):
        return "gauge"
    return "delta" if content.get("aggregationTemporality") in _DELTA else "cumulative"


def _values(name: str, unit: str | None, form: str, kind: str, point: Mapping[str, Any]) -> Iterator[Value]:
    """Yield the figures of a data point, named as in Prometheus; one without a value has none (`flags` 1)."""
    if form in ("gauge", "sum"):
        if point.get("flags") != 1:
            yield Value(name, {}, _number(point.get("asDouble", point.get("asInt"))), unit, kind)
        return
    yield Value(f"{name}_count", {}, _number(point.get("count")), None, kind)
    if "sum" in point:
        yield Value(f"{name}_sum", {}, _number(point.get("sum")), unit, kind)
    for quantile in mappings(point.get("quantileValues")):
        label = {"quantile": f"{_number(quantile.get('quantile')) or 0:g}"}
        yield Value(name, label, _number(quantile.get("value")), unit, "gauge")
    counts, bounds = _list(point.get("bucketCounts")), _list(point.get("explicitBounds"))
    if len(counts) != len(bounds) + 1:
        return
    total = 0.0
    for count, bound in zip(map(_number, counts), [*map(_number, bounds), None], strict=True):
        if count is None:
            return
        total += count
        yield Value(f"{name}_bucket", {"le": "+Inf" if bound is None else f"{bound:g}"}, total, None, kind)


def labels(attributes: object) -> dict[str, str]:
    """Return attributes as labels: scalars as text, others are left out."""
    found = {}
    for attribute in mappings(attributes):
        for form, value in mapping(attribute.get("value")).items():
            if form == "boolValue":
                value = str(value).lower()
            if form in ("stringValue", "boolValue", "intValue", "doubleValue") and not isinstance(value, dict | list):
                found[str(attribute.get("key"))] = str(value)
    return found


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _number(value: object) -> float | None:
    """Return a number; JSON of Protocol Buffers writes integers of 64 bits as text."""
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,20}", value):
        value = int(value)
    return number(value)


def _instant(nanoseconds: object) -> datetime | None:
    written = str(nanoseconds)
    return unix_time(int(written) // 10**6 / 1000) if re.fullmatch(r"\d{1,20}", written) else None
