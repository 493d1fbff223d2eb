"""Finds everything that keeps a stack from starting on this machine, at once, before anything is downloaded."""

from __future__ import annotations

import errno
import platform
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from counterflow.base.errors import CounterflowError
from counterflow.stack import runtimes
from counterflow.stack.settings import HOST, StackSettings

PARTS_BYTES = 3 << 30
"""Size of an installation: 1.6 GiB, and what package managers keep while they fetch it."""
HOME_BYTES = 1 << 30
"""For logs, data and checkpoints of a first day."""
MEMORY_BYTES = 3 << 30
"""The stack takes 2.49 GiB of resident memory before the first record (bench/RESULTS.md), and input takes more."""
GROUP = Path("/sys/fs/cgroup")
"""This process's control group (cgroup v2), as a container has it."""


class Problem(NamedTuple):
    """Something that is missing, and the way out."""

    what: str
    hint: str


def machine(settings: StackSettings) -> Iterator[Problem]:
    """Yield what this machine lacks; a parts folder that is already filled needs no more room."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64") or platform.libc_ver()[0] != "glibc":
        what = (
            f"the ClickHouse engine is built for Linux x86_64 with glibc, this is {sys.platform} {platform.machine()}"
        )
        yield Problem(what, "counterflow look FILE needs no stack")
    try:
        runtimes.lack("java")
    except CounterflowError as error:
        yield Problem(error.message, error.hint or "")
    yield from _spaced(settings)
    yield from unwritable(settings)
    needed: dict[int, tuple[Path, int]] = {}
    for folder, size in ((settings.parts, PARTS_BYTES), (settings.home, HOME_BYTES)):
        there = _nearest(folder)
        device = there.stat().st_dev
        needed[device] = there, needed.get(device, (there, 0))[1] + (0 if _filled(folder) else size)
    for there, size in needed.values():
        if (free := shutil.disk_usage(there).free) < size:
            what = f"the disk of {there} has {_gib(free)} free, the stack takes {_gib(size)}"
            yield Problem(what, "counterflow up --home, or COUNTERFLOW_PARTS, on a disk with room")
    if (left := _memory()) < MEMORY_BYTES:
        what = f"{_gib(left)} of memory are available, the stack takes {_gib(MEMORY_BYTES)}"
        yield Problem(what, "stop what else runs, or give the machine more memory")


def _spaced(settings: StackSettings) -> Iterator[Problem]:
    """Yield the folders with a space in their path, at which Flink's scripts split the options of a JVM."""
    folders = {"counterflow up --home": settings.home, "TMPDIR": Path(tempfile.gettempdir())}
    if settings.home not in settings.parts.parents:
        folders["COUNTERFLOW_PARTS"] = settings.parts
    for option, folder in folders.items():
        if any(map(str.isspace, str(folder))):
            yield Problem(f"Flink cannot start with a space in a path: {folder}", f"{option} <a path without a space>")


def unwritable(settings: StackSettings) -> Iterator[Problem]:
    """Yield the unwritable folders, existing or not, except a filled parts folder: that of an image is read-only."""
    for folder, option in ((settings.home, "counterflow up --home"), (settings.parts, "COUNTERFLOW_PARTS")):
        if _filled(folder):
            continue
        try:
            with tempfile.TemporaryFile(dir=_nearest(folder)):
                pass
        except OSError as error:
            if not (error.errno == errno.ENOSPC or folder.parent == settings.home):  # reported for the disk or home
                yield Problem(f"{folder} cannot be written: {error.strerror}", f"{option} <a folder of yours>")


def ports(settings: StackSettings) -> Iterator[Problem]:
    """Yield each port that is given twice or taken."""
    given: dict[int, str] = {}
    for name, port in settings.ports.items():
        variable = f"COUNTERFLOW_{name.upper()}"
        if port in given:
            yield Problem(f"{given[port]} and {variable} are both {port}", f"set {variable} to another port")
        elif not _is_free(port):
            yield Problem(
                f"port {port} ({name.removesuffix('_port').replace('_', ' ')}) is taken by {_owner(port)}",
                f"set {variable} to another port",
            )
        given[port] = variable


def require_none(found: Iterable[Problem]) -> None:
    """Raise all problems as one error, if there are any."""
    problems = list(found)
    if len(problems) == 1:
        raise CounterflowError(problems[0].what, hint=problems[0].hint)
    if problems:
        lines = "".join(f"\n  {one.what}\n    {one.hint}" for one in problems)
        raise CounterflowError(
            f"the stack cannot start here, for {len(problems)} reasons:{lines}", hint="nothing was changed"
        )


def _filled(parts: Path) -> bool:
    """Return whether everything is installed: the library of Flink is assembled last."""
    return (parts / "flink-library.installed").exists()


def _nearest(folder: Path) -> Path:
    """Return the folder, or the nearest above it that exists."""
    return next((one for one in (folder, *folder.parents) if one.exists()), Path("/"))


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


def _memory() -> int:
    """Return the bytes of memory still available, on the machine or in `GROUP`; cached files give way."""
    left = psutil.virtual_memory().available + psutil.swap_memory().free
    try:
        limit, used = ((GROUP / name).read_text().strip() for name in ("memory.max", "memory.current"))
        counts = dict(line.split() for line in (GROUP / "memory.stat").read_text().splitlines())
    except OSError:
        return left
    cached = int(counts["inactive_file"]) + int(counts["active_file"])
    return left if limit == "max" else min(left, int(limit) - int(used) + cached)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # ignore TIME_WAIT of closed connections
        try:
            probe.bind((HOST, port))
            probe.listen()
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True


def _owner(port: int) -> str:
    with suppress(psutil.Error):
        for found in psutil.net_connections("tcp"):
            if found.status == psutil.CONN_LISTEN and found.laddr and found.laddr.port == port and found.pid:
                return f"pid {found.pid} ({psutil.Process(found.pid).name()})"
    return "a process of another user"
