"""Reads the text of a file into entries and mistakes; an entry with a mistake is refused, the rest is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml
from pydantic import ValidationError

from counterflow.collectors.formats.site.entries import LISTS, Entry
from counterflow.collectors.records import Reason, Reject
from counterflow.collectors.yaml_lines import dotted, mark_of, not_known, repeated

LONGEST_BYTES = 2**20
"""The longest file that is read: that of a site of some hundred systems is a tenth of it."""


class PlacedEntry(NamedTuple):
    """An entry and where it stands."""

    entry: Entry
    node: yaml.Node


@dataclass(slots=True)
class Reading:
    """The content of a file; `site` is its name, None where it has none."""

    text: str = ""
    site: str | None = None
    entries: list[PlacedEntry] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)

    def refuse(self, what: str, node: yaml.Node, at: yaml.Mark | None = None, *, section: str | None = None) -> None:
        """Refuse an entry or a list; the mistake stands `at` a place in it, its beginning where left out."""
        at = at or node.start_mark
        raw = self.text[node.start_mark.index : node.end_mark.index].encode()
        offset = len(self.text[: at.index].encode())
        what = _unicode(what)
        self.rejects.append(Reject(Reason.INVALID_ENTRY, what, "none", at.line + 1, offset, section, raw=raw))


def _unicode(text: str) -> str:
    """Return text without halves of characters, which an escape of YAML may stand for."""
    return text.encode(errors="backslashreplace").decode()


def read(data: bytes, size: int) -> Reading:
    """Return the entries that hold no mistake, in the order of a file of `size` bytes, and every mistake."""
    if not data:
        return Reading(rejects=[Reject(Reason.EMPTY_FILE, "the file is empty", "none")])
    if size > LONGEST_BYTES:
        detail = f"{size} bytes: up to {LONGEST_BYTES} are read, split the file"
        return Reading(rejects=[Reject(Reason.LINE_TOO_LONG, detail, "none", raw=data)])
    try:
        text = data.decode()
        tree = yaml.compose(text, Loader=yaml.BaseLoader)
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        return Reading(rejects=[_unreadable(error, data)])
    reading = Reading(text)
    if isinstance(tree, yaml.MappingNode):
        _read_lists(tree, reading)
    else:
        what = f"expected `site: NAME` and lists: {', '.join(LISTS)}"
        reading.rejects.append(Reject(Reason.INVALID_ENTRY, what, "none", 1, raw=data))
    return reading


def _unreadable(error: Exception, data: bytes) -> Reject:
    if isinstance(error, UnicodeDecodeError):
        reason, what, offset = Reason.WRONG_ENCODING, f"not UTF-8 at byte {error.start}", error.start
    else:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        at = mark.index if mark else getattr(error, "position", 0)
        offset = len(data.decode()[:at].encode())
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "nested too deeply"
        reason, what = Reason.INVALID_ENTRY, f"not YAML: {problem}"
    line = data.count(b"\n", 0, offset) + 1
    return Reject(reason, f"{what}; nothing of the file is read until that is mended", "none", line, offset, raw=data)


def _read_lists(tree: yaml.MappingNode, reading: Reading) -> None:
    lines: dict[str, int] = {}
    seen: dict[tuple[object, ...], int] = {}
    for key, node in tree.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        if name in lines:
            reading.refuse(f"`{name}` is already in line {lines[name]}; put them together", node, key.start_mark)
            continue
        lines[name] = key.start_mark.line + 1
        if name == "site":
            if isinstance(node, yaml.ScalarNode) and node.value == _unicode(node.value) != "":
                reading.site = node.value
            else:
                reading.refuse("site: expected the site's name", node, key.start_mark)
        elif name not in LISTS:
            reading.refuse(f"{name:.60}: {not_known(name, ['site', *LISTS])}", node, key.start_mark)
        elif isinstance(node, yaml.SequenceNode):
            for at, entry in enumerate(node.value):
                _read_entry(name, at, entry, seen, reading)
        elif node.value:
            reading.refuse(f"{name}: expected a list: `- ` before each entry", node, key.start_mark)


def _read_entry(name: str, at: int, node: yaml.Node, seen: dict[tuple[object, ...], int], reading: Reading) -> None:
    mistakes = [(key.start_mark, f".{key.value}: {what}") for key, what in repeated(node)]
    try:
        content = yaml.BaseLoader("").construct_document(node)
        entry = LISTS[name].model_validate(content)
    except (yaml.YAMLError, RecursionError) as error:
        mistakes.append((node.start_mark, f": {getattr(error, 'problem', None) or 'nested too deeply'}"))
    except ValidationError as error:
        mistakes += [_mistake(node, LISTS[name], details) for details in error.errors(include_url=False)]
    else:
        keys = {(name, *key) for key in entry.about()}
        if stands := next((seen[key] for key in keys if key in seen), None):
            mistakes.append((node.start_mark, f": line {stands} is about the same; remove one of them"))
        elif not mistakes:
            seen |= dict.fromkeys(keys, node.start_mark.line + 1)
            reading.entries.append(PlacedEntry(entry, node))
    for mark, what in mistakes:
        reading.refuse(f"{name}[{at}]{what}", node, mark, section=name)


def _mistake(node: yaml.Node, model: type[Entry], details: Any) -> tuple[yaml.Mark, str]:
    """Return where a mistake stands, and its message."""
    place, kind, found = details["loc"], details["type"], details["input"]
    where = f".{dotted(place)}" if place else ""
    fields = {f.alias or name: f for name, f in model.model_fields.items()}
    if kind == "extra_forbidden":
        what = not_known(str(place[-1]), list(fields))
    elif not place:
        what = details["msg"] if kind == "entry" else f"expected {', '.join(f'`{name}`' for name in fields)}"
    else:
        expected = f"expected {fields[str(place[0])].description}"
        what = f"is missing; {expected}" if kind == "missing" else expected
        what += f", found `{found:.60}`" if isinstance(found, str) else ""
    return mark_of(node, place), f"{where}: {what}"
