"""Launches a part: supervisord runs this instead of the program itself.

`python -m counterflow.stack.launch HOME PART STOP_S COMMAND...` backs off if the part just failed. It empties the
part's folder of temporary files, redirects the output to its log, and records the process. Then it execs COMMAND, so
that the program is supervisord's child. If the program of an earlier supervisor still runs, this process stands in for
it until it ends. So parts and their logs outlive their supervisor.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from counterflow.base.files import replace

STABLE_S = 10
"""A part that ran for this long did not fail to start."""
_LONGEST_WAIT_S = 15
"""Short, so that a broker whose disk was full for long serves within half a minute once there is room."""


class ProcessRecord(msgspec.Struct, frozen=True):
    """The record of a part's process.

    Parameters
    ----------
    pid, born : of the program; `born` is its start in clock ticks since boot, since process ids are reused.
    stop_s : seconds from SIGTERM to SIGKILL.
    started_s : time of the launch, in seconds since boot.
    restarts : since it was last started on purpose.
    failures : consecutive starts after which it ended within `STABLE_S`.
    until_s : end of the current back-off, in seconds since boot.
    """

    pid: int = 0
    born: int = 0
    stop_s: int = 0
    started_s: float = 0
    restarts: int = -1
    failures: int = 0
    until_s: float | None = None

    @classmethod
    def read(cls, home: Path, part: str) -> ProcessRecord:
        """Return the record of a part; an empty one where there is none."""
        try:
            return msgspec.json.decode(_file(home, part).read_bytes(), type=cls)
        except (OSError, msgspec.DecodeError):
            return cls()

    def write(self, home: Path, part: str) -> None:
        """Store the record; a full disk does not keep the part from running."""
        file = _file(home, part)
        with suppress(OSError):
            file.parent.mkdir(exist_ok=True)
            replace(file, msgspec.json.encode(self))

    @property
    def alive(self) -> bool:
        return bool(self.pid) and _born(self.pid) == self.born

    def end(self) -> None:
        """End the program and its children, by SIGTERM first."""
        for number, patience_s in ((signal.SIGTERM, self.stop_s), (signal.SIGKILL, STABLE_S)):
            if self.alive:
                with suppress(ProcessLookupError):
                    program = os.pidfd_open(self.pid)
                    os.killpg(self.pid, number)
                    select.select([program], [], [], patience_s)

    @property
    def wait_s(self) -> float:
        """Remaining seconds of the back-off."""
        return 0.0 if self.until_s is None else max(0.0, self.until_s - now())

    def again(self) -> ProcessRecord:
        """Return the next run, with exponential back-off after consecutive failures: 1, 2, 4, 8, then 15 s."""
        failed = self.started_s > 0 and now() - self.started_s < STABLE_S
        failures = self.failures + 1 if failed else 0
        wait_s = min(2 ** (failures - 1), _LONGEST_WAIT_S) if failures else 0
        return ProcessRecord(restarts=self.restarts + 1, failures=failures, until_s=now() + wait_s)


def forget(home: Path, part: str) -> None:
    """Delete the record of a part, so that its next start counts as the first."""
    _file(home, part).unlink(missing_ok=True)


def now() -> float:
    """Return the seconds since boot, by a clock that cannot be set."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _file(home: Path, part: str) -> Path:
    return home / "run" / f"{part}.json"


def _born(pid: int) -> int | None:
    """Return the start of a process in clock ticks; None where it does not exist (proc_pid_stat(5), field 22)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def main(home: Path, part: str, stop_s: int, command: list[str]) -> None:
    """Stand in for a program that still runs; then exec the command."""
    before = ProcessRecord.read(home, part)
    if before.alive:
        with suppress(ProcessLookupError):
            select.select([os.pidfd_open(before.pid)], [], [])
    run = before.again()
    run.write(home, part)
    time.sleep(run.wait_s)
    clear(home, part)
    _log_to(home / "logs" / f"{part}.log")
    pid = os.getpid()
    ProcessRecord(pid, _born(pid) or 0, stop_s, now(), run.restarts, run.failures).write(home, part)
    os.execvp(command[0], command)  # noqa: S606


def scratch(home: Path, part: str) -> Path:
    """Return the folder of a part's temporary files; its next start removes what a killed process left."""
    return home / "tmp" / part


def clear(home: Path, part: str) -> None:
    """Empty the folder of a part's temporary files; create it if missing."""
    with suppress(OSError):  # a full disk does not keep the part from running
        shutil.rmtree(scratch(home, part), ignore_errors=True)
        scratch(home, part).mkdir(parents=True)


def _log_to(log: Path) -> None:
    """Redirect output to the log, not to a pipe that ends with the supervisor."""
    with suppress(OSError):  # the output then goes to the supervisor
        fd = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.dup2(fd, 1)
        os.dup2(fd, 2)
        os.close(fd)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4:])
