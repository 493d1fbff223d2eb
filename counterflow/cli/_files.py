"""Shared by `look` and `publish`: file arguments, time zone, progress and exit status."""

from __future__ import annotations

import errno
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from counterflow.base.errors import why
from counterflow.base.inert import inert
from counterflow.cli._table import console
from counterflow.cli._times import LOCAL_TIME
from counterflow.collectors.text.stamps import AssumedZone
from counterflow.recordings.given import ReadingOptions, lies_beside
from counterflow.recordings.given import given as given_below

if TYPE_CHECKING:
    from rich.progress import Progress

    from counterflow.collectors.records import Item

T = TypeVar("T")


errors = console(stderr=True)
errors.soft_wrap = not errors.is_terminal
_CALLED = "counterflow.called"


class Zone(click.ParamType[ZoneInfo]):
    """An IANA time zone by name."""

    name = "zone"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> ZoneInfo:
        if isinstance(value, ZoneInfo):
            return value
        try:
            return ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            self.fail(f"`{value}` is not an IANA time zone; try `Europe/Berlin` or `UTC`", param, ctx)


class NotEmpty(click.ParamType[str]):
    """A text that is not empty."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value) or self.fail("is empty; give a name, or leave the option out", param, ctx)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --zone, --date-order, --at and --system, which it gets as `options`."""

    @wraps(command)
    def gathered(
        *args: Any,
        zone: ZoneInfo,
        system: str | None,
        date_order: Literal["ymd", "mdy", "dmy"] | None,
        at: datetime | None,
        **others: Any,
    ) -> Any:
        return command(*args, options=ReadingOptions(zone, system, date_order, at), **others)

    zone_help = "IANA time zone of the recordings' local times; nmon files do not state it."
    system_help = "Name of the system, instead of the one in the file."
    made = click.option("--system", type=NotEmpty(), help=system_help)(gathered)
    at_help = "Time of a listing that carries none, or begin of a run; without an offset it is in --zone."
    made = click.option("--at", type=LOCAL_TIME, help=at_help)(made)
    order_help = "Order of ambiguous dates, as in IBM i spooled files."
    made = click.option("--date-order", type=click.Choice(["ymd", "mdy", "dmy"]), help=order_help)(made)
    return click.option("--zone", type=Zone(), default=AssumedZone("UTC"), show_default=True, help=zone_help)(made)


class Given(click.ParamType[Path]):
    """A file, a folder, `-` for standard input, or an address: the last two become local copies."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; for an address elsewhere, its text. The empty name of an unset variable is refused."""
        if not str(value):
            self.fail("is empty; name a file or a folder, `.` for this one", param, ctx)
        from counterflow.collectors.sources.remote import is_remote

        return value if isinstance(value, Path) or is_remote(value) else Path(value)


def local(paths: Iterable[Path | str], folder: Path) -> Iterator[Path]:
    """Yield a local path for each: standard input and remote files are copied into `folder`."""
    for path in paths:
        if isinstance(path, str):
            yield from mirrored(path, folder)
        elif path == Path("-"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            copy = temporary(folder) / "standard-input"  # other commands copy theirs at the same time
            with copy.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
            click.get_current_context().meta[_CALLED] = {copy: "standard input"}
            yield copy
        else:
            yield path


def called(path: Path) -> str:
    """Return what a file is called in records and messages: its path, which standard input does not have."""
    names: dict[Path, str] = click.get_current_context().meta.get(_CALLED, {})
    return names.get(path) or str(path)


def mirrored(address: str, folder: Path) -> list[Path]:
    """Mirror the files at an address into `folder` and return their paths; on a terminal with a progress bar."""
    from counterflow.collectors.sources.remote import mirror

    with bytes_progress() as progress:
        task = progress.add_task("fetching", total=None)
        return mirror(
            address,
            folder,
            lambda file, done, size: progress.update(
                task, description=inert(file.rpartition("/")[2]), completed=done, total=size
            ),
        )


def bytes_progress() -> Progress:
    """Return a progress bar of bytes, which only a terminal shows."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    bar = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    name = TextColumn("{task.description}", markup=False)
    return Progress(name, *bar, console=errors, transient=True, disable=not sys.stderr.isatty())


def temporary(within: Path | None = None) -> Path:
    made = tempfile.TemporaryDirectory(prefix="counterflow-", dir=within)
    return Path(click.get_current_context().with_resource(made))


def recordings(paths: tuple[Path | str, ...], folder: Path | None = None) -> list[Path]:
    """Return the given files, those below a folder sorted; one that is missing is kept, to be reported later.

    Standard input and remote files are copied into `folder`, by default a temporary one. A folder without a file is
    reported.

    Raises
    ------
    CounterflowError : there is no file.
    """
    elsewhere = any(isinstance(path, str) or path == Path("-") for path in paths)
    folder = folder or (temporary() if elsewhere else Path())
    return given(local(paths, folder))


def given(paths: Iterable[Path], written: Collection[Path] = ()) -> list[Path]:
    """Return the files that are read, as `recordings.given` does; report a folder without a file."""
    found, empty = given_below(paths, written)
    for folder in empty:
        errors.print(inert(f"note: no file in {folder}"), markup=False)
    return found


def with_progress(items: Iterable[T], total: int, what: str = "reading") -> Iterable[T]:
    """Return the items, one for each file; on a terminal, several get a progress bar."""
    if total < 2 or not sys.stderr.isatty():
        return items
    from rich.progress import track

    return track(items, f"{what} {total:,} files", total, console=errors, transient=True)


def report_beside(name: str) -> None:
    """Report that a file beside recordings is none."""
    errors.print(inert(f"note: {name} is no recording"), markup=False)


def read_all(
    paths: list[Path],
    named: Collection[Path],
    options: ReadingOptions,
    take: Callable[[Path, Item], None],
) -> int:
    """Pass every item of every file to `take`; report each file without figures, and return how many there are.

    `named` are the arguments of the command: one that `lies_beside` recordings does not count.
    """
    from counterflow.collectors.reading import read_each

    unread = 0
    for path in with_progress(paths, len(paths)):
        try:
            for found in read_each(path, *options, called(path)):
                unread += not _is_read(found.name, found.items, take, named)
        except OSError as error:
            if error.errno in (errno.EPIPE, errno.ENOSPC):
                raise  # the output takes no more
            unread += 1
            errors.print(inert(f"error: {called(path)}: {why(error)}"), markup=False)
    return unread


def _is_read(name: str, items: Iterator[Item], take: Callable[[Path, Item], None], named: Collection[Path]) -> bool:
    """Pass every item to `take`; return whether the file has figures or needs none, and report it if it has none."""
    from counterflow.collectors.reading import Faults
    from counterflow.collectors.records import Record, Reject, Table

    path, datasets, faults = Path(name), set(), Faults()
    for item in items:
        if isinstance(item, Record) or (isinstance(item, Table) and item.rows):
            datasets.add(item.dataset)
        elif isinstance(item, Reject):
            faults.add(item)
        take(path, item)
    fault = faults.why(datasets)
    if fault is None:
        return True
    if beside := lies_beside(name, named):
        report_beside(name)
    else:
        report_unread(name, *fault)
    return beside


def report_unread(name: str, line: int, reason: str) -> None:
    """Report that a file gave no figures; line 0 is the file itself."""
    errors.print(inert(f"error: {name}:{line}: {reason}" if line else f"error: {name}: {reason}"), markup=False)
