"""Whether the command line would accept words, without running anything."""

from __future__ import annotations

from collections.abc import Sequence

import click

from counterflow.cli import cli


def parse(words: Sequence[str], command: click.Command = cli) -> None:
    """Parse words as `counterflow` would.

    Raises
    ------
    click.UsageError : there is no such option, or a value is not one.
    """
    if isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words[0])
        assert found, f"there is no command {words[0]}"
        parse(words[1:], found)
    else:
        command.make_context(command.name, list(words)).close()
