"""Files that are replaced whole: a reader finds the old content or the new, never a part of it."""

from __future__ import annotations

import os
import threading
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
