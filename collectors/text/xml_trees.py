"""Documents of XML as trees: an element is a mapping of its attributes and the elements in it, or a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from xml.parsers import expat

_DEEPEST = 32


class Shape(NamedTuple):
    """How elements and attributes become members.

    `several(name, depth)` returns whether elements of a name at this depth below the root become a list even if there
    is only one; of others the last counts. `named` returns the member's name for an element's. `kept` are the
    attributes that become members, None for all. The text of an element that has members is its member `value`.
    """

    several: Callable[[str, int], bool]
    named: Callable[[str], str] = str
    kept: frozenset[str] | None = None


def decode(written: str, root: str, shape: Shape) -> tuple[Any, int]:
    """Return the document at the beginning of a text, with the root element `root`, and where it ends.

    Raises
    ------
    ValueError : it is not XML, does not end, or declares entities, which could expand to any size.
    """
    tag = f"</{root}>"
    end = written.find(tag)
    if end < 0:
        raise ValueError(f"expected {tag} at its end")
    end += len(tag)
    builder = _Builder(shape)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = builder.doctype
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    try:
        parser.Parse(written[:end], True)
    except expat.ExpatError as error:
        raise ValueError(str(error)) from None
    return builder.tree, end


class _Builder:
    """The tree so far; for each open element, its members and its text."""

    def __init__(self, shape: Shape) -> None:
        self.tree: Any = None
        self._shape = shape
        self._open: list[tuple[dict[str, Any], list[str]]] = []

    def doctype(self, *declared: object) -> None:
        if declared[-1]:
            raise ValueError("it declares entities of its own")

    def start(self, _: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= _DEEPEST:
            raise ValueError(f"elements are nested deeper than {_DEEPEST}")
        kept = self._shape.kept
        members = {name: value for name, value in attributes.items() if kept is None or name in kept}
        self._open.append((members, []))

    def text(self, written: str) -> None:
        self._open[-1][1].append(written)

    def end(self, name: str) -> None:
        members, written = self._open.pop()
        text = "".join(written).strip()
        value: Any = members | ({"value": text} if text else {}) if members else text
        if not self._open:
            self.tree = value
            return
        within, name = self._open[-1][0], self._shape.named(name)
        if self._shape.several(name, len(self._open)):
            within.setdefault(name, []).append(value)
        else:
            within[name] = value
