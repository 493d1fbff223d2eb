"""Facts of a whole collection: its configuration (QAPMCONF) and the names of wait buckets (QAPMJOBWTD).

Both go to `config`, and into the state for the tables that need them: bucket boundaries for QAPMDISK (B1 to B5, ms) and
QAPMDISKRB (G1 to GA, µs), names of buckets for QAPMISUM, QAPMJOBWT and QAPMJOBWTG.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from counterflow.collectors.formats.ibmi_tables.description import tables
from counterflow.collectors.formats.ibmi_tables.layout import canonical
from counterflow.collectors.formats.ibmi_tables.times import stamp
from counterflow.collectors.formats.ibmi_tables.values import SOURCE, system, text_of
from counterflow.collectors.records import Context, Fields, Reason, Record, Reject, Unusable
from counterflow.collectors.text.numbers import number_of
from counterflow.collectors.text.stamps import iso

COLLECTION = ("QAPMCONF", "QAPMJOBWTD")

_BOUNDARIES = {
    "QAPMDISK": ([f"B{n}" for n in "12345"], 1000.0),
    "QAPMDISKRB": ([f"G{n}" for n in "123456789A"], 1.0),
}
"""Keys of QAPMCONF that hold the boundaries of a table, and the µs in their unit."""


def read_collection(
    table: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    context: Context,
    state: dict[str, Any],
    sampled_at: datetime | None = None,
) -> Iterator[Record | Reject]:
    """Yield the records of the rows of one of the two tables; see `read_rows`.

    Raises
    ------
    Unusable : a column is missing, or nothing names the system.
    """
    name = system(context)
    found = canonical(tables()[table], columns)
    needed = [field for field in tables()[table].fields if field not in ("GRES", "JWTNUM")]
    if missing := [field for field in needed if field not in found]:
        raise Unusable(Reason.BAD_HEADER, f"expected the columns {', '.join(needed)}, found no {', '.join(missing)}")
    places = [found.index(field) for field in needed]
    kept: list[list[str]] = []
    for row in rows:
        if len(row) != len(found):
            detail = f"expected {len(found)} values, found {len(row)}"
            yield Reject(Reason.FIELD_COUNT, detail, "none", section=table, system=name)
        else:
            kept.append([text_of(row[place]) or "" for place in places])
    take: Callable[..., Iterator[Record | Reject]] = _configuration if table == "QAPMCONF" else _buckets
    yield from take(kept, {"system": name, "source": SOURCE}, context, state, sampled_at)


def _configuration(
    rows: list[list[str]], envelope: Fields, context: Context, state: dict[str, Any], sampled_at: datetime | None
) -> Iterator[Record | Reject]:
    values = dict(rows)
    for table, (keys, factor) in _BOUNDARIES.items():
        try:
            known = [number_of(values.get(key)) for key in keys]
        except ValueError as error:
            yield _reject("QAPMCONF", Reason.NOT_A_NUMBER, f"boundaries of {table}: {error}", envelope, "all")
            continue
        numbers = [number * factor for number in known if number is not None]
        if len(numbers) == len(keys) and numbers == sorted(numbers):
            state.setdefault("boundaries", {})[table] = numbers
    started = values.get("1", ""), values.get("2", "")
    try:  # the century stands last: yymmddc
        local = {"DTETIM": started[0][:6] + started[1], "DTECEN": started[0][6:]}
        found = stamp(local, context.zone, None) if all(started) else None
    except ValueError as error:
        yield _reject("QAPMCONF", Reason.STAMP_INVALID, str(error), envelope, "part")
        found = None
    begun = found.instant if found else sampled_at.astimezone(UTC) if sampled_at else None
    if begun is None:
        yield _reject("QAPMCONF", Reason.STAMP_MISSING, "expected keys 1 and 2, when it began", envelope, "part")
        return
    state["began"] = iso(begun)
    for key, value in values.items():
        if key and value:
            yield _config(envelope, state["began"], "QAPMCONF", "", key, value)


def _buckets(
    rows: list[list[str]], envelope: Fields, context: Context, state: dict[str, Any], sampled_at: datetime | None
) -> Iterator[Record | Reject]:
    ts = iso(sampled_at) if sampled_at else state.get("began")
    if ts is None:
        detail = "no row has the begin of the collection: the names are used for waits and not sent to config"
        yield _reject("QAPMJOBWTD", Reason.STAMP_MISSING, detail, envelope, "part")
    for bucket_set, number, name in rows:
        try:
            keys = [f"{number_of(value) or 0:.0f}" for value in (bucket_set, number)]
        except ValueError as error:
            yield _reject("QAPMJOBWTD", Reason.NOT_A_NUMBER, str(error), envelope, "none")
            continue
        state.setdefault("waits", {}).setdefault(keys[0], {})[keys[1]] = name
        if ts is not None and name:
            yield _config(envelope, ts, "QAPMJOBWTD", keys[0], keys[1], name)


def _config(envelope: Fields, ts: str, section: str, item: str, name: str, value: str) -> Record:
    return Record("config", {**envelope, "ts": ts, "section": section, "item": item, "name": name, "value": value})


def _reject(table: str, reason: Reason, detail: str, envelope: Fields, kept: Any) -> Reject:
    return Reject(reason, detail, kept, section=table, system=envelope["system"])
