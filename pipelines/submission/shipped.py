"""Packs what Flink ships to its TaskManagers, whose Python lacks Counterflow's packages."""

from __future__ import annotations

import io
import zipfile
from functools import cache
from pathlib import Path

import counterflow


@cache
def archive() -> bytes:
    """Return a zip of the packages imported there: `rules`, `verdicts` and `wiring`, nothing else."""
    root = Path(counterflow.__file__).parent
    paths = [root / "__init__.py", root / "pipelines/__init__.py"]
    paths += sorted(
        path for name in ("rules", "verdicts", "wiring") for path in (root / "pipelines" / name).glob("*.py")
    )
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w") as file:
        for path in paths:  # without timestamps, so that equal rules make equal archives
            file.writestr(zipfile.ZipInfo(path.relative_to(root.parent).as_posix()), path.read_bytes())
    return found.getvalue()
