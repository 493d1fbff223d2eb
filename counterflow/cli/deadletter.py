"""`counterflow deadletter`: lists, shows, replays and drops rejected records."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from counterflow.base.errors import CounterflowError
from counterflow.base.inert import inert
from counterflow.cli._group import Group
from counterflow.cli._json import write_json
from counterflow.cli._reader import lander, reader
from counterflow.cli._table import console, table
from counterflow.cli._times import TIME

if TYPE_CHECKING:
    from counterflow.base.clickhouse import ClickHouse
    from counterflow.pipelines.landing.letters import Letter

_SHOWN = 100


class LetterId(click.ParamType[str]):
    """The ID of a dead letter: 16 hexadecimal digits."""

    name = "id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value).lower()
        if not re.fullmatch(r"[0-9a-f]{16}", text):
            self.fail(f"expected 16 hexadecimal digits, found `{value}`; see: counterflow deadletter list", param, ctx)
        return text


_ids = click.argument("ids", metavar="[ID]...", nargs=-1, type=LetterId())
_since = click.option("--from", "since", type=TIME, help="Only records read since; UTC by default.")
_until = click.option("--to", "until", type=TIME, help="Only records read before; UTC by default.")
_refused_for = click.option("--reason", default="", metavar="REASON", help="Only records rejected for this reason.")
_json = click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of a table.")


@click.group(cls=Group)
def command() -> None:
    """List rejected records, publish them again, or drop them."""


@command.command("list")
@_since
@_until
@_refused_for
@click.option("--each", is_flag=True, help="One row per letter, not per group.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="Maximum number of rows.")
@_json
def listing(since: datetime | None, until: datetime | None, reason: str, each: bool, limit: int, as_json: bool) -> None:
    """List open letters by stage, reason, and topic or source, newest first."""
    from counterflow.pipelines.landing import letters

    with reader() as client:
        if each:
            columns = ("collected_at", "id", "stage", "reason", "place", "origin", "system", "size")
            rows = [
                {name: getattr(letter, name) for name in columns}
                for letter in letters.letters(client, since=since, until=until, reason=reason, most=limit)
            ]
        else:
            rows = letters.groups(client, since, until, reason, limit)
    _rows(rows, as_json, "no dead letters")


@command.command()
@click.argument("letter_id", metavar="ID", type=LetterId())
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def show(letter_id: str, as_json: bool) -> None:
    """Show one letter: envelope, error and bytes; control characters are escaped."""
    from counterflow.pipelines.landing.letters import one

    with reader() as client:
        found = one(client, letter_id)
    if found is None:
        raise CounterflowError(f"there is no dead letter {letter_id}", hint="counterflow deadletter list --each")
    payload = base64.b64decode(found["payload_base64"])
    text = payload.decode("utf-8", "backslashreplace")
    if as_json:
        write_json([{**found, "payload": text}])
        return
    handled = found.pop("handled")
    for name, value in found.items():
        if value is not None and name not in ("payload_base64", "payload_bytes"):
            click.echo(f"{name:14}{inert(str(value))}")
    if handled:
        click.echo(f"{'handled':14}{handled['action']} {handled['handled_at']}: {inert(handled['reason'])}")
    size = found["payload_bytes"]
    click.echo(f"{'bytes':14}{size:,}" + (f", the first {len(payload):,} kept" if len(payload) < size else ""))
    click.echo(inert(text, keep="\n"))


@command.command()
@_ids
@_since
@_until
@_refused_for
@_json
@click.pass_context
def replay(
    ctx: click.Context,
    ids: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    reason: str,
    as_json: bool,
) -> None:
    """Publish letters again to their original topic: by ID, or all --from a time, --to a time or with a --reason.

    Fix the cause first. A record that is replayed twice replaces itself; the letter stays, marked as replayed.
    Exit status 1: a letter could not be replayed; its row has the reason.
    """
    from confluent_kafka import KafkaException

    from counterflow.pipelines.landing import replay as replaying
    from counterflow.stack.settings import StackSettings

    if not (ids or since or until or reason):
        raise click.UsageError("give IDs of letters, --from, --to or --reason")
    settings = StackSettings.running()
    with lander() as client:
        found = _found(client, ids, since, until, reason)
        try:
            done = replaying.replay(client, settings.kafka("replay"), found)
        except KafkaException as error:
            raise CounterflowError(
                f"Kafka at {settings.kafka_bootstrap}: {error.args[0].str()}",
                hint="replay again: a record that is published twice replaces itself",
            ) from None
    rows = [{"id": one.letter.id, "place": one.letter.place, "what": one.what, "why": one.why or None} for one in done]
    _rows(rows, as_json, "no dead letters")
    ctx.exit(1 if any(one.what == "refused" for one in done) else 0)


@command.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True, type=LetterId())
@click.option("--reason", required=True, metavar="TEXT", help="Why they are not needed; stored with them.")
@_json
def drop(ids: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Mark letters as handled without publishing them; they are kept and can still be shown."""
    from counterflow.pipelines.landing.letters import mark

    if not reason.strip():
        raise click.BadParameter("must not be empty", param_hint="--reason")
    with lander() as client:
        found = _found(client, ids)
        mark(client, [letter.id for letter in found], "dropped", reason)
    _rows([{"id": letter.id, "place": letter.place, "what": "dropped"} for letter in found], as_json, "")


def _found(
    client: ClickHouse,
    ids: Sequence[str],
    since: datetime | None = None,
    until: datetime | None = None,
    reason: str = "",
) -> list[Letter]:
    """Return the selected letters; each ID must be that of an open letter."""
    from counterflow.pipelines.landing.letters import letters, one

    found = letters(client, ids, since, until, reason)
    for letter_id in sorted(set(ids) - {letter.id for letter in found}):
        known = one(client, letter_id)
        if known is None:
            raise CounterflowError(f"there is no dead letter {letter_id}", hint="counterflow deadletter list --each")
        if known["handled"]:
            raise CounterflowError(
                f"{letter_id} was {known['handled']['action']} {known['handled']['handled_at']}",
                hint=f"counterflow deadletter show {letter_id}",
            )
    return found


def _rows(rows: list[dict[str, Any]], as_json: bool, nothing: str) -> None:
    if as_json:
        write_json(rows)
    else:
        console().print(table(rows[:_SHOWN]) if rows else nothing)
        if len(rows) > _SHOWN:
            click.echo(f"and {len(rows) - _SHOWN:,} more; --json lists all")
