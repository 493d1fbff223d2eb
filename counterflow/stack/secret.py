"""Passwords of the stack, each generated once and kept in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

from counterflow.stack.settings import StackSettings


def secret(settings: StackSettings, name: str) -> Path:
    """Return the file of a password, generated at first use; it is private from the moment it exists."""
    settings.secrets.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = settings.secrets / name
    if not path.exists():
        private(path, secrets.token_urlsafe(24))
    return path


def private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, atomically."""
    descriptor, partial = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)  # mode 0600
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    Path(partial).rename(path)
