"""The frame, which agents publish: the rows of one dataset of one system at one instant, as columns. Pure.

A frame is one JSON object. The members of the envelope are scalars and hold for every row; each column of the dataset
is an array of `frame_rows` values, null where a value is missing; a column without any value is left out. `seq` is the
number of the first row: the rows have the numbers from `seq` to `seq + frame_rows - 1`, so each row can be accounted
for wherever it ends up. An interval that is too large for one frame is cut into `parts` by entity; each frame then has
its `part`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from counterflow.schemas.definition import Dataset, datasets, envelope

MOST_ROWS = 5_000
"""Rows of a frame, at most."""

LONGEST_BYTES = 2**20
"""Bytes of a frame, at most: the topics accept four times as many."""

SIZES = ("frame_rows", "part", "parts")
"""The members of a frame that describe the frame itself; they end with it."""

Frame = Mapping[str, Any]


class Malformed(ValueError):  # noqa: N818 - of the data, not of the program
    """A frame breaks the contract: `reason` in a word, the text in a sentence, and how many rows it claims to have."""

    def __init__(self, reason: str, text: str, rows: int = 1) -> None:
        super().__init__(text)
        self.reason = reason
        self.rows = rows


class Contract:
    """What every frame of a dataset must meet before it can be split into rows: envelope, shape, columns, entities.

    Types and ranges of values are checked where they are written and where they are stored; the type of `seq`, which
    numbers the rows, is checked here too.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.scalars = frozenset({*envelope("counter"), *SIZES})
        self.required_scalars = tuple(n for n, column in envelope("counter").items() if column.null_when is None)
        self.columns = frozenset(dataset.columns)
        self.required = tuple(name for name, column in dataset.columns.items() if column.null_when is None)
        self.entity = tuple(name for name in dataset.key if name in dataset.columns)

    def rows(self, frame: Frame) -> int:
        """Return the number of rows of a frame.

        Raises
        ------
        Malformed : the frame cannot be split into rows, or two of its rows have the same entity.
        """
        count = frame.get("frame_rows")
        if type(count) is not int or not 1 <= count <= MOST_ROWS:
            raise Malformed("frame_rows", f"`frame_rows` is {count!r}, expected 1 to {MOST_ROWS:,}")
        if broken := self._broken(frame, count):
            raise Malformed(*broken, count)
        return count

    def _broken(self, frame: Frame, count: int) -> tuple[str, str] | None:
        """Return the reason in one word and in a sentence; None for a well-formed frame."""
        for name, values in frame.items():
            if name in self.scalars:
                if type(values) in (list, dict):
                    return "not_a_scalar", f"`{name}` holds for all rows, expected one value"
            elif name not in self.columns:
                return "unknown_column", f"`{name}` is no column of {self.dataset.dataset}"
            elif type(values) is not list:
                return "not_an_array", f"`{name}` is no array of {count:,} values"
            elif len(values) != count:
                return "unequal_columns", f"`{name}` has {len(values):,} values, `frame_rows` is {count:,}"
        for name in self.required_scalars:
            if frame.get(name) is None:
                return "missing_column", f"`{name}` is missing, which every row needs"
        if type(frame["seq"]) is not int:
            return "seq", f"`seq` is {frame['seq']!r}, expected a whole number"
        for name in self.required:
            if None in frame.get(name, (None,)):
                return "missing_column", f"`{name}` lacks a value, which every row needs"
        try:
            if self.distinct(frame) != count:
                return "repeated_entity", f"two rows have the same {', '.join(self.entity)}"
        except TypeError:
            return "not_a_scalar", f"a value of {', '.join(self.entity)} is an object or an array"
        return None

    def distinct(self, frame: Frame) -> int:
        """Return the number of entities of a frame."""
        return len(set(self.entities(frame)))

    def entities(self, frame: Frame) -> Sequence[Any]:
        """Return what distinguishes the rows of a frame: the values of its only key column, else tuples of several."""
        if len(self.entity) == 1:
            return frame[self.entity[0]]  # type: ignore[no-any-return]
        return list(zip(*(frame[name] for name in self.entity), strict=True))


@cache
def contract(dataset: str) -> Contract:
    return Contract(datasets()[dataset])


def rows(frame: Frame, columns: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a well-formed frame as records: envelope and columns, nulls left out."""
    shared = {name: value for name, value in frame.items() if name not in columns and name not in SIZES}
    arrays = {name: values for name, values in frame.items() if name in columns}
    for at in range(frame["frame_rows"]):
        row = {name: values[at] for name, values in arrays.items() if values[at] is not None}
        yield {**shared, "seq": frame["seq"] + at, **row}


def piece(frame: Frame, begin: int, end: int, columns: frozenset[str]) -> dict[str, Any]:
    """Return the rows from `begin` up to, but excluding, `end` as a frame; they keep their numbers."""
    cut = {name: value[begin:end] if name in columns else value for name, value in frame.items()}
    return {**cut, "seq": frame["seq"] + begin, "frame_rows": end - begin}
