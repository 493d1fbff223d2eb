"""`counterflow demo`: sends recordings and simulated stories through the whole pipeline, and prints the answers."""

from __future__ import annotations

import logging
import secrets
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from rich.console import Console

import counterflow
from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.cli._json import write_json
from counterflow.cli._scraped import PROGRAM, Scraped, scrape
from counterflow.cli._stories import GENERATED, STORIES, Simulated, links, report, simulate_stories
from counterflow.cli._table import console, table
from counterflow.cli._times import TIME

SAMPLES = Path(counterflow.__file__).resolve().parents[1] / "samples/nmon"
Input = tuple[list[Path], str | None]
"""Files that are published together, and the system that overrides the name inside."""


@click.command()
@click.option("--keep", is_flag=True, help="Leave the stack up afterwards.")
@click.option(
    "--running",
    is_flag=True,
    help="Start and stop nothing: use a running stack, such as the containers of compose.yaml.",
)
@click.option("--start", type=TIME, help="Begin the stories then, UTC.  [default: they end now]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object at the end.")
@click.option("--live", "is_live", is_flag=True, help="Send this Linux machine's own counters, and show the answers.")
@click.option("--interval", "interval_s", type=click.IntRange(1, 3600), help="With --live, seconds per snapshot.  [2]")
@click.option("--seconds", type=click.IntRange(1), help="With --live, stop after this time.  [default: at Ctrl-C]")
@click.pass_context
def command(
    ctx: click.Context,
    keep: bool,
    running: bool,
    start: datetime | None,
    as_json: bool,
    is_live: bool,
    interval_s: int | None,
    seconds: int | None,
) -> None:
    """Send recordings and simulated stories through the whole line.

    Brings a stack up, prints the answers, and stops everything. The stories end now, so that boards show them when
    opened; the last lines link to each, with its time. A node_exporter on PATH is scraped, too. With --live, nmon
    records this machine until Ctrl-C.

    Exit status 1: a record was lost, or a result is incomplete.
    """
    if is_live:
        if running or start or as_json:
            raise click.UsageError("--running, --start and --json are of the stories, not of --live")
        from counterflow.cli._live import live

        live(interval_s or 2, seconds, keep=keep)
    elif interval_s or seconds:
        raise click.UsageError("--interval and --seconds need --live")
    else:
        _send_stories(ctx, keep, running, start, as_json)


def _send_stories(ctx: click.Context, keep: bool, running: bool, start: datetime | None, as_json: bool) -> None:
    from counterflow.base.logs import configure
    from counterflow.stack import lifecycle
    from counterflow.stack.settings import StackSettings

    configure(logging.WARNING)
    out = console(stderr=as_json)
    recordings = sorted(SAMPLES.glob("*.gz"))
    if not recordings:
        raise CounterflowError(f"no recordings in {SAMPLES}", hint="run the demo from a checkout")
    settings = StackSettings.running() if running else StackSettings.load()
    found = running or bool(lifecycle.status(settings))
    if not running:
        with out.status("starting the stack (the first start downloads it)"):
            lifecycle.up(settings, report=out.print)
    try:
        complete, outcome = _run(settings, recordings, start, out)
    finally:
        if not keep and not found:
            lifecycle.down(settings)
    again = "" if keep or found else "; `make up` starts the stack again"
    out.print(f"Next: `counterflow sql` lists questions, `counterflow sql cpu` answers one{again}", soft_wrap=True)
    out.print(f"The stories as a report: {Path(outcome['report']).as_uri()}", markup=False, soft_wrap=True)
    for one in outcome["stories"]:
        when = f"{one['begin']:%F %H:%M} to {one['end']:%H:%M} UTC"
        out.print(f"{one['case']}, {when}: {one.get('url', ', '.join(one['systems']))}", markup=False, soft_wrap=True)
    if as_json:
        write_json([outcome])
    ctx.exit(0 if complete and not outcome["lost"] else 1)


