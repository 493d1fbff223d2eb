"""Lines of a file worked on by several processes, a share each, and handed back in the order of the file."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO

from counterflow.errors import CounterflowError

Lines = Iterable[tuple[int, bytes]]
"""Lines with their numbers in the file."""

_MOST = 4
"""Processes. Each reads every line, to know whether it is its own."""


def numbered(file: BinaryIO) -> Lines:
    """Return the lines of a file that say something, counted from 1 together with empty ones."""
    return ((number, line) for number, line in enumerate(file, 1) if not line.isspace())


def side_by_side(
    path: Path, share_of: Callable[[bytes], int], work: Callable[[Lines], Iterator[bytes]]
) -> Iterator[bytes]:
    """Yield the line that `work` makes of each line of a file.

    Lines of one `share_of` are worked on by one process, in their order. What `work` raises is raised after the lines
    that come before.
    """
    count = min(_MOST, len(os.sched_getaffinity(0)))
    fork = multiprocessing.get_context("fork")  # `work` is a closure, and needs no port or file to get there
    with ExitStack() as files:
        made = []
        for own in range(count):
            begin, end = os.pipe()
            fork.Process(target=_share, args=(path, own, count, share_of, work, end), daemon=True).start()
            os.close(end)  # so that no process forked after it keeps it open
            made.append(files.enter_context(os.fdopen(begin, "rb")))
        for number, line in numbered(files.enter_context(path.open("rb"))):
            if answer := made[share_of(line) % count].readline():
                yield answer
            else:
                list(work([(number, line)]))  # raises what ended the process
                detail = f"{path}:{number}: the file was written to while it was read, or a process was ended"
                raise CounterflowError(detail, hint="once more")


def _share(
    path: Path,
    own: int,
    count: int,
    share_of: Callable[[bytes], int],
    work: Callable[[Lines], Iterator[bytes]],
    end: int,
) -> None:
    with suppress(CounterflowError, BrokenPipeError), path.open("rb") as file, os.fdopen(end, "wb") as out:
        out.writelines(work((number, line) for number, line in numbered(file) if share_of(line) % count == own))
