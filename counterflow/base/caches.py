"""Keeps data that is slow to make and never changes, in the user's caches (XDG Base Directory Specification)."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from counterflow.base.files import replace


def cached(name: str, make: Callable[[], bytes]) -> bytes:
    """Return the bytes cached under a name, which states their version; make and cache them if missing or damaged.

    Several processes may call this at once. Where the cache cannot be written, each call makes the bytes anew.
    """
    try:
        path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "counterflow" / f"{name}.gz"
    except RuntimeError:  # a user without a home
        return make()
    with suppress(OSError, EOFError, zlib.error):
        if kept := gzip.decompress(path.read_bytes()):
            return kept
    made = make()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, gzip.compress(made, mtime=0))
    return made
