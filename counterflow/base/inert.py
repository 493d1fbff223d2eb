"""Names come from data: shown, never obeyed."""

from __future__ import annotations

import unicodedata


def inert(text: str, keep: str = "") -> str:
    """Return text in which all that is not plainly seen is written out: controls, escapes, turns of direction."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep or unicodedata.category(c) == "Zs" else _written(c) for c in text)


def _written(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode()
