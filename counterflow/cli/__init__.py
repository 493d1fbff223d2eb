"""The command line: one module per command, found by its file name.

`counterflow jobs rerun` is the click group `command` in `cli/jobs.py`. A module is imported only when its command is
called, so `counterflow parse` never loads the stack. A dash in a command is an underscore in its module.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys

import click

from counterflow.base.errors import CounterflowError
from counterflow.base.inert import inert
from counterflow.cli._group import Group

_EXTRAS = {
    "aiohttp": "remote",
    "fsspec": "remote",
    "paramiko": "remote",
    "s3fs": "remote",
    "chdb": "look",
    "jinja2": "report",
    "markupsafe": "report",
    "vl_convert": "report",
    "psutil": "stack",
    "supervisor": "stack",
}
"""The extra of the distribution that installs an optional module."""


_SECTIONS = {
    "Look at files": ("look", "summary", "parse", "bundle"),
    "Run the line": ("demo", "watch", "up", "status", "down", "publish", "fetch", "agent", "simulate"),
    "Ask": ("sql", "report", "culprit", "checkup", "rules"),
    "Study": ("study", "whatif"),
    "Keep it healthy": ("doctor", "audit", "deadletter", "jobs", "backup", "restore"),
}
"""Commands by purpose, in the order of use; all others are for those who operate the parts or build on them."""
_OTHERS = "Operate and build on the parts"


class _Commands(Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(__path__) if m.name[0] != "_")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"{__name__}.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def sections(self, names: list[str]) -> dict[str, tuple[str, ...]]:
        """Return the commands by purpose."""
        named = {name for of in _SECTIONS.values() for name in of}
        return {**_SECTIONS, _OTHERS: tuple(name for name in names if name not in named)}


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="counterflow")
def cli() -> None:
    """Performance counters in, answers out."""


def main() -> None:
    """Run the command line; a `CounterflowError` ends as `error:` and `hint:` lines and its exit code.

    A command whose extra is not installed ends the same way, with status 2.
    """
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
