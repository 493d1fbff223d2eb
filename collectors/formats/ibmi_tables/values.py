"""Texts as files and drivers return them, and the name of the system, which no table holds."""

from __future__ import annotations

from counterflow.collectors.records import Context, Reason, Unusable
from counterflow.collectors.text.cells import is_null

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
