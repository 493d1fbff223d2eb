"""Collects Flink's jars in one folder for all its processes, with an archive of the driver's classes.

A driver lives for seconds, half of which its JVM spends finding, verifying and linking 14,000 classes. So Java writes
them once (application class-data sharing), and later JVMs map them. A different JVM, or one with other jars, ignores
the archive.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from urllib.parse import quote

from counterflow.base.errors import CounterflowError
from counterflow.pipelines.jobs import chosen
from counterflow.pipelines.jobs.driving import Driver
from counterflow.pipelines.jobs.plan import planning
from counterflow.pipelines.jobs.render import render
from counterflow.pipelines.jobs.rest import cause
from counterflow.schemas.definition import datasets
from counterflow.stack.settings import StackSettings

_JVM = ("-Xms224m", "-Xmx224m", "-Xmn112m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xlog:cds*=off")
"""The optimising compiler would take half of a driver's CPU time; growing the heap would cost 2 s of collection."""
_PLANNED = "link_load"  # the longest query loads most of the planner


def assemble(settings: StackSettings, folder: Path) -> None:
    """Fill `folder` with the jars of the distribution and the connector, and with the driver's classes.

    The planner is extracted from the jar that loads it: classes of a custom loader cannot be shared.
    Sending jars with each job would double the time of its submission.
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
    """Let a driver plan one job; its JVM writes its classes on exit.

    Raises `CounterflowError` where the job cannot be planned: it could not be submitted either.
    """
    request = render(
        chosen([_PLANNED])[0],
        datasets(),
        bootstrap="127.0.0.1:1",
        connection={},
        checkpoints=f"file://{quote(str(folder))}",
        rules=folder / "none",
    )
    environment = {
        **settings.flink_environment,
        "FLINK_CONF_DIR": str(settings.flink_distribution / "conf"),  # parts are installed before a home is configured
        "JVM_ARGS": " ".join((*_JVM, f"-XX:ArchiveClassesAtExit={_archive(folder)}")),
    }
    with Driver(settings.flink_python, environment) as driver:
        for planned in driver.plan([planning(request, folder / "driver.zip")]):
            if planned.error:
                raise CounterflowError(f"{_PLANNED} cannot be planned: {cause(planned.error)}")
