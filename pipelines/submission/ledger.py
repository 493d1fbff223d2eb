"""Maps jobs to Flink job ids in a small file, since a restarted JobManager has no memory of its jobs.

An entry is written before its job is submitted, and again with the id that Flink gave the job. So a job that runs under
its name and another id was submitted by a process that was killed in between.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, RootModel

from counterflow.base.files import replace


class Entry(BaseModel):
    """A job's last Flink job id, the fingerprint of its query, and the checkpoint that it was restored from.

    `given_up` lists checkpoints from which the job did not come back.
    """

    job_id: str
    fingerprint: str
    restored: str | None = None
    given_up: tuple[str, ...] = ()

    def checkpoint(self, checkpoints: Path) -> str | None:
        """Return the URI of the newest complete checkpoint, else of the one that the job was restored from.

        Checkpoints given up are skipped for older ones: repeated results change nothing.
        """
        found = _newest_first(checkpoints / self.job_id)
        if self.restored:
            restored = Path(self.restored.removeprefix("file://"))
            found += [path for path in _newest_first(restored.parent) if _number(path) <= _number(restored)]
        return next((path.as_uri() for path in found if path.as_uri() not in self.given_up), None)

    def submitted(self, job_id: str, checkpoint: str | None) -> Entry:
        """Return the entry of the job that was submitted under this id and restored from this checkpoint."""
        return self.model_copy(update={"job_id": job_id, "restored": checkpoint})

    def without(self, checkpoint: str) -> Entry:
        """Return a copy that marks a checkpoint as given up."""
        return self.model_copy(update={"given_up": (*self.given_up, checkpoint)})


def _newest_first(folder: Path) -> list[Path]:
    return sorted((path.parent for path in folder.glob("chk-*/_metadata")), key=_number, reverse=True)


def _number(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix("chk-"))


class _Entries(RootModel[dict[str, Entry]]):
    pass


class Ledger:
    """The file's entries, by job; `lock` is the descriptor of its lock."""

    def __init__(self, path: Path, lock: int) -> None:
        """Read the file, which need not exist."""
        self._path, self.lock = path, lock
        self._entries = _Entries.model_validate_json(path.read_bytes()).root if path.exists() else {}

    def get(self, job: str) -> Entry | None:
        return self._entries.get(job)

    def put(self, job: str, entry: Entry) -> None:
        """Write an entry; the file is replaced atomically."""
        self._entries[job] = entry
        replace(self._path, _Entries(self._entries).model_dump_json(indent=2).encode())


@contextmanager
def locked(path: Path) -> Iterator[Ledger]:
    """Lock the ledger, so that two commands cannot submit a job twice."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Ledger(path, lock.fileno())
