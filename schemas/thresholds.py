"""The thresholds of figures, `thresholds.yaml`, and the definitions that name them instead of a number."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from counterflow.schemas.definition import load_yaml


class Threshold(NamedTuple):
    """From which value on a figure deserves a look (`watch`), and from which it limits the system (`limit`).

    The unit ends the figure's name. `source` is the document, or the statement that there is none.
    """

    source: str
    watch: float | None = None
    limit: float | None = None


@cache
def thresholds() -> dict[str, Threshold]:
    """Return every threshold by the name of its figure."""
    written = load_yaml((Path(__file__).parent / "thresholds.yaml").read_text(encoding="utf-8"))
    return {name: Threshold(**fields) for name, fields in written.items()}


def threshold(figure: str, level: str) -> float:
    """Return the threshold of a figure at a level, `watch` or `limit`.

    Raises
    ------
    ValueError : names the figure or level that `thresholds.yaml` does not have.
    """
    if figure not in thresholds():
        raise ValueError(f"<{figure}.{level}>: thresholds.yaml has no such figure")
    value = {"watch": thresholds()[figure].watch, "limit": thresholds()[figure].limit}.get(level)
    if value is None:
        raise ValueError(f"<{figure}.{level}>: it has no `{level}`; the levels are `watch` and `limit`")
    return value


def with_thresholds(text: str) -> str:
    """Return a definition with a number for each `<figure.level>`, or `<figure.level/1000>` in another unit.

    Raises as `threshold`.
    """

    def number(found: re.Match[str]) -> str:
        return f"{threshold(found[1], found[2]) / int(found[3] or 1):.12g}"

    return re.sub(r"<(\w+)\.(\w+)(?:/(\d+))?>", number, text)
