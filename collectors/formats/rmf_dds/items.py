"""Converts the reports of one response to records: SYSINFO to `system_cpu`, PROCU to `job`, the rest to `counter`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from counterflow.collectors.formats.rmf_dds.report import (
    NO_DATA,
    NOTHING,
    Body,
    Header,
    body_of,
    header_of,
    message_of,
    number,
    text,
)
from counterflow.collectors.records import Context, Fields, Item, Reason, Record, Reject, Unusable
from counterflow.collectors.text import stamps
from counterflow.collectors.text.periods import gap, is_gap
from counterflow.collectors.text.refused import RefusedFigures
from counterflow.collectors.text.settings import changes
from counterflow.collectors.text.trees import mapping, mappings

# Meaning of the variables and columns (labels: IBM/RMF, reptrans.xsl); units where they are documented.


class Semantics(NamedTuple):
    """Unit and kind of a figure as `counter` has them."""

    unit: str | None
    kind: str | None


PERCENT, _RATE, _GAUGE = Semantics("%", "percent"), Semantics(None, "rate"), Semantics(None, "gauge")
_PROCESSORS = Semantics("processors", "gauge")

ENGINES = {"gcp": ("SYSCUVVC", "SYSPRVVC"), "ziip": ("SYSCUIVC", "SYSPRTVC")}
"""Variables of SYSINFO: utilisation in % and processors online, by type."""

SYSINFO = {
    **dict.fromkeys(("SYSTSVVC", "SYSTSEVC"), PERCENT),  # Appl%, EAppl%
    **dict.fromkeys(("SYSLCPVC", "SYSCULVC", "SYSMUIVC", "SYSMUAVC"), PERCENT),  # MVS utilization: CP, IIP, AAP
    **dict.fromkeys(("SYSAPTVC", "SYSATCVC"), PERCENT),  # Appl% IIP, Appl% IIP on CP
    **dict.fromkeys(("SYSCUAVC", "SYSAPIVC", "SYSAICVC"), PERCENT),  # AAP: utilization, Appl%, Appl% on CP
    **dict.fromkeys(("SYSPRIVC", "SYSPKCVC", "SYSPKIVC", "SYSPKAVC"), _PROCESSORS),  # AAPs online; parked by type
    "SYSLOAVG": _GAUGE,  # load average
}
"""Variables of SYSINFO that no column models."""
SYSINFO_TEXTS = frozenset({"SYSMODVC", "SYSMDLVC", "SYSIPVVC", "SYSOPVVC", "SYSICVVC"})
"""Variables of SYSINFO that may look like numbers: CPU type and model, suffixes of members."""

PROCU_MS = {"gcp_ms": "PRUTCPE", "ziip_ms": "PRUTIIPE", "ziip_on_cp_ms": "PRUTIICT"}
"""Columns of `job` in ms: CP EAppl, IIP EAppl, IIP time on CP."""
PROCU_TEXTS = {"service_class": "PRUPSVCL", "report_class": "PRUPRPCL"}
PROCU_IDENTITY = ("PRUPJOB", "PRUPJID", "PRUPASI")
"""Job name, JES id, address space: no two rows of an interval have all three in common."""

PCIE_FUNCTION = "PCIEPFID"
PCIE_LINK = ("PCIESERN", "PCIELKID")
"""Serial number and id of a synchronous I/O link (zHyperLink)."""
PCIE_CPC = {
    **dict.fromkeys(("PCIETBPC", "PCIESRRC"), PERCENT),  # time busy, successful requests
    **dict.fromkeys(("PCIERRTC", "PCIETRRC", "PCIETWRC"), _RATE),  # requests, transfer read and write
    **dict.fromkeys(("PCIEXRRC", "PCIEXWRC"), _GAUGE),  # transfer read and write ratio
}
"""Columns of PCIE marked `(CPC)`: a link's use by all systems of the machine, never to be held against one of them."""
PCIE = {
    **dict.fromkeys(("PCIESRR", "PCIEALLT", "PCIEFBSY", "PCIE1BPU"), PERCENT),
    **dict.fromkeys(("PCIERRT", "PCIELOOP", "PCIESTOP", "PCIESBOP", "PCIERFOP", "PCIEDMAR", "PCIEDMAW"), _RATE),
    **dict.fromkeys(("PCIEDPKR", "PCIEDPKT", "PCIEDWUP", "PCIEFTR", "PCIE1RRC", "PCIE1TPC"), _RATE),
    **dict.fromkeys(("PCIE1RRD", "PCIE1TPD"), _RATE),
    **dict.fromkeys(("PCIEXRR", "PCIEXWR", "PCIEDMAN", "PCIEFRET", "PCIEFRES", "PCIEFRQT", "PCIEFRQS"), _GAUGE),
    **dict.fromkeys(("PCIEFRSZ", "PCIE1RCC", "PCIE1RCD", "PCIE1BPS"), _GAUGE),
    "PCIEDAUT": Semantics(None, None),  # adapter utilization
}
"""Columns of PCIE that are this system's."""
PCIE_TEXTS = frozenset({"PCIEPCID", "PCIEASID", "PCIEPOID", "PCIELKID", "PCIESERN", "PCIETYMO"})
"""Columns of PCIE that may look like numbers."""


