"""The values of a row, as text or of any Python type, as numbers and texts; and the system, which no table names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from counterflow.collectors.formats.ibmi_tables.layout import Layout, Row
from counterflow.collectors.records import Context, Reason, Unusable
from counterflow.collectors.text.cells import is_null
from counterflow.collectors.text.numbers import EITHER_POINT, number_within, numbers_of

SOURCE = "ibmi_tables"


def system(context: Context) -> str:
    """Return the name of the system, which no table of IBM i holds.

    Raises
    ------
    Unusable : nothing names it.
    """
    if context.system is None:
        raise Unusable(
            Reason.BAD_HEADER, "the tables do not name their system: set `system` of the source, or --system"
        )
    return context.system


def text_of(value: object) -> str | None:
    """Return a text without its padding blanks, bytes in hexadecimal, None for no value, a lone dash and NULL."""
    if value is None or isinstance(value, str):
        return None if value is None or is_null(value) else value.strip()
    if isinstance(value, bytes | bytearray | memoryview):
        return value.hex().upper()
    return str(value)


class Conversion:
    """Converts rows with the same columns."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._overflows = any(described.overflow is not None for described in layout.described)
        self.points_group: Callable[[], bool | None] | None = None
        """Returns whether points separate thousands, see `number_within`; without it they are decimal points."""

    def number(self, value: object, *, whole: bool) -> float | None:
        """Return one number of a row as `number_within` does, which may raise Unusable."""
        return number_within(value, self.points_group or (lambda: False), whole=whole)

    def of(self, row: Row) -> tuple[Row, Mapping[Reason, list[str]]]:
        """Return the row with its numbers converted and its texts as text, and the refused fields by reason."""
        layout = self._layout
        refused: dict[Reason, list[str]] = {}
        numbers: Sequence[float | None]
        try:
            careful = self._overflows or self._has_points(row)
            numbers = self._repaired(row, refused) if careful else numbers_of(layout.numbers(row))
        except (ValueError, TypeError, OverflowError):
            numbers = self._repaired(row, refused)
        typed = list(row)
        for place, number in zip(layout.number_places, numbers, strict=True):
            typed[place] = number
        for place in layout.text_places:
            typed[place] = text_of(row[place]) or ""
        for place in layout.dash_places:
            typed[place] = "-" if str(row[place]).strip() == "-" else typed[place]
        return typed, refused

    def _has_points(self, row: Row) -> bool:
        """Return whether numbers of the row have points that may separate thousands."""
        if self.points_group is None or not any(map(EITHER_POINT.fullmatch, self._layout.numbers(row))):
            return False
        if self.points_group() is False:
            self.points_group = None  # no row of the file has any
        return self.points_group is not None

    def _repaired(self, row: Row, refused: dict[Reason, list[str]]) -> list[float | None]:
        """Return the numbers of a row, some of which need care: null, a decimal comma, a value that is refused."""
        layout = self._layout
        found: list[float | None] = []
        for name, described, value in zip(layout.number_names, layout.described, layout.numbers(row), strict=True):
            number: float | None = None
            try:
                number = self.number(value, whole=described.whole)
            except Unusable as error:
                refused.setdefault(error.reason, []).append(f"{name}: {error}")
            if number is not None and described.overflow is not None and number >= described.overflow:
                if number > described.overflow:
                    refused.setdefault(Reason.OUT_OF_RANGE, []).append(f"{name}: {number:g}")
                number = None
            if number is not None and number < 0 and not described.signed:
                refused.setdefault(Reason.NEGATIVE_DELTA, []).append(f"{name}: {number:g}")
                number = None
            found.append(number)
        return found
