"""Lines of a file worked on by several processes, a share each, and handed back in the order of the file."""

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
"""Processes, this one among them. Each reads every line, to know whether it is its own."""
_BUFFER_BYTES = 1 << 16
"""What a pipe holds: processes wait for each other less often than with Python's own 8 KiB."""


def numbered(file: BinaryIO) -> Lines:
    """Return the lines of a file that say something, counted from 1 together with empty ones."""
    return ((number, line) for number, line in enumerate(file, 1) if not line.isspace())


def side_by_side(
    path: Path, share_of: Callable[[bytes], int], work: Callable[[Lines], Iterator[bytes]]
) -> Iterator[bytes]:
    """Yield the line that `work` makes of each line of a file.

    Lines of one `share_of` are worked on by one process, in their order; each process asks it of every line, from the
    first. What `work` raises is raised after the lines that come before.
    """
    count = min(_MOST, len(os.sched_getaffinity(0)))
    fork = multiprocessing.get_context("fork")  # `work` is a closure, and needs no port or file to get there
    with ExitStack() as files:
        made = {}
        for other in range(1, count):
            begin, end = os.pipe()
            fork.Process(target=_share, args=(path, other, count, share_of, work, end), daemon=True).start()
            os.close(end)  # so that no process forked after it keeps it open
            made[other] = files.enter_context(os.fdopen(begin, "rb", _BUFFER_BYTES))
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
                list(work([(number, line)]))  # raises what ended the process
                detail = f"{path}:{number}: the file was written to while it was read, or a process was ended"
                raise CounterflowError(detail, hint="once more")


def _share(
    path: Path,
    share: int,
    count: int,
    share_of: Callable[[bytes], int],
    work: Callable[[Lines], Iterator[bytes]],
    end: int,
) -> None:
    with (
        suppress(CounterflowError, BrokenPipeError),
        path.open("rb") as file,
        os.fdopen(end, "wb", _BUFFER_BYTES) as out,
    ):
        out.writelines(work((number, line) for number, line in numbered(file) if share_of(line) % count == share))
