"""`counterflow look --records`: turns recordings into JSON lines; no service needed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import orjson

from counterflow.collectors.records import Item, Record, Reject, singly


def write(files: list[Path], read: Callable[..., int]) -> int:
    """Write every record with its `dataset`, and every anomaly with its `reject`, as a line of JSON.

    `read` is `read_all` with the user's options. Returns the number of files without figures.
    """
    out = sys.stdout.buffer

    def take(path: Path, item: Item) -> None:
        for one in singly([item]):
            if isinstance(one, Record):
                shown = {"dataset": one.dataset, **one.fields}
            elif isinstance(one, Reject):
                shown = _reject(path, one)
            else:
                continue
            out.write(orjson.dumps(shown, option=orjson.OPT_APPEND_NEWLINE))

    unread = read(files, take=take)
    out.flush()
    return unread


def _reject(path: Path, item: Reject) -> dict[str, object]:
    place = {"file": str(path), "line": item.line, "byte_offset": item.byte_offset}
    found = {"section": item.section, "snapshot": item.snapshot, "detail": item.detail, "kept": item.kept}
    raw = item.raw[:65536].decode("utf-8", "backslashreplace")
    return {"reject": item.reason.value, **place, **{k: v for k, v in found.items() if v is not None}, "raw": raw}
