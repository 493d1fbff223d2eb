"""Repairs what sadf before 11.4 wrote in place of JSON, where exactly one repair fits.

- Decimal commas of a locale: digits behind the comma of an object can be nothing but decimals.
- `nan` and `inf`, which are no figures: null.
- A missing comma between a value that ends by itself (a text, an object, a list) and the next key. A number may have
  been cut and is not repaired.
- A section of sections (`network`) whose closing brace is missing: its sample ends where the next begins. Which members
  are sections of the sample follows from their names.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

_FIGURE = re.compile(
    r'(?P<text>"(?:[^"\\]|\\.)*")|(?P<whole>:[ \t]*-?\d+),(?P<decimals>\d+)|(?P<colon>:[ \t]*)-?(?:nan|inf)\b',
    re.DOTALL,
)
_TOKEN = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*")(?P<colon>\s*:)?|[{}\[\],]', re.DOTALL)
_SAMPLE = '"timestamp"'


def repaired(text: str, sections: Sequence[str]) -> tuple[Any, int, Counter[str]]:
    """Return the object that a text begins with, where it ends in the text, and how many defects of a kind it had.

    `sections` names the sections that may lack their closing brace.

    Raises
    ------
    ValueError : no repair fits, or an object then has a key twice.
    """
    edits: list[tuple[int, int, str]] = []

    def put(found: re.Match[str]) -> str:
        if found["text"]:
            return found[0]
        figure = f"{found['whole']}.{found['decimals']}" if found["whole"] else f"{found['colon']}null"
        kind = "decimal comma" if found["whole"] else "figure that is none"
        edits.append((found.start(), len(figure) - len(found[0]), kind))
        return figure

    figures = _FIGURE.sub(put, text)
    marks = list(_missing(figures, {f'"{name}"' for name in sections}))
    mended, at = [], 0
    for place, mark in marks:
        mended += [figures[at:place], mark]
        at = place
    whole = "".join([*mended, figures[at:]])
    tree, end = json.JSONDecoder(object_pairs_hook=_unique).raw_decode(whole)
    end -= len(marks)
    counts = Counter("missing comma" if mark == "," else "missing brace" for _, mark in marks)
    for place, longer, kind in edits:
        if place >= end:  # behind the object
            break
        counts[kind] += 1
        end -= longer
    return tree, end, counts


def _missing(text: str, sections: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield where a mark is missing in the object that a text begins with, and which, in one pass.

    Neither place is JSON without the mark: a key behind a value, and an end of a sample within an open object.
    """
    within: list[str] = []
    is_section = False
    before, end, comma = "", 0, 0
    for found in _TOKEN.finditer(text):
        part = found["text"] or found[0]
        if found["colon"]:
            if before in ('"', "}", "]") and not text[end : found.start()].strip():
                yield end, ","
            is_section = part in sections or (is_section and part != _SAMPLE)
        while part == "{" and before == "," and within[-1:] == ["{"] and is_section and _is_closed(text, comma):
            yield comma, "}"
            within.pop()
        while part == "]" and before == "}" and within[-1:] == ["{"] and is_section:
            yield end, "}"
            within.pop()
        if before and not within:  # a brace that was missing ended it
            return
        if part in ("{", "["):
            within.append(part)
        elif part in ("}", "]"):
            if within[-1:] != ["{" if part == "}" else "["]:
                return
            within.pop()
            if not within:
                return
        elif part == ",":
            comma = found.start()
        before = ":" if found["colon"] else part[0]
        end = found.end()


def _is_closed(text: str, comma: int) -> bool:
    """Return whether an object ends before a comma."""
    return text[max(comma - 99, 0) : comma].rstrip().endswith("}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a key twice")
    return found
