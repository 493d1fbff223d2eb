"""Flink's jars in one folder for all its processes, and what the driver's JVM would otherwise load anew each time.

A driver lives for seconds, half of which its JVM takes to find, check and link 14,000 classes. So they are written once
as Java writes them (application class-data sharing), and mapped from then on. A JVM that is another, or finds other
jars, takes no notice of the file.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from urllib.parse import quote

from counterflow.base.errors import CounterflowError
from counterflow.pipelines.jobs import chosen
from counterflow.pipelines.jobs.driving import Driver
from counterflow.pipelines.jobs.render import render
from counterflow.pipelines.jobs.rest import cause
from counterflow.schemas.definition import datasets
from counterflow.stack.settings import StackSettings

_JVM = ("-Xms224m", "-Xmx224m", "-Xmn112m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xlog:cds*=off")
"""The optimising compiler would take half of a driver's CPU time, a heap that grows as it goes 2 s for collecting."""
_PLANNED = "link_load"  # the longest query has the planner at its widest


def assemble(settings: StackSettings, folder: Path) -> None:
    """Fill `folder` with the jars of the distribution and the connector, and with the driver's classes.

    The planner is taken out of the jar that loads it: classes of a loader of its own cannot be shared.
    Jars sent with each job would double the time of its submission.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    distribution, connector = settings.flink_distribution, settings.parts / "jars/flink-connector"
    for jar in (
        *distribution.glob("lib/*.jar"),
        *connector.glob("*.jar"),
        *distribution.glob("opt/flink-python-*.jar"),
    ):
        if jar.name.startswith("flink-table-planner-loader"):
            with zipfile.ZipFile(jar) as loader:
                loader.extract("flink-table-planner.jar", folder)
        else:
            (folder / jar.name).symlink_to(jar)
    _write_classes(settings, folder)


def driver_jvm(settings: StackSettings) -> str:
    """Return `JVM_ARGS` of a driver."""
    return " ".join((*_JVM, f"-XX:SharedArchiveFile={_archive(settings.flink_library)}"))


def _archive(folder: Path) -> Path:
    return folder / "driver.jsa"


def _write_classes(settings: StackSettings, folder: Path) -> None:
    """Have a driver plan one job, which no cluster hears of; its JVM writes its classes when it ends.

    Raises `CounterflowError` where the job cannot be planned: it could not be submitted either.
    """
    planned = render(
        chosen([_PLANNED])[0],
        datasets(),
        bootstrap="127.0.0.1:1",
        connection={},
        flink_url="http://127.0.0.1:1",
        checkpoints=f"file://{quote(str(folder))}",
        rules=folder / "none",
    )
    jvm = " ".join((*_JVM, f"-XX:ArchiveClassesAtExit={_archive(folder)}"))
    with Driver(settings.flink_python, {**settings.flink_environment, "JVM_ARGS": jvm}) as driver:
        for taken in driver.submit([{**planned, "rehearse": True}]):
            if taken.error:
                raise CounterflowError(f"{_PLANNED} cannot be planned: {cause(taken.error)}")