@dataclass
class RmfState:
    """State carried over from earlier responses: JSON values, written with every commit.

    `seen` is the end of the last interval that was read, by report and system; `config` holds the texts published last
    for each item.
    """

    seen: dict[str, str] = field(default_factory=dict)
    config: dict[str, dict[str, str]] = field(default_factory=dict)


def items(tree: Any, state: RmfState, context: Context) -> Iterator[Item]:
    """Yield the records and rejects of a response; `state` is updated.

    Raises
    ------
    Unusable : it holds neither a report nor a message.
    """
    response = mapping(tree)
    reports, messages = mappings(response.get("report")), mappings(response.get("message"))
    for message in map(message_of, messages):
        if message is not None:
            yield Reject(Reason.RECORDER_MESSAGE, message.text, message.kept, system=context.system)
    if not reports and not messages:
        raise Unusable(Reason.EMPTY_SNAPSHOT, "expected a report in the response")
    for report in reports:
        place = _place(report, state, context)
        for item in _report(report, state, context):
            if isinstance(item, Reject):
                item.section, item.system, item.ts = place
            yield item


def _place(report: Mapping[str, Any], state: RmfState, context: Context) -> tuple[str | None, str | None, str | None]:
    """Return name, system and time of a report, for its rejects, where they are known."""
    try:
        found = header_of(report, context, state.seen)
    except Unusable:
        return text(mapping(report.get("metric")).get("id")) or None, context.system, None
    return found.name, found.system, stamps.iso(found.end)


def _report(report: Mapping[str, Any], state: RmfState, context: Context) -> Iterator[Item]:
    content, message = body_of(report), message_of(report.get("message"))
    if message is not None:
        refused = message.kept == "none" and not content.is_empty
        yield Reject(Reason.RECORDER_MESSAGE, message.text, message.kept, raw=_raw(report) if refused else b"")
    elif content.is_empty:
        yield Reject(Reason.EMPTY_SNAPSHOT, "the report has neither variables nor rows", "none")
    if content.is_empty or (message is not None and message.kept == "none"):
        return
    try:
        found = header_of(report, context, state.seen)
        if found.name in _READERS:
            yield from _READERS[found.name](_ReportReading(found, content, state))
        elif text(mapping(report.get("metric")).get("format")) in ("single", "list"):
            yield from _metric(_ReportReading(found, content, state), report)
        else:
            raise Unusable(Reason.UNKNOWN_LINE, f"expected a report {', '.join(_READERS)}, or a single metric")
    except Unusable as error:
        again = error.reason is Reason.DUPLICATE_ROW
        yield Reject(error.reason, str(error), "none", raw=b"" if again else _raw(report))


def _raw(report: Mapping[str, Any]) -> bytes:
    return json.dumps(report).encode()


