"""Writes a job as files, with its driver, for Flink's application mode, where the JobManager runs the driver."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import orjson

from counterflow.pipelines.jobs import Job
from counterflow.pipelines.submission.driving import DRIVER
from counterflow.pipelines.submission.render import render
from counterflow.pipelines.submission.shipped import archive
from counterflow.schemas.definition import Dataset

_OF_THE_CLUSTER = {
    "parallelism.default",
    "execution.checkpointing.dir",
    "execution.state-recovery.claim-mode",
}
"""Options left to the cluster's own configuration: the cluster exists for this job alone."""


def write(
    job: Job, datasets: Mapping[str, Dataset], *, bootstrap: str, connection: Mapping[str, str], to: Path
) -> list[Path]:
    """Write `driver.py`, `job.json` and `rules.zip` into a folder, and return their paths.

    Start the driver with the path of `job.json`. The files contain the folder's path and must stay there.
    """
    driver, request, rules = (to / name for name in ("driver.py", "job.json", "rules.zip"))
    rendered = render(job, datasets, bootstrap=bootstrap, connection=connection, checkpoints="", rules=rules)
    for name in _OF_THE_CLUSTER:
        del rendered["configuration"][name]
    to.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(DRIVER, driver)
    rules.write_bytes(archive())
    request.write_bytes(orjson.dumps({"jobs": [rendered]}, option=orjson.OPT_INDENT_2))
    return [driver, request, rules]
