"""`counterflow audit`: is anything lost or wrong?"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from counterflow.base.errors import UNREACHED, CounterflowError
from counterflow.cli._json import write_json
from counterflow.cli._reader import reader
from counterflow.cli._table import console, table
from counterflow.cli._times import TIME

if TYPE_CHECKING:
    from counterflow.pipelines.audit.records import Account
    from counterflow.pipelines.audit.results import AuditOutcome
    from counterflow.pipelines.audit.sample import Sampled


@click.command()
@click.option("--from", "begin", type=TIME, help="First interval end; UTC.  [default: a day before --to]")
@click.option("--to", "end", type=TIME, help="Up to, but excluding, this one.  [default: the last full hour]")
@click.option(
    "--grace",
    "grace_s",
    metavar="SECONDS",
    type=click.IntRange(0),
    default=300,
    show_default=True,
    help="A result that differs is pending if its input landed within this time: its job may still be at work.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
@click.pass_context
def command(
    ctx: click.Context,
    begin: datetime | None,
    end: datetime | None,
    grace_s: int,
    as_json: bool,
) -> None:
    """Compare acknowledged records and results with what is stored.

    Records: the audit looks up every record that an agent ever committed, by its `seq`, in the ledger of tables and
    dead letters; of a random sample of frames, it compares each row with its table. Results: those of the given period
    are recomputed from the counters that landed. What has not arrived yet is pending. What arrived again is repeated:
    it replaced itself, and no query counts it twice. Exit status 0: nothing is lost, missing or wrong; 1: something is;
    2: the audit failed.
    """
    from counterflow.pipelines.audit.results import audited, compare

    end = end or datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    begin = begin or end - timedelta(days=1)
    if end <= begin:
        raise click.BadParameter(f"{end} is not after {begin}", param_hint="--to")
    agents, sampled = _records()
    late = datetime.now(UTC) - timedelta(seconds=grace_s)
    with reader() as client:
        results = [compare(client, dataset, begin, end, late) for dataset in sorted(audited())]
    counts = _summary(agents, sampled, results)
    if as_json:
        details = {
            "agents": [agent._asdict() for agent in agents],
            "sample": [one._asdict() for one in sampled],
            "results": [
                {**result._asdict(), "differences": [found._asdict() for found in result.differences]}
                for result in results
            ],
        }
        write_json([{**counts, **details}])
    else:
        _print(agents, sampled, results, counts, begin, end)
    ctx.exit(1 if any(counts[name] for name in ("lost", "sample_missing", "results_wrong")) else 0)


def _records() -> tuple[list[Account], list[Sampled]]:
    """Account for every record, and compare a random sample of landed frames, from anywhere in the topics.

    Kafka is queried first and ClickHouse last: a record that moves in between is found in both, never in neither.
    """
    from confluent_kafka import KafkaException

    from counterflow.collectors.agent.checkpoint import committed
    from counterflow.pipelines.audit.records import accounts
    from counterflow.pipelines.audit.sample import compare, frames, landed
    from counterflow.pipelines.audit.under_way import under_way
    from counterflow.schemas.definition import datasets
    from counterflow.stack.settings import StackSettings

    kafka = StackSettings.running().kafka("reader")
    topics = [dataset.topic for dataset in datasets().values() if dataset.role == "counter"]
    try:
        acked = committed({**kafka.client, "log_level": 0, "error_cb": lambda _: None}, 10)
        behind = under_way(kafka, topics)
        found = frames(landed(kafka, topics, random.Random()))  # noqa: S311 - a sample
    except KafkaException as error:
        message = f"Kafka at {kafka.bootstrap}: {error.args[0].str()}"
        raise CounterflowError(message, hint=UNREACHED, exit_code=2) from None
    with reader() as client:
        sampled = [compare(client, dataset, sample) for dataset, sample in sorted(found.items())]
        return accounts(client, acked, behind), sampled


def _summary(agents: Sequence[Account], sampled: Sequence[Sampled], results: Sequence[AuditOutcome]) -> dict[str, int]:
    of_records = ("acked", "landed", "deadletter", "pending", "lost", "repeated")
    return {
        **{name: sum(getattr(agent, name) for agent in agents) for name in of_records},
        "sample_rows": sum(one.rows for one in sampled),
        "sample_missing": sum(one.missing for one in sampled),
        "results_checked": sum(result.checked for result in results),
        "results_wrong": sum(result.wrong for result in results),
        "results_pending": sum(result.pending for result in results),
    }


def _print(
    agents: Sequence[Account],
    sampled: Sequence[Sampled],
    results: Sequence[AuditOutcome],
    counts: dict[str, int],
    begin: datetime,
    end: datetime,
) -> None:
    from counterflow.pipelines.audit.results import NOT_AUDITED, audited

    out = console()
    if agents:
        out.print(table([agent._asdict() for agent in agents], "Records by agent"))
        out.print()
    if sampled:
        out.print(table([one._asdict() for one in sampled], "Rows of a sample of frames"))
        out.print()
    columns = ("dataset", "checked", "wrong", "missing", "pending")
    rows = [{name: getattr(result, name) for name in columns} for result in results]
    out.print(table(rows, f"Results, {begin:%F %T} to {end:%F %T} UTC"))
    if not counts["results_checked"] + counts["results_pending"]:
        out.print(
            "None was checked: no result is computed from counters of this period. `counterflow sql systems` lists the "
            "times that have counters; --from and --to choose a period.",
            soft_wrap=True,
        )
    differences = [(result.dataset, found) for result in results for found in result.differences]
    if differences:
        found: list[dict[str, Any]] = [
            {
                "dataset": dataset,
                "ts": difference.key["ts"],
                "of": " ".join(str(value) for name, value in difference.key.items() if name != "ts"),
                **{name: getattr(difference, name) for name in ("column", "stored", "recomputed")},
            }
            for dataset, difference in differences
        ]
        out.print()
        out.print(table(found, "First differences"))
        jobs = " ".join(sorted({audited()[result.dataset].name for result in results if result.wrong}))
        again = f"counterflow jobs rerun {jobs} --from {begin:%FT%T} --to {end:%FT%T}"
        out.print(f"Recompute them from what landed: {again}", soft_wrap=True, markup=False, highlight=False)
    out.print()
    for job, why in NOT_AUDITED.items():
        out.print(f"not audited: {job}: {why}", soft_wrap=True, markup=False)
    out.print(
        "\n" + "   ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items()), soft_wrap=True
    )
