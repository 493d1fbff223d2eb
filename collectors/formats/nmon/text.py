"""Text fields of a recording: bytes until their meaning is known, as numeric rows are never decoded."""

from __future__ import annotations

from counterflow.collectors.text.codepages import text


def pair(data: bytes) -> tuple[str, str]:
    first, _, rest = text(data).partition(",")
    return first.strip(), rest.rstrip()


def names(fields: bytes) -> list[str]:
    """Return the column names of a header; it may end with commas."""
    found = [name.strip() for name in text(fields).split(",")]
    while found and not found[-1]:
        found.pop()
    return found
