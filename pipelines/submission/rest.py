"""Client of Flink's REST interface (Flink documentation: REST API)."""

from __future__ import annotations

import math
import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterflow.base.errors import UNREACHED, CounterflowError
from counterflow.pipelines.submission.render import FINGERPRINT

if TYPE_CHECKING:
    import httpx

_ENDED = {"FINISHED", "FAILED", "CANCELED", "SUSPENDED"}
_SHUT_DOWN = "The TaskExecutor is shutting down"


class Flink:
    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def running(self) -> list[dict[str, Any]]:
        """Return the jobs that have not ended: `name`, `jid`, `state`, `start-time` and more."""
        return [job for job in self._get("/jobs/overview")["jobs"] if job["state"] not in _ENDED]

    def fingerprint(self, job_id: str) -> str:
        """Return the fingerprint that a job was submitted with (`render`); empty where it has none."""
        found = self._get(f"/jobs/{job_id}/config")["execution-config"]["user-config"]
        return str(found.get(FINGERPRINT, ""))

    def cancel(self, job_ids: Iterable[str], patience_s: float = math.inf) -> None:
        """Cancel jobs and wait for their end, up to `patience_s`: tasks that wait for Kafka take minutes."""
        job_ids = list(job_ids)
        until = time.monotonic() + patience_s
        for job_id in job_ids:
            self._http.patch(f"/jobs/{job_id}", params={"mode": "cancel"})
        for job_id in job_ids:
            self.wait(job_id, until)

    def wait(self, job_id: str, until: float = math.inf) -> str:
        """Wait for a job's end, or until that time of the monotonic clock; return its last state."""
        while (state := str(self._get(f"/jobs/{job_id}")["state"])) not in _ENDED and time.monotonic() < until:
            time.sleep(0.3)
        return state

    def checkpoints(self, job_id: str) -> tuple[datetime | None, int]:
        """Return when the newest checkpoint was completed, and how many have failed since the job was submitted."""
        found = self._get(f"/jobs/{job_id}/checkpoints")
        completed = (found.get("latest") or {}).get("completed")
        newest = moment(completed["latest_ack_timestamp"]) if completed else None
        return newest, (found.get("counts") or {}).get("failed", 0)

    def problem(self, job_id: str) -> str | None:
        """Return the innermost cause of a job's newest failure."""
        failures = self._failures(job_id)
        return cause(failures[0]["stacktrace"]) if failures else None

    def cannot_restore(self, job_id: str) -> bool:
        """Return whether a job's newest failure was to restore state from a checkpoint."""
        return self._failed_last(job_id, "StreamTaskStateInitializer")

    def without_python(self, job_id: str) -> bool:
        """Return whether a job's newest failure was on a TaskManager whose interpreter cannot start any more."""
        return self._failed_last(job_id, "PythonInterpreter$MainInterpreter.initialize")

    def task_managers_ended(self, job_id: str) -> int:
        """Return how many TaskManagers have ended by themselves under a job since its newest checkpoint."""
        newest, _ = self.checkpoints(job_id)
        since = newest or moment(0)
        return sum(
            _SHUT_DOWN in one["stacktrace"] and moment(one["timestamp"]) > since for one in self._failures(job_id)
        )

    def _failed_last(self, job_id: str, where: str) -> bool:
        failures = self._failures(job_id)
        return bool(failures) and where in failures[0]["stacktrace"]

    def _failures(self, job_id: str) -> list[dict[str, Any]]:
        """Return a job's failures, the newest first."""
        return list(self._get(f"/jobs/{job_id}/exceptions")["exceptionHistory"]["entries"])

    def _get(self, path: str) -> Any:
        return self._http.get(path).raise_for_status().json()


def client(url: str, certificate: Path | None, *, timeout_s: float) -> httpx.Client:
    """Return a client of a REST interface.

    `certificate` is a PEM file with a key and a certificate: the client presents it, and trusts no other server.
    Raises `OSError` where it cannot be read.
    """
    import httpx

    verify: ssl.SSLContext | bool = certificate is None
    if certificate:
        verify = ssl.create_default_context(cafile=certificate)
        verify.load_cert_chain(certificate)
    limits = httpx.Limits(keepalive_expiry=None)  # a new connection costs both sides more than requests do
    return httpx.Client(base_url=url, timeout=timeout_s, trust_env=False, verify=verify, limits=limits)


@contextmanager
def connect(url: str, certificate: Path | None) -> Iterator[Flink]:
    """Open a connection; a failure on it is raised as `CounterflowError`."""
    import httpx

    try:
        http = client(url, certificate, timeout_s=30)
    except OSError as error:
        raise CounterflowError(f"{certificate} cannot be read: {error}", hint="counterflow up writes it") from None
    with http:
        try:
            yield Flink(http)
        except httpx.HTTPError as error:
            raise CounterflowError(f"Flink does not answer at {url}: {error}", hint=UNREACHED) from None


def moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def cause(stacktrace: str) -> str:
    """Return the innermost cause of a Java stack trace; of any other text, the last line."""
    lines = [line.strip() for line in stacktrace.splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by:").lstrip(": ") for line in lines if line.startswith((": ", "Caused by:"))]
    first = [line for line in lines[:1] if any(line.startswith("at ") for line in lines[1:])]
    return (causes or first or lines[-1:] or ["no reason given"])[-1]
