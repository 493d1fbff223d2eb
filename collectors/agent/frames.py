"""Groups records into frames, and numbers, checks and encodes the frames. Pure but for the clock of `collected_at`.

The records of one dataset, system and instant wait here until too many do, or `drain` yields them, so a frame holds a
whole interval wherever a format yields its rows between two commits. A table is whole and does not wait. Values are
checked column by column; only where a column fails are rows checked singly, so that a broken row is refused and the
frame holds the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from operator import is_
from typing import Any, Generic, NamedTuple, TypeVar

import orjson

from counterflow.collectors.agent.envelope import Message, utc_now
from counterflow.collectors.records import Fields, Record, Table
from counterflow.schemas.definition import Dataset, datasets
from counterflow.schemas.frame import LONGEST_BYTES, MOST_ROWS, contract
from counterflow.schemas.values import Values, columns, members, mistakes

Place = TypeVar("Place")

_MOST_GROUPS = 64
_MOST_WAITING = 30_000
"""Most groups, and most rows of all of them, that wait: more would take memory and delay what could be sent."""
_ENVELOPE = ("ts", "interval_s", "system", "source", "boot_id")
"""Members of the envelope that a format supplies."""
_OF_NUMBERS = b"0123456789.,-+e"
"""What finite numbers consist of: a JSON array that is `[]` without these has no text, and no null, as of NaN."""


class Framed(NamedTuple, Generic[Place]):
    """A frame to be produced: its message, its dataset, the number of its rows and their place."""

    message: Message
    dataset: str
    rows: int
    place: Place


class Broken(NamedTuple, Generic[Place]):
    """A record that breaks its dataset's definition, the reason, and the place that came with it."""

    record: Record
    why: str
    place: Place


Found = Framed[Place] | Broken[Place]
Columns = Mapping[str, Sequence[Any]]
Encoded = Mapping[str, bytes]
"""Columns in JSON."""


@dataclass(slots=True)
class _Group(Generic[Place]):
    """Rows of one dataset, system and instant with their places, or a table of them with its place."""

    dataset: str
    shared: Fields
    rows: list[Fields] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    table: Table | None = None

    def __len__(self) -> int:
        return self.table.rows if self.table else len(self.rows)

    def append(self, row: Fields, place: Place) -> None:
        self.rows.append(row)
        self.places.append(place)

    def split(self) -> None:
        if self.table is not None:
            table, places, self.table, self.places = self.table, self.places, None, []
            for record in table.records():
                self.append(record.fields, *places)

    def columns(self, of: Dataset) -> Columns:
        """Return the columns that any row has, in the order of the definition, with null where a row has no value."""
        there = self.members()
        if self.table is None:
            return {name: [row.get(name) for row in self.rows] for name in of.columns if name in there}
        found = self.table.columns
        return {name: found[name] for name in of.columns if name in there and not _is_empty(found[name])}

    def members(self) -> Set[str]:
        return self.table.columns.keys() if self.table else set().union(*self.rows)


def _is_empty(values: Sequence[Any]) -> bool:
    return values[0] is None and all(value is None for value in values)


