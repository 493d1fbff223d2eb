"""`counterflow dev`: what the parts run, and what those who operate or build them need."""

from __future__ import annotations

import click

from counterflow.cli._group import CommandFolder


@click.group(cls=CommandFolder)
def command() -> None:
    """Operate the parts of a line one by one, and build on them."""
