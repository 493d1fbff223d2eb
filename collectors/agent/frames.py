"""Groups records into frames, and numbers, checks and encodes the frames. Pure but for the clock of `collected_at`.

The records of one dataset, system and instant wait here until too many do, or `drain` yields them, so a frame holds a
whole interval wherever a format yields its rows between two commits. A table is whole and does not wait. Values are
checked column by column; only where a column fails are rows checked singly, so that a broken row is refused and the
frame holds the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import is_
from typing import Any, Generic, NamedTuple, TypeVar

import orjson

from counterflow.collectors.agent.envelope import Message, utc_now
from counterflow.collectors.records import Fields, Record, Table
from counterflow.schemas.definition import datasets
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


class _Rows(NamedTuple, Generic[Place]):
    """Rows of one dataset, system and instant with their places: `shared` members of the frame, and columns."""

    shared: Fields
    columns: Columns
    places: Sequence[Place]

    def row(self, number: int) -> Fields:
        """Return one row as a format yields it, without nulls."""
        own = {name: values[number] for name, values in self.columns.items() if values[number] is not None}
        return {**{name: self.shared[name] for name in _ENVELOPE if name in self.shared}, **own}

    def chosen(self, numbers: Sequence[int]) -> _Rows[Place]:
        columns = {name: [values[n] for n in numbers] for name, values in self.columns.items()}
        return _Rows(self.shared, columns, [self.places[n] for n in numbers])


class _Group(NamedTuple, Generic[Place]):
    """Records of one dataset, system and instant that wait, with their places."""

    dataset: str
    shared: Fields
    records: list[Fields]
    places: list[Place]


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
            rows = _Rows(self._shared(fields, run), item.columns, [place] * item.rows)
            return self._framed(_checks(dataset), rows) if item.rows else ()
        get = fields.get
        key = (dataset, get("ts"), get("interval_s"), get("system"), get("source"), get("boot_id"), run, owner)
        try:
            group = self._groups.get(key)
        except TypeError:
            return [Broken(item, "a member of the envelope is no scalar", place)]
        if group is None:
            group = self._groups[key] = _Group(dataset, self._shared(fields, run), [], [])
        group.records.append(fields)
        group.places.append(place)
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
        dataset, shared, records, places = self._groups.pop(next(iter(self._groups)))
        self._waiting -= len(records)
        names = set().union(*records).difference(_ENVELOPE)
        columns = {name: [fields.get(name) for fields in records] for name in names}
        yield from self._framed(_checks(dataset), _Rows(shared, columns, places))

    def _framed(self, checks: _Checks, rows: _Rows[Place]) -> Iterator[Found[Place]]:
        encoded = checks.encoded(rows.columns) if self._is_envelope(rows.shared) else None
        if encoded is None:
            rows, broken = checks.sifted(rows)
            yield from broken
            if not rows.places:
                return
        while not checks.are_distinct(rows.columns, len(rows.places)):
            first, again = checks.distinct(rows.columns)
            yield from self._encoded(rows.chosen(first), None, checks)
            rows, encoded = rows.chosen(again), None
        yield from self._encoded(rows, encoded, checks)

    def _is_envelope(self, shared: Fields) -> bool:
        """Return whether the format's members of the envelope meet their definition: those of one instant are alike."""
        found = {name: shared[name] for name in _ENVELOPE if name in shared}
        if found != self._envelope and any(mistakes(found, _members())):
            return False
        self._envelope = found
        return True

    def _encoded(self, rows: _Rows[Place], encoded: Encoded | None, checks: _Checks) -> Iterator[Found[Place]]:
        """Yield the frame of rows, in parts by entity where they are too many for one.

        `encoded` holds their columns in JSON, where they are known. Where the rows cannot be encoded at all, each is
        tried alone: a broken row is refused, each other row has a frame of its own.
        """
        dataset, count = checks.contract.dataset, len(rows.places)
        length = sum(map(len, encoded.values())) if encoded else 1
        parts = min(count, max(-(-count // MOST_ROWS), -(-length // LONGEST_BYTES)))
        found: list[tuple[bytes, int]] = []
        while True:
            try:
                cut = list(self._cut(rows, encoded, parts, checks))
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
        if not found and count == 1:
            yield Broken(Record(dataset.dataset, rows.row(0)), why, rows.places[0])
        elif not found:
            for number in range(count):
                yield from self._encoded(rows.chosen([number]), None, checks)
        for value, size in found:
            message = Message(dataset.topic, rows.shared["system"].encode(), value)
            yield Framed(message, dataset.dataset, size, rows.places[0])
            self.seq += size

    def _cut(
        self, rows: _Rows[Place], encoded: Encoded | None, parts: int, checks: _Checks
    ) -> Iterator[tuple[bytes, int]]:
        seq, count = self.seq + 1, len(rows.places)
        if parts == 1:
            texts = encoded or checks.texts(rows.columns)
            yield _frame({**rows.shared, "seq": seq, "frame_rows": count}, texts), count
            return
        order = sorted(range(count), key=checks.contract.entities(rows.columns).__getitem__)
        for part in range(parts):
            chosen = order[part * count // parts : (part + 1) * count // parts]
            sizes = {"seq": seq, "frame_rows": len(chosen), "part": part + 1, "parts": parts}
            yield _frame({**rows.shared, **sizes}, checks.texts(rows.chosen(chosen).columns)), len(chosen)
            seq += len(chosen)


def _frame(once: Fields, texts: Encoded) -> bytes:
    return orjson.dumps({**once, **{name: orjson.Fragment(text) for name, text in texts.items()}})


class _Checks:
    """Checks and encodes the columns of a dataset's frames.

    A column that is the same tuple as in the frame before was checked and encoded there, and is not again.
    """

    def __init__(self, dataset: str) -> None:
        self.contract = contract(dataset)
        self._columns = columns(dataset)
        self._floats = frozenset(name for name, of in self.contract.dataset.columns.items() if of.type == "Float64")
        self._required = frozenset(self.contract.required)
        self._known: dict[str, tuple[Sequence[Any], bytes]] = {}
        self._distinct: list[Sequence[Any]] = []

    def encoded(self, columns: Columns) -> Encoded | None:
        """Return the columns in JSON, or None where one is not known or missing, or a value breaks the definition."""
        there = self._there(columns)
        if not (self._columns.keys() >= columns.keys() and there.keys() >= self._required):
            return None
        try:
            return {name: self._encoded(name, values) for name, values in there.items()}
        except (orjson.JSONEncodeError, ValueError):
            return None

    def _there(self, columns: Columns) -> Columns:
        """Return the columns that any row has, in the order of the definition."""
        return {name: columns[name] for name in self._columns if name in columns and not _is_empty(columns[name])}

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
        return {name: self._text(name, values) for name, values in self._there(columns).items()}

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

    def distinct(self, columns: Columns) -> tuple[list[int], list[int]]:
        """Return the numbers of the rows in which an entity occurs first, and of those that repeat one."""
        first: dict[Any, int] = {}
        again = [n for n, entity in enumerate(self.contract.entities(columns)) if first.setdefault(entity, n) != n]
        return list(first.values()), again

    def sifted(self, rows: _Rows[Place]) -> tuple[_Rows[Place], list[Broken[Place]]]:
        """Return the rows that meet their definition, and the broken ones."""
        known = _members() | self._columns
        kept, broken = [], []
        for number, place in enumerate(rows.places):
            row = rows.row(number)
            if why := "; ".join(mistakes(row, known)):
                broken.append(Broken(Record(self.contract.dataset.dataset, row), why[:4096], place))
            else:
                kept.append(number)
        return rows.chosen(kept), broken


def _is_empty(values: Sequence[Any]) -> bool:
    return values[0] is None and all(value is None for value in values)


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
