"""Places in a YAML text, so that the report of a mistake names its line and the way out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

import yaml

Place = Sequence[str | int]
"""Keys and indices from the top of a structure down to a part of it."""


def mark_of(node: yaml.Node, place: Place) -> yaml.Mark:
    """Return the mark of the deepest part along `place` that the text has."""
    mark = node.start_mark
    for step in place:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(step)), None)
            if pair is None:
                return mark
            mark, node = pair[0].start_mark, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            mark = node.start_mark
    return mark


def line_of(node: yaml.Node, place: Place) -> int:
    """Return the line, from 1, of the deepest part along `place` that the text has."""
    line: int = mark_of(node, place).line + 1
    return line


def repeated(root: yaml.Node) -> Iterator[tuple[yaml.ScalarNode, str]]:
    """Yield every key that its mapping already has, with the way out."""
    waiting, seen = [root], set[int]()  # the target of an alias is visited once
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            lines: dict[str, int] = {}
            for key, value in node.value:
                line = key.start_mark.line + 1
                if isinstance(key, yaml.ScalarNode) and key.value in lines:
                    yield key, f"this key is already in line {lines[key.value]}; remove one of them"
                elif isinstance(key, yaml.ScalarNode):
                    lines[key.value] = line
                waiting.append(value)
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value


def dotted(place: Place) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")


def not_known(key: str, known: Sequence[str]) -> str:
    """Return the message for an unknown key: the nearest known one, or all that are known."""
    near = get_close_matches(key, known, 1, 0.6)
    return "unknown key; " + did_you_mean(near, f"known are {', '.join(known)}")


def did_you_mean(near: Sequence[str], otherwise: str) -> str:
    """Return a question that offers the nearest known name, or `otherwise` where none is near."""
    return f"did you mean `{near[0]}`?" if near else otherwise
