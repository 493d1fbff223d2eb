"""`counterflow dev completion`: commands and options completed by bash, zsh and fish."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import get_completion_class

_PLACES = {
    "bash": ".local/share/bash-completion/completions/counterflow",
    "zsh": ".zfunc/_counterflow",
    "fish": ".config/fish/completions/counterflow.fish",
}
"""Where each shell looks for the script of a user; zsh after `fpath+=~/.zfunc` and `compinit` in `~/.zshrc`."""


@click.command()
@click.argument("shell", type=click.Choice(list(_PLACES)))
@click.option("--install", is_flag=True, help="Write the script to where the shell looks for it.")
def command(shell: str, install: bool) -> None:
    """Print the script that completes commands and options in SHELL."""
    from counterflow.cli import cli

    complete = get_completion_class(shell)
    assert complete is not None  # noqa: S101 - click has these three
    script = complete(cli, {}, "counterflow", "_COUNTERFLOW_COMPLETE").source()
    if not install:
        click.echo(script)
        return
    path = Path.home() / _PLACES[shell]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script, encoding="utf-8")
    click.echo(path)
    if shell == "zsh":
        click.echo("~/.zshrc needs: fpath+=~/.zfunc; autoload -U compinit; compinit", err=True)
