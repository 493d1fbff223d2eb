"""Keeps the plan that Flink's planner made of a job, so that the job is submitted again without a JVM.

Planning all jobs takes a JVM 20 CPU seconds and half a gibibyte; submitting a kept plan takes one request.

A plan is the stream graph as Flink's own client would serialize it, with a placeholder for the two things that differ
from one submission to the next: the job id, and the checkpoint that the job resumes from. Java's serialization names
no position within its stream, so a text of another length may replace a placeholder.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from counterflow.base.errors import CounterflowError
from counterflow.pipelines.jobs.driving import DRIVER, Driver

STARTED, RESUMED, FILES = "started", "resumed", "files.json"
"""Members of the archive that a driver writes: the graph of a job without and with a checkpoint, and its files."""
_JOB_ID = hashlib.sha256(b"job id").digest()[:16]
_CHECKPOINT = "file:///the-checkpoint-that-this-job-resumes-from"


class Plan(NamedTuple):
    """A planned job.

    Parameters
    ----------
    path : archive that the driver wrote.
    kept : whether it was there before.
    """

    path: Path
    kept: bool

    def graph(self, job_id: str, checkpoint: str | None) -> bytes:
        """Return the serialized graph of a submission."""
        graph = self._read(RESUMED if checkpoint else STARTED)
        if checkpoint:
            graph = _replaced(graph, _text(_CHECKPOINT), _text(checkpoint))
        return _replaced(graph, _JOB_ID, bytes.fromhex(job_id))

    @property
    def files(self) -> dict[str, Path]:
        """The files that Flink ships to TaskManagers with the job, by the name under which they find them."""
        return {name: Path(path) for name, path in orjson.loads(self._read(FILES)).items()}

    def _read(self, name: str) -> bytes:
        with zipfile.ZipFile(self.path) as archive:
            return archive.read(name)


class Plans:
    """A folder of plans, one a job."""

    def __init__(self, folder: Path, planner: Sequence[Path]) -> None:
        """Take the folder, which need not exist, and the planner's files: a plan made by other files is not used."""
        self._folder = folder
        stamps = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(planner)]
        self._planner = orjson.dumps(stamps) + DRIVER.read_bytes()

    def of(self, driver: Driver, requests: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Plan | str]]:
        """Yield the plan of each request, or why Flink rejects the job; the driver makes plans that are not kept."""
        missing: dict[str, tuple[Path, Mapping[str, Any]]] = {}
        for request in requests:
            path = self._path(request)
            if zipfile.is_zipfile(path):
                yield request["job"], Plan(path, kept=True)
            else:
                missing[request["job"]] = path, request
        if missing:
            self._folder.mkdir(parents=True, exist_ok=True)
        for planned in driver.plan([planning(request, path) for path, request in missing.values()]):
            path, _ = missing[planned.job]
            for older in self._folder.glob(f"{planned.job}-*.zip"):
                if older != path:
                    older.unlink(missing_ok=True)
            yield planned.job, planned.error or Plan(path, kept=False)

    def _path(self, request: Mapping[str, Any]) -> Path:
        digest = hashlib.sha256(orjson.dumps(request) + self._planner).hexdigest()
        return self._folder / f"{request['job']}-{digest[:16]}.zip"


def planning(request: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return a request with the archive that the driver is to write, and the placeholders."""
    return {**request, "plan": {"path": str(path), "job_id": _JOB_ID.hex(), "checkpoint": _CHECKPOINT}}


def _replaced(graph: bytes, old: bytes, new: bytes) -> bytes:
    if graph.count(old) != 1:
        raise CounterflowError(f"Flink's planner wrote a placeholder {graph.count(old)} times, not once")
    return graph.replace(old, new)


def _text(text: str) -> bytes:
    """Return a string as Java serializes it: its length in two bytes, and itself (ASCII)."""
    encoded = text.encode("ascii")
    return len(encoded).to_bytes(2, "big") + encoded
