"""`counterflow study`: compares labelled runs, recomputes published figures, and writes them as raw counters."""

from __future__ import annotations

import click

from counterflow.cli._group import Folder


@click.group(cls=Folder)
def command() -> None:
    """Compare labelled runs; recompute and simulate published ones."""