class _ReportReading:
    """The reading of one report: the fields that its records share, and the figures that were refused."""

    def __init__(self, found: Header, content: Body, state: RmfState) -> None:
        """Raise `Unusable` where the interval was read before, or a later one was."""
        self.content = content
        self._found, self._state, self._refused = found, state, RefusedFigures()
        self._ts: Fields = {"ts": stamps.iso(found.end), "system": found.system, "source": "rmf_dds"}
        self._measured = self._ts | ({} if found.seconds is None else {"interval_s": found.seconds})
        if (last := state.seen.get(found.key)) is not None:
            if last == self._ts["ts"]:
                raise Unusable(Reason.DUPLICATE_ROW, "the interval was read before")
            if (found.end - datetime.fromisoformat(last)).total_seconds() < (found.seconds or 0.0):
                raise Unusable(Reason.LATE_ROW, f"expected an interval after {last}, which was read before")
        self._before = last

    def needs(self, column: str) -> None:
        """Require the identifying column, and each column only once.

        Raises
        ------
        Unusable : the rows lack `column`, or have a column twice.
        """
        found = [name for name, _ in self.content.columns]
        if column not in found:
            raise Unusable(Reason.BAD_HEADER, f"expected a column {column}")
        if len(found) != len(set(found)):
            raise Unusable(Reason.BAD_HEADER, "expected each column once")

    def figure(self, place: str, written: str | None) -> float | None:
        """Return a figure; None where there is none, and where it is refused."""
        try:
            return None if written is None else number(written)
        except Unusable as error:
            self._refused.add(error.reason, f"{place}: {written!r:.60}")
            return None

    def record(self, dataset: str, fields: Mapping[str, Any]) -> Record:
        """Return a record of the interval, without the fields that are null."""
        return Record(dataset, self._measured | {name: value for name, value in fields.items() if value is not None})

    def counter(self, section: str, instance: str, name: str, written: str, semantics: Semantics) -> Iterator[Record]:
        """Yield a figure that no column models."""
        if (value := self.figure(f"{instance}.{name}".lstrip("."), written)) is not None:
            fields = {"section": section, "instance": instance, "counter": name, "value": value}
            yield self.record("counter", {**fields, **semantics._asdict()})

    def config(self, item: str, texts: Mapping[str, str]) -> Iterator[Record]:
        """Yield the texts of an item that differ from what was published last."""
        published = self._state.config.setdefault(f"{self._ts['system']} {self._found.name} {item}", {})
        stated = {name: value for name, value in texts.items() if value.upper() not in NOTHING}
        yield from changes(published, stated, self._ts, self._found.name, item)

    def end(self, dataset: str | None = None, rows: int = 0) -> Iterator[Item]:
        """Yield the row count of a dataset and a reject for each kind of refusal; mark the interval as read."""
        self._state.seen[self._found.key] = self._ts["ts"]
        if self._before is not None and (seconds := self._found.seconds):
            apart_s = (self._found.end - datetime.fromisoformat(self._before)).total_seconds()
            if is_gap(apart_s, seconds):
                detail = f"no report since {self._before}: {gap(apart_s - seconds, seconds)}"
                yield Reject(Reason.SAMPLE_MISSING, detail, "all")
        if self._found.defect:
            yield Reject(Reason.STAMP_INVALID, self._found.defect, "part")
        if dataset is not None and rows:
            yield self.record("manifest", {"counted": dataset, "row_count": rows})
        if misfits := self.content.misfits:
            detail = f"{len(misfits)} rows have more or fewer values than the {len(self.content.columns)} columns"
            yield Reject(Reason.FIELD_COUNT, detail, "part", raw=json.dumps(misfits).encode())
        yield from self._refused.rejects()


def _sysinfo(reading: _ReportReading) -> Iterator[Item]:
    caption, rows = dict(reading.content.caption), 0
    for engine_type, (busy, online) in ENGINES.items():
        figures = {
            "busy_pct": reading.figure(busy, caption.pop(busy, None)),
            "logical_engines": reading.figure(online, caption.pop(online, None)),
        }
        if set(figures.values()) != {None}:
            rows += 1
            yield reading.record("system_cpu", {"engine_type": engine_type, "engine": "all", **figures})
    if not rows:
        yield Reject(Reason.EMPTY_SNAPSHOT, "neither utilisation nor number of processors in the caption", "part")
    texts = {}
    for name, written in caption.items():
        if name in SYSINFO:
            yield from reading.counter("SYSINFO", "", name, written, SYSINFO[name])
        elif name in SYSINFO_TEXTS or not _is_number(written):
            texts[name] = written
        else:
            yield from reading.counter("SYSINFO", "", name, written, Semantics(None, None))
    yield from reading.config("", texts)
    yield from reading.end("system_cpu", rows)


