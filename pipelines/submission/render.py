"""Renders the driver's request: settings and statements of a job, as data, and what Flink ships with it.

In Flink's application mode, where the JobManager runs the driver, both are files.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

import counterflow
from counterflow.pipelines.jobs import Job, Read
from counterflow.pipelines.submission import slots
from counterflow.schemas.definition import Dataset
from counterflow.schemas.flink_ddl import row_view, sink_table, source_table

DRIVER = Path(__file__).with_name("driver.py")

# Set here, not in the cluster's configuration file: only the `flink` command reads that file, a driver does not.
_SETTINGS = {
    "execution.runtime-mode": "STREAMING",
    "table.local-time-zone": "UTC",
    # State is exact at every checkpoint; after a restart some results are written again, under the same key. Results
    # never wait for a checkpoint. A checkpoint costs an idle job as much as a busy one, and RocksDB one more file.
    "execution.checkpointing.mode": "EXACTLY_ONCE",
    "execution.checkpointing.interval": "30 s",
    "execution.checkpointing.min-pause": "1 s",
    "execution.checkpointing.timeout": "2 min",
    "execution.checkpointing.tolerable-failed-checkpoints": "10",
    "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    "execution.checkpointing.incremental": "true",
    "execution.state-recovery.claim-mode": "CLAIM",  # Flink deletes the restored checkpoint once newer ones replace it
    # A back-fill of months keeps the state of every row that arrives within the TTL: on disk, not in the heap.
    # A job's share of the managed memory would be a twelfth, with which it reaches a third of the speed; so all jobs of
    # a TaskManager share what its own configuration gives (`fixed-per-tm`), and a busy job has most of it.
    "state.backend.type": "rocksdb",
    "state.backend.rocksdb.memory.managed": "false",
    "state.backend.rocksdb.use-bloom-filter": "true",
    "pipeline.object-reuse": "true",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.mini-batch.size": "20000",
    "table.optimizer.agg-phase-strategy": "TWO_PHASE",
    # Rows of one key come from one input row, or from state under that key, so the newest row wins.
    "table.exec.sink.require-on-conflict": "false",
    "table.exec.sink.upsert-materialize": "NONE",
}
FINGERPRINT = "counterflow.fingerprint"
"""Parameter of a Flink job by which a running one is recognised (`fingerprint`)."""
_OF_THE_CLUSTER = {"parallelism.default", "execution.checkpointing.dir", "execution.state-recovery.claim-mode"}
"""Options left to the configuration of a cluster that exists for one job alone."""
# A job resumes from the offsets in its checkpoints; nobody reads those that it would commit beside them.
_CONSUMER = {"properties.commit.offsets.on.checkpoint": "false"}
_PRODUCER = {
    "properties.linger.ms": "20",
    "properties.batch.size": "262144",
    "properties.compression.type": "lz4",
}


def render(
    job: Job,
    datasets: Mapping[str, Dataset],
    *,
    bootstrap: str,
    connection: Mapping[str, str],
    checkpoints: str,
    rules: Path,
) -> dict[str, Any]:
    """Return the driver's request for a job.

    Parameters
    ----------
    datasets : definitions; those that the job reads or writes become tables.
    bootstrap, connection : Kafka's `bootstrap.servers`, and the other connection properties of its Java client.
    checkpoints : URI of the folder of its checkpoints.
    rules : archive of the steps in Python for Flink's TaskManagers (`archive`).
    """
    return {
        "job": job.name,
        **_step(job),
        "configuration": {
            **_SETTINGS,
            "pipeline.name": job.name,
            "pipeline.global-job-parameters": f"{FINGERPRINT}:{fingerprint(job, datasets)}",
            "parallelism.default": str(job.parallelism),
            "execution.checkpointing.dir": checkpoints,
            # in the TaskManager itself: a worker process would listen on ports that are open to the network
            **({"python.files": str(rules), "python.execution-mode": "thread"} if job.step else {}),
            "table.exec.state.ttl": job.state_ttl,
        },
        **_statements(job, datasets, bootstrap, connection),
    }


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


@cache
def archive() -> bytes:
    """Return a zip of what steps in Python import: TaskManagers, whose Python lacks our packages, have nothing else."""
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


def fingerprint(job: Job, datasets: Mapping[str, Dataset]) -> str:
    """Return the SHA-256 of everything that shapes a job's state: query, tables and Python, but not the cluster."""
    step = archive() if job.step else b""
    return hashlib.sha256(orjson.dumps(_statements(job, datasets, "", {})) + step).hexdigest()


def results(job: Job, datasets: Mapping[str, Dataset]) -> list[Dataset]:
    return [dataset for name, dataset in datasets.items() if name in job.writes]


def _step(job: Job) -> dict[str, str]:
    step = job.step
    if step is None:
        return {}
    return {"step": step.name, "reads": step.reads, "makes": step.makes, **({"rule": step.rule} if step.rule else {})}


def _statements(
    job: Job, datasets: Mapping[str, Dataset], bootstrap: str, connection: Mapping[str, str]
) -> dict[str, list[str]]:
    connect = {f"properties.{name}": value for name, value in connection.items()}
    sources, views = [], []
    for name, read in job.reads.items():
        dataset = datasets[name]
        sources.append(
            source_table(
                dataset,
                bootstrap_servers=bootstrap,
                group_id=f"flink.{job.name}",
                columns=_columns(dataset, read),
                options={**connect, **_CONSUMER},
            )
        )
        views.append(
            row_view(
                dataset,
                f"topics.`{name}`",
                columns=_columns(dataset, read),
                where=read.where,
                rows=read.rows,
                distinct=read.distinct,
            )
        )
    # The statements select from views with the tables' names.
    sources = ["CREATE DATABASE topics", "USE topics", *sources, "USE default_database", *views]
    options = {**connect, **_PRODUCER}
    sinks = [sink_table(dataset, bootstrap_servers=bootstrap, options=options) for dataset in results(job, datasets)]
    inserts = [statement for statement in job.statements if statement.startswith("INSERT INTO ")]
    own = [view for statement in job.statements if statement not in inserts for view in _with_slots(statement, job)]
    return {"statements": [*sources, *sinks, *own], "inserts": inserts}


def _columns(dataset: Dataset, read: Read) -> set[str]:
    """Return the columns of a dataset's table: Flink parses every column of a table, used or not."""
    return {*dataset.key, *read.columns} | ({"prev_ts"} if "apart_s" in read.columns else set())


def _with_slots(statement: str, job: Job) -> Iterator[str]:
    """Yield a statement of the job; after a view, also those of its slots or minutes."""
    yield statement
    for views, by in ((job.slots, slots.by_slot), (job.minutes, slots.by_minute)):
        yield from (by(view) for view in views if statement.startswith(f"CREATE TEMPORARY VIEW {view} AS"))
