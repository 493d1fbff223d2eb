"""Passwords of the stack, each generated once and kept in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path


def secret(folder: Path, name: str) -> Path:
    """Return the file of a password, generated at first use; it is private from the moment it exists."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / name
    if not path.exists():
        private(path, secrets.token_urlsafe(24))
    return path


def private(path: Path, content: str | bytes) -> None:
    """Write a file that only its owner can read, atomically."""
    descriptor, partial = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)  # mode 0600
    with os.fdopen(descriptor, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    Path(partial).rename(path)
