"""`counterflow study`: compares labelled runs, and writes published figures as raw counters."""

from __future__ import annotations

import click

from counterflow.cli._group import CommandFolder


@click.group(cls=CommandFolder)
def command() -> None:
    """Compare labelled runs; simulate published ones."""
