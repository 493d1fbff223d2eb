"""A sample as a tree: read from JSON, its sections named as newer versions name them, and its leaves."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from counterflow.collectors.formats.njmon import semantics as key
from counterflow.collectors.text.trees import mapping

Tree = dict[str, Any]
Leaf = tuple[str, str, Any]
"""The keys of the objects that hold a value, joined by points, its key, and the value."""

ENGINE = re.compile(r"cpu(\d+)")
"""The key of a processor."""
_NOT_FINITE = re.compile(r"(?<=:)(\s*)-?(?:nan|inf)(?=\s*[,}])", re.IGNORECASE)


def repaired(text: str) -> tuple[Tree, int, str]:
    """Return a sample with null for `nan` and `inf`, as C prints a quotient of zeros, where it ends, and the repair.

    Raises
    ------
    ValueError : it is not JSON even so.
    """
    written, count = _NOT_FINITE.subn(r"\1null", text)
    try:
        tree, end = DECODER.raw_decode(written)
    except (ValueError, RecursionError):
        detail = "the recorder was killed within it, or wrote a text whose quotes are not escaped"
        raise ValueError(detail) from None
    return tree, end - (len(written) - len(text)), f"{count} fields are nan or inf, read as null"


def _pairs(pairs: list[tuple[str, Any]]) -> Tree:
    """Return an object; a key that is repeated, as for two mounts of a device, is kept as `key#2`."""
    tree = dict(pairs)
    if len(tree) == len(pairs):
        return tree
    times: Counter[str] = Counter()
    tree = {}
    for name, value in pairs:
        times[name] += 1
        tree[name if times[name] == 1 else f"{name}#{times[name]}"] = value
    return tree


DECODER = json.JSONDecoder(object_pairs_hook=_pairs)


def sections_of(tree: Tree) -> Tree:
    """Return the sections as newer versions name them: v25 keeps all of /proc/stat in `stat`, disks in `disk`."""
    sections = {name: _named(value) for name, value in tree.items()}
    loose = {name: sections.pop(name) for name, value in tree.items() if not isinstance(value, dict | list)}
    if loose:
        sections[""] = loose
    stat = sections.pop("stat", None)
    if isinstance(stat, dict):
        total, counters = stat.pop("cpu_total", None), stat.pop("counters", None)
        engines = {name: stat.pop(name) for name in list(stat) if ENGINE.fullmatch(name)}
        found = {"cpu_total": total, "cpus": engines, "stat_counters": counters, "stat": stat}
        sections = {**{name: value for name, value in found.items() if value}, **sections}
    if "disk" in sections:
        sections.setdefault("disks", sections.pop("disk"))
    every = sections.pop("diskstats", None)
    if isinstance(every, dict):  # all of /proc/diskstats, partitions and mappers too
        sections["disks"] = {**mapping(sections.get("disks")), **every}
    sections["timestamp"] = mapping(sections.get("timestamp"))
    return sections


def _named(value: Any) -> Any:
    """Return arrays of named objects (`njmon -e`) as objects by name, at every level."""
    if isinstance(value, dict):
        return {name: _named(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return _pairs([_item(i, inner) for i, inner in enumerate(value)])
    return value


def _item(place: int, inner: Any) -> tuple[str, Any]:
    if isinstance(inner, dict) and isinstance(inner.get("item"), str):
        return inner["item"], _named({name: value for name, value in inner.items() if name != "item"})
    return str(place), _named(inner)


def leaves_of(node: Any, within: str | None = None) -> list[Leaf]:
    """Return every value of a section that is no object."""
    found: list[Leaf] = []
    for name, inner in mapping(node).items():
        if isinstance(inner, dict):
            found += leaves_of(inner, name if within is None else f"{within}.{name}")
        elif inner is not None:
            found.append((within or "", name, inner))
    return found


def is_config(section: str, name: str, value: object) -> bool:
    """Return whether a value is a setting and no figure."""
    if section == "timestamp":
        return name in key.CONFIG_NUMBERS["timestamp"]
    if section in key.CONFIG_SECTIONS or isinstance(value, str | bool):
        return True
    return name in key.CONFIG_NUMBERS.get(section, ())