class Frames(Generic[Place]):
    """The frames of one agent.

    `seq` is the number of the last row that was framed; the caller sets `collected_at` to when bytes were read.
    """

    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        self.seq = 0
        self.collected_at = utc_now()
        self._groups: dict[tuple[Any, ...], _Group[Place]] = {}
        self._waiting = 0
        self._envelope: Fields = {}

    def add(self, item: Record | Table, run: str | None, place: Place, owner: str = "") -> Iterable[Found[Place]]:
        """Return the frames of a table; keep a record for its frame, and return those of what waited longest, if any.

        A frame is due where too many groups or rows wait; rows of two owners share none. The fields of a record are
        taken over. Records that no frame can hold are returned as broken.
        """
        dataset, fields = item.dataset, item.shared if isinstance(item, Table) else item.fields
        if dataset not in _published():
            why = f"no dataset `{dataset}` is published by agents"
            return [Broken(record, why, place) for record in item.records()]
        if isinstance(item, Table):
            whole = _Group(dataset, self._shared(fields, run), places=[place], table=item)
            return self._framed(whole) if item.rows else ()
        get = fields.get
        key = (dataset, get("ts"), get("interval_s"), get("system"), get("source"), get("boot_id"), run, owner)
        try:
            group = self._groups.get(key)
        except TypeError:
            return [Broken(item, "a member of the envelope is no scalar", place)]
        if group is None:
            group = self._groups[key] = _Group(dataset, self._shared(fields, run))
        group.append(fields, place)
        self._waiting += 1
        return self._oldest() if len(self._groups) > _MOST_GROUPS or self._waiting > _MOST_WAITING else ()

    def _shared(self, fields: Fields, run: str | None) -> Fields:
        """Return the members that a frame of rows with these fields holds once."""
        shared = {name: fields[name] for name in _ENVELOPE if name in fields}
        shared = {"ts": self.collected_at, **shared, "agent_id": self.agent_id, "collected_at": self.collected_at}
        return shared if run is None else {**shared, "run": run}

    def drain(self) -> Iterator[Found[Place]]:
        """Yield the frames of all groups, including those that are begun meanwhile."""
        while self._groups:
            yield from self._oldest()

    def clear(self, seq: int) -> None:
        """Drop the waiting rows, and continue behind `seq`."""
        self._groups.clear()
        self._waiting = 0
        self.seq = seq

    def _oldest(self) -> Iterator[Found[Place]]:
        group = self._groups.pop(next(iter(self._groups)))
        self._waiting -= len(group)
        yield from self._framed(group)

    def _framed(self, group: _Group[Place]) -> Iterator[Found[Place]]:
        checks = _checks(group.dataset)
        dataset = checks.contract.dataset
        columns = group.columns(dataset)
        encoded = checks.encoded(group, columns) if self._is_envelope(group.shared) else None
        if encoded is None:
            group, broken = checks.sifted(group)
            yield from broken
            if not len(group):
                return
            columns = group.columns(dataset)
        while not checks.are_distinct(columns, len(group)):
            first, group = _distinct(group, checks.contract.entities(columns))
            yield from self._encoded(first, first.columns(dataset), None, checks)
            columns, encoded = group.columns(dataset), None
        yield from self._encoded(group, columns, encoded, checks)

    def _is_envelope(self, shared: Fields) -> bool:
        """Return whether the format's members of the envelope meet their definition: those of one instant are alike."""
        found = {name: shared[name] for name in _ENVELOPE if name in shared}
        if found != self._envelope and any(mistakes(found, _members())):
            return False
        self._envelope = found
        return True

    def _encoded(
        self, group: _Group[Place], columns: Columns, encoded: Encoded | None, checks: _Checks
    ) -> Iterator[Found[Place]]:
        """Yield the frame of a group, in parts by entity where the group is too large for one.

        `encoded` holds its columns in JSON, where they are known. Where the group cannot be encoded at all, each row is
        tried alone: a broken row is refused, each other row has a frame of its own.
        """
        count = len(group)
        length = sum(map(len, encoded.values())) if encoded else 1
        parts = min(count, max(-(-count // MOST_ROWS), -(-length // LONGEST_BYTES)))
        found: list[tuple[bytes, int]] = []
        while True:
            try:
                cut = list(self._cut(group.shared, columns, encoded, count, parts, checks))
            except orjson.JSONEncodeError as error:  # text that is not Unicode, an integer of more than 64 bits
                why = str(error)
                break
            longest = max(len(value) for value, _ in cut)
            if longest <= LONGEST_BYTES:
                found = cut
                break
            why = f"{longest} bytes; the longest message is {LONGEST_BYTES}"
            if parts == count:
                break
            parts = min(count, 2 * parts)
        if not found:
            group.split()
        if not found and count == 1:
            yield Broken(Record(group.dataset, group.rows[0]), why, group.places[0])
        elif not found:
            for row, place in zip(group.rows, group.places, strict=True):
                alone = _Group(group.dataset, group.shared, [row], [place])
                of_one = alone.columns(checks.contract.dataset)
                yield from self._encoded(alone, of_one, None, checks)
        for value, rows in found:
            message = Message(checks.contract.dataset.topic, group.shared["system"].encode(), value)
            yield Framed(message, group.dataset, rows, group.places[0])
            self.seq += rows

    def _cut(
        self, shared: Fields, columns: Columns, encoded: Encoded | None, count: int, parts: int, checks: _Checks
    ) -> Iterator[tuple[bytes, int]]:
        seq = self.seq + 1
        if parts == 1:
            texts = encoded or checks.texts(columns)
            yield _frame({**shared, "seq": seq, "frame_rows": count}, texts), count
            return
        order = sorted(range(count), key=checks.contract.entities(columns).__getitem__)
        for part in range(parts):
            chosen = order[part * count // parts : (part + 1) * count // parts]
            cut = {name: list(map(values.__getitem__, chosen)) for name, values in columns.items()}
            sizes = {"seq": seq, "frame_rows": len(chosen), "part": part + 1, "parts": parts}
            yield _frame({**shared, **sizes}, checks.texts(cut)), len(chosen)
            seq += len(chosen)


def _frame(once: Fields, texts: Encoded) -> bytes:
    return orjson.dumps({**once, **{name: orjson.Fragment(text) for name, text in texts.items()}})


def _distinct(group: _Group[Place], entities: Sequence[Any]) -> tuple[_Group[Place], _Group[Place]]:
    """Return a group in which each entity occurs once, and a group of the rows that repeat one."""
    first, again = _Group[Place](group.dataset, group.shared), _Group[Place](group.dataset, group.shared)
    group.split()
    seen: set[Any] = set()
    for row, place, entity in zip(group.rows, group.places, entities, strict=True):
        to = again if entity in seen else first
        seen.add(entity)
        to.append(row, place)
    return first, again


class _Checks:
    """Checks and encodes the columns of a dataset's frames.

    A column that is the same tuple as in the frame before was checked and encoded there, and is not again.
    """

    def __init__(self, dataset: str) -> None:
        self.contract = contract(dataset)
        self._columns = columns(dataset)
        self._floats = frozenset(name for name, of in self.contract.dataset.columns.items() if of.type == "Float64")
        self._required = frozenset(self.contract.required)
        self._allowed = frozenset({*self._columns, *_ENVELOPE})
        self._known: dict[str, tuple[Sequence[Any], bytes]] = {}
        self._distinct: list[Sequence[Any]] = []

    def encoded(self, group: _Group[Place], columns: Columns) -> Encoded | None:
        """Return the columns in JSON, or None where a value breaks the definition."""
        if not (self._allowed.issuperset(group.members()) and self._required <= columns.keys()):
            return None
        try:
            found = {name: self._encoded(name, values) for name, values in columns.items()}
        except (orjson.JSONEncodeError, ValueError):
            return None
        return found

    def _encoded(self, name: str, values: Sequence[Any]) -> bytes:
        known = self._known.get(name)
        if known is not None and known[0] is values:
            return known[1]
        text = self._text(name, values)
        are_numbers = name in self._floats and text.translate(None, _OF_NUMBERS) == b"[]"
        if not are_numbers and (why := self._columns[name].mistake(values)):
            raise ValueError(why)
        if type(values) is tuple:
            self._known[name] = values, text
        return text

    def texts(self, columns: Columns) -> Encoded:
        """Return columns in JSON, unchecked."""
        return {name: self._text(name, values) for name, values in columns.items()}

    def _text(self, name: str, values: Sequence[Any]) -> bytes:
        text = orjson.dumps(values)
        if name in self._floats:  # most counts are whole, many are 0
            text = text.replace(b".0,", b",")
            if text.endswith(b".0]"):
                text = text[:-3] + b"]"
        return text

    def are_distinct(self, columns: Columns, count: int) -> bool:
        entity = [columns[name] for name in self.contract.entity]
        if len(entity) == len(self._distinct) and all(map(is_, entity, self._distinct)):
            return True
        if self.contract.distinct(columns) != count:
            return False
        self._distinct = entity if all(type(values) is tuple for values in entity) else []
        return True

    def sifted(self, group: _Group[Place]) -> tuple[_Group[Place], list[Broken[Place]]]:
        """Return a group of the rows that meet their definition, and the broken rows."""
        kept: _Group[Place] = _Group(group.dataset, group.shared)
        broken = []
        known = _members() | self._columns
        group.split()
        for row, place in zip(group.rows, group.places, strict=True):
            if why := "; ".join(mistakes({"ts": group.shared["ts"], **row}, known)):
                broken.append(Broken(Record(group.dataset, row), why[:4096], place))
            else:
                kept.append(row, place)
        return kept, broken


@cache
def _checks(dataset: str) -> _Checks:
    return _Checks(dataset)


@cache
def _members() -> dict[str, Values]:
    """Return what the members of the envelope may hold that a format supplies."""
    return {name: members()[name] for name in _ENVELOPE}


@cache
def _published() -> frozenset[str]:
    return frozenset(name for name, dataset in datasets().items() if dataset.role == "counter")
