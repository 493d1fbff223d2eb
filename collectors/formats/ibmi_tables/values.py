"""Texts as files and drivers return them, and the name of the system, which no table holds."""

from __future__ import annotations

from counterflow.collectors.records import Context, Reason
from counterflow.collectors.text.cells import is_null

SOURCE = "ibmi_tables"


class Unusable(ValueError):  # noqa: N818 - not an error of the program
    """Nothing of the table can be read with the facts at hand, for `reason`."""

    def __init__(self, detail: str, reason: Reason = Reason.BAD_HEADER) -> None:
        super().__init__(detail)
        self.reason = reason


def system(context: Context) -> str:
    """Return the name of the system, which no table of IBM i holds.

    Raises
    ------
    Unusable : nothing names it.
    """
    if context.system is None:
        raise Unusable("the tables do not name their system: set `system` of the source, or --system")
    return context.system


def text_of(value: object) -> str | None:
    """Return a text without its padding blanks, bytes in hexadecimal, None for no value, a lone dash and NULL."""
    if value is None or isinstance(value, str):
        return None if value is None or is_null(value) else value.strip()
    if isinstance(value, bytes | bytearray | memoryview):
        return value.hex().upper()
    return str(value)
