"""Files that are replaced whole: a reader finds the old content or the new, never a part of it."""

from __future__ import annotations

from pathlib import Path


def replace(path: Path, content: bytes) -> None:
    """Replace a file atomically; of several writers at once, each must have a file of its own.

    Raises
    ------
    OSError : the file is as it was, and may have a neighbour `<name>.new`.
    """
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(content)
    new.replace(path)
