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
from collections.abc import Sequence
from typing import Any

_MOST = 1000
"""Missing commas and braces that are repaired: a document of a day has 144 samples, or 1,440."""
_FIGURE = re.compile(
    r'(?P<text>"(?:[^"\\]|\\.)*")|(?P<whole>:[ \t]*-?\d+),(?P<decimals>\d+)|(?P<colon>:[ \t]*)-?(?:nan|inf)\b',
    re.DOTALL,
)
_KEY = re.compile(r'"[^"\\]*"\s*:')
_SAMPLE = '"timestamp"'


def repaired(text: str, sections: Sequence[str]) -> tuple[Any, int, Counter[str]]:
    """Return the object that a text begins with, where it ends in the text, and how many defects of a kind it had.

    `sections` names the sections that may lack their closing brace.

    Raises
    ------
    ValueError : no repair fits, or an object then has a key twice.
    """
    counts: Counter[str] = Counter()

    def put(found: re.Match[str]) -> str:
        if found["whole"]:
            counts["decimal comma"] += 1
            return f"{found['whole']}.{found['decimals']}"
        if found["colon"]:
            counts["figure that is none"] += 1
            return f"{found['colon']}null"
        return found[0]

    mended = _FIGURE.sub(put, text)
    added = len(mended) - len(text)
    decoder = json.JSONDecoder(object_pairs_hook=_unique)
    for _ in range(_MOST):
        try:
            tree, end = decoder.raw_decode(mended)
        except json.JSONDecodeError as error:
            at, mark = _missing(mended, error.pos, sections)
            counts["missing comma" if mark == "," else "missing brace"] += 1
            mended = mended[:at] + mark + mended[at:]
            added += 1
        else:
            return tree, end - added, counts
    raise ValueError(f"more than {_MOST} commas and braces are missing")


def _missing(text: str, at: int, sections: Sequence[str]) -> tuple[int, str]:
    """Return where a mark is missing in a text that is no JSON from `at` on, and which."""
    before = len(text[:at].rstrip())
    if before and text[before - 1] in '"}]' and _KEY.match(text, at):
        return before, ","
    of_sample = text[max(text.rfind(_SAMPLE, 0, at), 0) : at]
    is_open = any(f'"{name}"' in of_sample for name in sections)
    if is_open and text[at : at + 1] == "{" and re.search(r"\}\s*,$", text[:before][-99:]):
        return text.rindex(",", 0, before), "}"
    if is_open and text[at : at + 1] == "]" and text[before - 1] == "}":
        return before, "}"
    raise ValueError("no repair fits")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a key twice")
    return found
