"""Files that are replaced whole: a reader finds the old content or the new, never a part of it."""

from __future__ import annotations

import gzip
import os
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def replace(path: Path, content: bytes) -> None:
    """Replace a file atomically; of several threads or processes that do so at once, the last one stays.

    Raises
    ------
    OSError : the file is as it was.
    """
    new = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        new.write_bytes(content)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def cached(name: str, make: Callable[[], bytes]) -> bytes:
    """Return the bytes cached under a name, which states their version; make and cache them if missing or damaged.

    The cache is that of the user (XDG Base Directory Specification). Several processes may call this at once. Where it
    cannot be written, each call makes the bytes anew.
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
