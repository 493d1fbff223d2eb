"""The database of a `look` without --keep: the schema is made once and cached as an archive that each look unpacks."""

from __future__ import annotations

import io
import shutil
import tarfile
from importlib.metadata import version
from pathlib import Path

from counterflow.base.caches import cached
from counterflow.base.embedded import Embedded
from counterflow.schemas.migrations import FEEDS, Schema, migrate, schema


def opened(folder: Path) -> Embedded:
    """Return an engine with the schema but without feeds of ledger and rollups, in a folder that does not exist yet."""
    archive = cached(f"schema-{version('chdb-core')}-{schema().digest}.tar", lambda: _made(folder))
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)  # Debian 12 has Python 3.11.2, without filters
        packed.extractall(folder)  # noqa: S202 - written by this user's own look
    return Embedded(folder)


def _made(folder: Path) -> bytes:
    """Return the folder of such an engine as an archive."""
    with Embedded(folder) as engine:
        engine.post("SET fsync_metadata = 0")  # saves a wait for the disk for each of some hundred tables and views
        migrate(engine, Schema({name: text for name, text in schema().parts.items() if name != FEEDS}, {}))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(folder, ".")
    shutil.rmtree(folder)
    return packed.getvalue()
