"""Groups of commands whose help cuts no description, and whose errors suggest similar names."""

from __future__ import annotations

import ast
import importlib.util
import pkgutil
import sys
from pathlib import Path

import click

_LONGEST = 1_000
"""No sentence is cut."""


class Group(click.Group):
    """A group whose help cuts no description."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an error suggests those with a similar name."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(error.command_name, possibilities=self.list_commands(ctx), ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write every command with its whole first sentence."""
        left = self.list_commands(ctx)
        width = max(map(len, left))
        for title, names in self.sections(left).items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), self.sentence(ctx, name)) for name in names])

    def sections(self, names: list[str]) -> dict[str, tuple[str, ...]]:
        return {"Commands": tuple(names)}

    def sentence(self, ctx: click.Context, name: str) -> str:
        """Return the first sentence of a command's description."""
        command = self.get_command(ctx, name)
        return command.get_short_help_str(_LONGEST) if command else ""


class CommandFolder(Group):
    """The commands of a package: the click command `command` of each module, imported when it is called.

    The package is the one that defines the group, so `counterflow dev land` is `command` in `cli/dev/land.py`.
    """

    @property
    def _package(self) -> str:
        assert self.callback is not None  # noqa: S101 - a group is a decorated function
        return self.callback.__module__

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the modules."""
        return sorted(m.name for m in pkgutil.iter_modules(sys.modules[self._package].__path__) if m.name[0] != "_")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a module; None where there is none."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"{self._package}.{cmd_name}").command
        return command

    def sentence(self, ctx: click.Context, name: str) -> str:
        """Return the first sentence from the source: to import all commands takes longer than to show them."""
        spec = importlib.util.find_spec(f"{self._package}.{name}")
        source = Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and node.name == "command":
                return click.Command(name, help=ast.get_docstring(node)).get_short_help_str(_LONGEST)
        return super().sentence(ctx, name)