def _procu(reading: _ReportReading) -> Iterator[Item]:
    reading.needs("PRUPJOB")
    seen: Counter[str] = Counter()
    for row in reading.content.rows:
        identity = "/".join(row[name] for name in PROCU_IDENTITY if row.get(name))
        job = _one_more(identity, seen)
        fields: Fields = {"job": job, "command": row["PRUPJOB"], "job_name": row["PRUPJOB"]}
        fields |= {column: row.get(name) for column, name in PROCU_TEXTS.items() if row.get(name)}
        fields |= {c: reading.figure(f"{job}.{name}", row.get(name)) for c, name in PROCU_MS.items()}
        yield reading.record("job", fields)
    yield from _repeated(seen)
    yield from reading.end("job", seen.total())


def _pcie(reading: _ReportReading) -> Iterator[Item]:
    reading.needs(PCIE_FUNCTION)
    types = dict(reading.content.columns)
    functions: Counter[str] = Counter()
    links: set[str] = set()
    for row in reading.content.rows:
        function = _one_more(row[PCIE_FUNCTION], functions)
        link = "/".join(row[name] for name in PCIE_LINK if row.get(name)) or function
        texts = {}
        for name, written in row.items():
            if name in PCIE_CPC:
                if link not in links:  # every function on a link reports the same about it
                    yield from reading.counter("PCIE_CPC", link, name, written, PCIE_CPC[name])
            elif name in PCIE:
                yield from reading.counter("PCIE", function, name, written, PCIE[name])
            elif name in PCIE_TEXTS or types[name] != "N":
                texts[name] = written
            elif name != PCIE_FUNCTION:
                yield from reading.counter("PCIE", function, name, written, Semantics(None, None))
        links.add(link)
        yield from reading.config(function, {name: t for name, t in texts.items() if name != PCIE_FUNCTION})
    yield from _repeated(functions)
    yield from reading.end()


def _metric(reading: _ReportReading, report: Mapping[str, Any]) -> Iterator[Item]:
    """Yield one metric of `/gpm/perform`: a single value, or one per row of its list."""
    of = mapping(report.get("metric"))
    id, description = text(of.get("id")), text(of.get("description"))
    semantics = PERCENT if description.startswith("%") else Semantics(None, None)
    seen: Counter[str] = Counter()
    reading.content.misfits.clear()  # a row may name more than its columns do
    for row in mappings(report.get("row")):
        cells = row.get("col")
        values = [text(cell) for cell in cells] if isinstance(cells, list) else []
        if values[:1] == [NO_DATA]:
            continue
        if len(values) < 2:
            reading.content.misfits.append(values)
            continue
        instance = values[0] + (f"[{'.'.join(part for part in values[2:4] if part)}]" if any(values[2:4]) else "")
        yield from reading.counter(id, _one_more(instance, seen), description or id, values[1], semantics)
    yield from _repeated(seen)
    yield from reading.end()


_READERS: dict[str, Callable[[_ReportReading], Iterator[Item]]] = {"SYSINFO": _sysinfo, "PROCU": _procu, "PCIE": _pcie}


def _one_more(name: str, seen: Counter[str]) -> str:
    """Return the name of one more row, numbered so that no two rows of an interval share it."""
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}#{seen[name]}"


def _repeated(seen: Counter[str]) -> Iterator[Reject]:
    if again := [name for name, count in seen.items() if count > 1]:
        detail = f"{len(again)} have several rows, numbered from the second on: {', '.join(again[:20])}"
        yield Reject(Reason.DUPLICATE_ROW, detail, "all")


def _is_number(written: str) -> bool:
    try:
        return number(written) is not None
    except Unusable as error:
        return error.reason is Reason.OUT_OF_RANGE
