"""What `job.yaml` states is what Flink's planner finds in the statements beside it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from counterflow.pipelines.jobs import all_jobs
from counterflow.pipelines.submission.driving import DRIVER
from counterflow.pipelines.submission.render import render
from counterflow.schemas.definition import datasets
from counterflow.stack.settings import StackSettings

PLANNED = Path(__file__).parents[1] / "support/planned.py"
CONNECTION = {
    "bootstrap": "localhost:9",
    "connection": {},
    "checkpoints": "file:///nowhere",
    "rules": Path("rules.zip"),
}


def test_a_job_reads_and_writes_what_it_states(bare: StackSettings, tmp_path: Path) -> None:
    """A table or column that a statement uses and `job.yaml` lacks is refused by the planner itself."""
    requests = tmp_path / "jobs.json"
    requests.write_text(json.dumps([render(job, datasets(), **CONNECTION) for job in all_jobs().values()]))
    done = subprocess.run(
        [bare.flink.python, PLANNED, requests, DRIVER.parent],
        env={**os.environ, **bare.flink.environment},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    lines = [line.removeprefix("planned ") for line in done.stdout.splitlines() if line.startswith("planned ")]
    found = {one["job"]: (one["reads"], one["writes"]) for one in map(json.loads, lines)}
    stated = {name: (sorted(job.reads), sorted(job.writes)) for name, job in all_jobs().items()}
    assert found == stated, done.stderr[-3000:]


def test_a_job_names_every_column_that_it_states() -> None:
    for name, job in all_jobs().items():
        for dataset, read in job.reads.items():
            text = f"{' '.join(job.statements)} {read.rows} {read.where}"
            unused = [column for column in read.columns if not re.search(rf"\b{column}\b", text)]
            assert unused in ([], ["job"]), (name, dataset, unused)  # part of the key
