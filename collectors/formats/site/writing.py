"""Adds an entry to the text of a site file; comments and order of the rest are kept."""

from __future__ import annotations

from datetime import datetime
from math import inf

import yaml

from counterflow.collectors.formats.site.entries import Path, Place, utc
from counterflow.collectors.formats.site.reading import Written, read


def add_ceiling(
    text: str, system: str, subsystem: str, path: Path, since: datetime, ceiling_mb_s: float, comment: str
) -> str:
    """Return `text` with one more entry of `log_ceilings`, for the machine and storage in use at `since`.

    Raises
    ------
    ValueError : `systems` names no machine and storage for the subsystem, or the list is written in a way to which no
        line can be added.
    """
    places = [written.entry for written in _entries(text) if isinstance(written.entry, Place)]
    own = [p for p in places if p.system == system and subsystem in p.subsystems and p.since <= since]
    if not own:
        raise ValueError(f"`systems` has no entry of {system} with {subsystem} from {utc(since)} or before")
    used = max(own, key=lambda place: place.since)
    entry: dict[str, str | float] = {"subsystem": subsystem, "path": path, "cec": used.cec, "storage": used.storage}
    entry |= {"from": utc(since), "ceiling_mb_s": float(f"{ceiling_mb_s:.4g}")}
    line = f"- {yaml.safe_dump(entry, default_flow_style=True, sort_keys=False, width=inf).strip()}  # {comment}\n"
    written = _with_line(text, line)
    if len(_entries(written)) != len(_entries(text)) + 1:
        raise ValueError(f"`log_ceilings` is written in a way to which no line can be added: add {line.strip()}")
    return written


def _with_line(text: str, line: str) -> str:
    tree = yaml.compose(text)
    lists = {} if tree is None else {key.value: value for key, value in tree.value}
    ceilings = lists.get("log_ceilings")
    if ceilings is None or not ceilings.value:
        if ceilings is not None:
            raise ValueError("`log_ceilings` is empty: remove the key, or give it one entry a line")
        return f"{text.rstrip()}\n\nlog_ceilings:\n  {line}"
    if ceilings.flow_style:
        raise ValueError("`log_ceilings` is written on one line: give it one entry a line")
    lines = text.splitlines(keepends=True)
    at = _last_line(ceilings.value[-1]) + 1
    lines[at - 1] = lines[at - 1].rstrip("\n") + "\n"
    return "".join([*lines[:at], " " * ceilings.start_mark.column + line, *lines[at:]])


def _entries(text: str) -> list[Written]:
    data = text.encode()
    return list(read(data, len(data)).entries)


def _last_line(node: yaml.Node) -> int:
    """Return the line, from 0, on which a node ends: the mark of a block is where the next token begins."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return node.end_mark.line