def _run(settings: Any, recordings: list[Path], start: datetime | None, out: Console) -> tuple[bool, dict[str, Any]]:
    from counterflow.analysis.queries import queries, run_stored
    from counterflow.collectors.agent.publish import publish_files
    from counterflow.connection.report import written
    from counterflow.schemas.definition import datasets
    from counterflow.stack.account import wait_computed, wait_judged, wait_landed

    agent_id = f"demo-{secrets.token_hex(4)}"
    published, rejects = 0, Counter[str]()
    with TemporaryDirectory(prefix="counterflow-") as folder:
        # Some recordings are of the same machine and time: the recording's name distinguishes them.
        inputs: list[Input] = [([path], _name(path)) for path in recordings]
        stories = simulate_stories(Path(folder), start)
        inputs += [one for story in stories for one in _inputs(story)]
        for paths, system in inputs:
            sent = publish_files(paths, kafka=settings.kafka("agent"), agent_id=agent_id, system=system)
            published += sum(sent.records.values())
            rejects.update(sent.rejects)
    systems = [system for _, system in inputs if system]
    with settings.clickhouse("reader") as client:
        with out.status("landing"):
            landed = wait_landed(client, agent_id, published)
        with out.status("computing"):
            pending = wait_computed(client, agent_id) + wait_judged(client, agent_id)
        results = {name: _count(client, name, systems) for name, of in datasets().items() if of.role == "result"}
        recorded = [_name(path) for path in recordings]
        questions = {"busiest_disks": recorded, "cpu_by_command": recorded}
        questions |= {story.question: [story.system] for story in STORIES if story.question}
        answers = [(queries()[name], run_stored(client, queries()[name], whose)) for name, whose in questions.items()]
        with out.status("scraping node_exporter"):
            scraped = scrape(settings, client, f"{agent_id}-scrape")
        with out.status("writing the report"):
            page = written(client, report(client, stories), (), settings.home / "demo").page
    out.print()
    for path in recordings:
        out.print(f"  {path.name}{f'  {GENERATED}' if 'generated' in path.name else ''}")
    for story in STORIES:
        out.print(f"  {story.case}: {story.title}  {GENERATED}", soft_wrap=True)
    out.print(
        f"\n  read {published:,} records from {len(recordings)} recordings and the stories; "
        f"{sum(rejects.values())} anomalies repaired or rejected {_reasons(rejects)}\n"
        f"  published {landed.acked:,}   landed {landed.landed:,}   dead letters {landed.deadletter:,}   "
        f"[bold]lost {landed.lost}   repeated {landed.repeated}[/bold]\n"
    )
    of_stories = {story.question for story in STORIES}
    for query, rows in answers:
        out.print(table(rows, title=query.question + ("  (generated)" if query.name in of_stories else "")))
        out.print()
    _show_scraped(out, scraped)
    if pending:
        out.print(f"[red]{pending} intervals have no complete result[/red]")
    shown = [{"case": one.story.case, "begin": one.begin, "end": one.end, "systems": one.systems} for one in stories]
    for one, (_, url) in zip(shown, links(stories, settings) if settings.grafana else (), strict=False):
        one["url"] = url
    made = {
        "results": results,
        "answers": {query.name: rows for query, rows in answers},
        "report": str(page),
        "stories": shown,
        "scraped": {"landed": scraped.account.landed, "lost": scraped.account.lost} if scraped else None,
    }
    counts = {name: getattr(landed, name) for name in ("landed", "deadletter", "lost", "repeated")}
    complete = pending == 0 and not (scraped and scraped.account.lost)
    return complete, {"published": published, **counts, **made}


def _show_scraped(out: Console, scraped: Scraped | None) -> None:
    if scraped is None:
        out.print(f"nothing was scraped: PATH has no {PROGRAM}, which `make node_exporter` fetches\n", soft_wrap=True)
        return
    account = scraped.account
    out.print(
        f"  scraped node_exporter of this machine at {scraped.address}: published {account.acked:,}   "
        f"landed {account.landed:,}   [bold]lost {account.lost}[/bold]\n",
        soft_wrap=True,
    )
    out.print(table(scraped.rows, title="How busy were this machine's processors while it was scraped?"))
    out.print()


def _name(recording: Path) -> str:
    return recording.name.partition(".")[0]


def _inputs(one: Simulated) -> list[Input]:
    """Return the files of a story, grouped by system."""
    files = one.simulation.files
    systems = dict.fromkeys(written.system for written in files)
    return [([written.path for written in files if written.system == system], system) for system in systems]


def _count(client: ClickHouse, dataset: str, systems: list[str]) -> int:
    names = ", ".join(f"'{system}'" for system in systems)
    return int(client.rows(f"SELECT count() AS n FROM counterflow.{dataset} FINAL WHERE system IN ({names})")[0]["n"])


def _reasons(rejects: Mapping[str, int]) -> str:
    return "(" + ", ".join(f"{reason} {n}" for reason, n in sorted(rejects.items())) + ")" if rejects else ""
