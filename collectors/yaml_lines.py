"""Where things stand in a YAML text, so that a mistake in what it says names its line and the way out."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

import yaml

Place = Sequence[str | int]
"""Keys and indices from the top of a structure down to a part of it."""


def line_of(node: yaml.Node, place: Place) -> int:
    """Return the line, from 1, of the deepest part along `place` that the text has."""
    line: int = node.start_mark.line + 1
    for step in place:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(step)), None)
            if pair is None:
                return line
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
    return line


def dotted(place: Place) -> str:
    """Return a place as people write it: `sources[0].paths`."""
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")


def not_known(key: str, known: Sequence[str]) -> str:
    """Say what to write instead of a key that is not known."""
    near = get_close_matches(key, known, 1, 0.6)
    return "unknown key; " + did_you_mean(near, f"known are {', '.join(known)}")


def did_you_mean(near: Sequence[str], otherwise: str) -> str:
    """Offer the nearest of what is known, or say `otherwise` where nothing is near."""
    return f"did you mean `{near[0]}`?" if near else otherwise
