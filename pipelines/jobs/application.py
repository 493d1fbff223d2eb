"""A job for Flink's application mode, where its JobManager runs the driver: as files, with the driver beside them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import orjson

from counterflow.pipelines.jobs.definition import Job
from counterflow.pipelines.jobs.driving import DRIVER
from counterflow.pipelines.jobs.render import render
from counterflow.pipelines.jobs.shipped import archive
from counterflow.schemas.definition import Dataset

_OF_THE_CLUSTER = {
    "execution.target",
    "execution.attached",
    "rest.address",
    "rest.port",
    "parallelism.default",
    "execution.checkpointing.dir",
    "execution.state-recovery.claim-mode",
}
"""What the cluster's own configuration says, since it is there for this job alone."""


def write(
    job: Job, datasets: Mapping[str, Dataset], *, bootstrap: str, connection: Mapping[str, str], to: Path
) -> list[Path]:
    """Write `driver.py`, `job.json` and `rules.zip` into a folder, and return their paths.

    The driver is started with the path of `job.json`. The files name the folder, so they have to stay where they are.
    """
    driver, request, rules = (to / name for name in ("driver.py", "job.json", "rules.zip"))
    rendered = render(
        job, datasets, bootstrap=bootstrap, connection=connection, flink_url="", checkpoints="", rules=rules
    )
    for name in _OF_THE_CLUSTER:
        del rendered["configuration"][name]
    to.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(DRIVER, driver)
    rules.write_bytes(archive())
    request.write_bytes(orjson.dumps({"jobs": [rendered]}, option=orjson.OPT_INDENT_2))
    return [driver, request, rules]
