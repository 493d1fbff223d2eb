"""The command line: one module per command, found by its file name; a folder is a group of them.

`counterflow jobs rerun` is in the click group `command` of `cli/jobs.py`, `counterflow dev land` is `command` of
`cli/dev/land.py`. A module is imported only when its command is called, so `counterflow look` never loads the stack.
"""

from __future__ import annotations

import errno
import os
import sys
from io import TextIOWrapper
from pathlib import Path

import click

from counterflow.base.errors import CounterflowError
from counterflow.base.inert import inert
from counterflow.cli._group import CommandFolder

_EXTRAS = {
    "aiohttp": "remote",
    "fsspec": "remote",
    "paramiko": "remote",
    "s3fs": "remote",
    "chdb": "look",
    "mcp": "mcp",
    "polars": "notebook",
    "jinja2": "report",
    "markupsafe": "report",
    "vl_convert": "report",
    "psutil": "stack",
    "supervisor": "stack",
}
"""The extra of the distribution that installs an optional module."""


_SECTIONS = {
    "Read files": ("look", "bundle"),
    "Find what is wrong": ("doctor", "audit", "deadletter"),
    "Ask and show": ("sql", "report", "study", "whatif", "rules", "mcp"),
    "Run": ("demo", "up", "status", "down", "publish", "fetch", "agent", "jobs", "backup", "dev"),
}
"""Commands by purpose, in the order of use."""


class _Commands(CommandFolder):
    def sections(self, names: list[str]) -> dict[str, tuple[str, ...]]:
        """Return the commands by purpose."""
        return _SECTIONS


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="counterflow")
def cli() -> None:
    """Performance counters in, answers out."""


def main() -> None:
    """Run the command line; a `CounterflowError` ends as `error:` and `hint:` lines and its exit code.

    A command whose extra is not installed, or whose output has no room, ends the same way, with status 2.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed, as by `>&-`
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):  # what the locale cannot print is escaped, as on standard error
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        cli()
    except CounterflowError as error:
        click.echo(inert(f"error: {error.message}", keep="\n"), err=True)
        if error.hint:
            click.echo(inert(f"hint: {error.hint}", keep="\n"), err=True)
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        click.echo(f"error: this command needs {error.name}, which is not installed", err=True)
        click.echo(f"hint: pip install 'counterflow[{extra}]'", err=True)
        sys.exit(2)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        where = error.filename or "temporary files or standard output"
        click.echo(inert(f"error: {where}: {error.strerror}"), err=True)
        sys.exit(2)
