"""Times on the command line."""

from __future__ import annotations

from datetime import UTC, datetime

import click

TIME = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"])


def utc(_: click.Context, __: click.Parameter, moment: datetime | None) -> datetime | None:
    """Take a time without a zone as UTC."""
    return moment.replace(tzinfo=UTC) if moment and not moment.tzinfo else moment
