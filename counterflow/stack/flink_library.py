"""Collects Flink's jars in one folder for all its processes: sending jars with each job would double its submission."""

from __future__ import annotations

import shutil
from pathlib import Path

from counterflow.stack.settings import StackSettings


def assemble(settings: StackSettings, folder: Path) -> None:
    """Fill `folder` with the jars of the distribution, of its Python and of the connector."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    distribution, connector = settings.flink.distribution, settings.parts / "jars/flink-connector"
    for jar in (
        *distribution.glob("lib/*.jar"),
        *connector.glob("*.jar"),
        *distribution.glob("opt/flink-python-*.jar"),
    ):
        (folder / jar.name).symlink_to(jar)
