"""The site's mapping of table fields to columns of datasets: `columns` of its source.

`active_threads: kd5.real2252.active_threads` fills `db_log` of the subsystem that a line names, `gcp_ms: TABLE.FIELD`
fills `job` of its address space, `used_pct: TABLE.FIELD` fills `disk` of its volume. A type of engines before the table
fills `system_cpu`, and several fields may stand behind each other: `busy_pct: gcp:TABLE.FIELD ziip:TABLE.FIELD`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping
from datetime import datetime
from typing import NamedTuple

from counterflow.collectors.formats.omegamon_jsonl.known import FREE, JOB, MEMBER, SHARES, SUBSYSTEM, VOLUME
from counterflow.collectors.records import Fields, Reason, Record, Reject, Unusable
from counterflow.collectors.text.running_counts import Sample, beside
from counterflow.schemas.definition import datasets

_FILLING = re.compile(r"(?:(?P<engine>\w+):)?(?P<table>(?:\w+\.)?\w+)\.(?P<field>\w+)")

Value = str | float


class Filling(NamedTuple):
    """A field of `table` (`product.table` or the table alone) that fills a column; `engine` is set for `system_cpu`."""

    column: str
    table: str
    field: str
    engine: str | None


def fillings(columns: Mapping[str, str]) -> Iterator[Filling | Reject]:
    """Yield the mapping of a site, and a reject for each part that cannot be read."""
    for column, sources in columns.items():
        for source in sources.split():
            if match := _FILLING.fullmatch(source):
                yield Filling(column, match["table"], match["field"], match["engine"])
            else:
                detail = f"columns: {column}: expected TABLE.FIELD or ENGINE:TABLE.FIELD, found `{source:.60}`"
                yield Reject(Reason.INVALID_ENTRY, detail, "none")


def records(
    section: str,
    found: list[Filling],
    line: Mapping[str, Value],
    envelope: Fields,
    instant: datetime,
    samples: MutableMapping[str, Sample],
) -> Iterator[Record | Reject]:
    """Yield the rows of datasets that a line fills; `samples` are the running counts of each subsystem and table."""
    rows: dict[tuple[str, str | None], Fields] = {}
    for filling in found:
        if filling.field not in line:
            continue  # keys without data are left out
        dataset = _dataset(filling, line)
        column = datasets()[dataset].columns.get(filling.column) if dataset else None
        value = line[filling.field]
        if dataset is None or column is None:
            of = (
                f"`{dataset}` has no such column"
                if dataset
                else "the line names no subsystem, no address space and no volume"
            )
            detail = f"columns: {filling.column} from {filling.field}: {of}; for processors write gcp:{filling.table}.…"
            yield Reject(Reason.INVALID_ENTRY, detail, "part")
        elif column.type == "Float64" and not isinstance(value, float):
            yield Reject(Reason.NOT_A_NUMBER, f"{filling.field}: expected a number, found `{value:.60}`", "part")
        else:
            converted = _converted(value, column.unit, section, filling.field, envelope.get("interval_s"))
            row = rows.setdefault((dataset, filling.engine), {})
            if converted is not None:
                row[filling.column] = converted
    for (dataset, engine), columns in rows.items():
        fields = {**envelope, **_key(dataset, engine, line), **columns}
        if "cpu_ms" in columns:
            fields["cpu_base"] = "logical"
        if dataset == "db_log":
            kinds = datasets()[dataset].columns
            counts = {name: columns[name] for name in columns if kinds[name].kind == "cumulative"}
            if counts:
                try:
                    of = f"{envelope['system']} {line[SUBSYSTEM]} {section}"
                    compared = beside(samples.get(of), instant, counts)
                except Unusable as error:
                    yield Reject(error.reason, f"{line[SUBSYSTEM]}: {error}", "none")
                    continue
                samples[of] = compared.sample
                fields |= compared.fields
                if compared.reason and compared.detail:
                    yield Reject(compared.reason, f"{line[SUBSYSTEM]}: {compared.detail}", "all")
        yield Record(dataset, fields)


def _converted(value: Value, unit: str | None, section: str, field: str, seconds: float | None) -> Value | None:
    """Return a value in the unit of its column; None where that needs the interval's length and it is unknown."""
    if not isinstance(value, float):
        return value
    if unit == "ms" and field in SHARES.get(section, ()):
        return None if seconds is None else round(value / 100 * seconds * 1000, 3)
    return 100 - value if field in FREE.get(section, ()) else value


def _dataset(filling: Filling, line: Mapping[str, Value]) -> str | None:
    if filling.engine:
        return "system_cpu"
    of = {SUBSYSTEM: "db_log", JOB[0]: "job", VOLUME: "disk"}
    return next((dataset for name, dataset in of.items() if name in line), None)


def _key(dataset: str, engine: str | None, line: Mapping[str, Value]) -> Fields:
    match dataset:
        case "system_cpu":
            return {"engine_type": engine, "engine": "all"}
        case "job":
            name = str(line[JOB[0]])
            job = "/".join(written(line[part]) for part in JOB if part in line)
            return {"job": job, "command": name, "job_name": name}
        case "disk":
            return {"disk": str(line[VOLUME]), "device_type": "disk", "leaf": True}
        case _:
            member = {"member": str(line[MEMBER])} if MEMBER in line else {}
            return {"subsystem": str(line[SUBSYSTEM]), **member}


def written(value: Value) -> str:
    return f"{value:.15g}" if isinstance(value, float) else value
