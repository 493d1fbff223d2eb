"""Makes text from data safe to print: a terminal shows control characters and never acts on them."""

from __future__ import annotations

import unicodedata


def inert(text: str, keep: str = "") -> str:
    """Return text with every non-printable character escaped: controls, escape sequences, bidi marks."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep or unicodedata.category(c) == "Zs" else _written(c) for c in text)


def _written(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode()
