"""Processes the lines of a file in parallel, a share per process, and returns the output in file order."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO

from counterflow.base.errors import CounterflowError

Lines = Iterable[tuple[int, bytes]]
"""Lines with their numbers in the file."""

_MOST = 4
"""Processes, including this one. Each reads every line to find its own."""
_BUFFER_BYTES = 1 << 16
"""A pipe's capacity: processes block each other less often than with Python's default of 8 KiB."""


def numbered(file: BinaryIO) -> Lines:
    """Return the non-blank lines of a file with their line numbers from 1."""
    return ((number, line) for number, line in enumerate(file, 1) if not line.isspace())


def side_by_side(
    path: Path, share_of: Callable[[bytes], int], work: Callable[[Lines], Iterator[bytes]]
) -> Iterator[bytes]:
    """Yield the output of `work` for each line of a file.

    One process handles all lines with the same `share_of`, in order; every process evaluates it for every line from
    the first. An exception of `work` is raised after the output of all earlier lines.
    """
    count = min(_MOST, len(os.sched_getaffinity(0)))
    fork = multiprocessing.get_context("fork")  # `work` is a closure, which cannot be pickled
    with ExitStack() as files:
        made: dict[int, BinaryIO] = {}
        for other in range(1, count):
            begin, end = os.pipe()
            made[other] = files.enter_context(os.fdopen(begin, "rb", _BUFFER_BYTES))
            share = (path, other, count, share_of, work, end, tuple(made.values()))
            fork.Process(target=_share, args=share, daemon=True).start()
            os.close(end)  # so that no process forked later keeps it open
        given: deque[tuple[int, bytes]] = deque()
        mine = work(iter(given.popleft, None))
        for number, line in numbered(files.enter_context(path.open("rb"))):
            other = share_of(line) % count
            if not other:
                given.append((number, line))
                yield next(mine)
            elif answer := made[other].readline():
                yield answer
            else:
                list(work([(number, line)]))  # raises the error that ended the process
                detail = f"{path}:{number}: the file changed while it was read, or a process was killed"
                raise CounterflowError(detail, hint="run the command again")


def _share(
    path: Path,
    share: int,
    count: int,
    share_of: Callable[[bytes], int],
    work: Callable[[Lines], Iterator[bytes]],
    end: int,
    inherited: Iterable[BinaryIO],
) -> None:
    for begin in inherited:  # else this process could write for ever after the one that reads was killed
        begin.close()
    with (
        suppress(CounterflowError, BrokenPipeError),
        path.open("rb") as file,
        os.fdopen(end, "wb", _BUFFER_BYTES) as out,
    ):
        out.writelines(work((number, line) for number, line in numbered(file) if share_of(line) % count == share))
