"""`counterflow checkup`: checks counters and stated facts against published rules."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from counterflow.base.errors import CounterflowError
from counterflow.cli._reader import command_line, on_option, period, period_options, reader, require
from counterflow.cli._table import console, table

if TYPE_CHECKING:
    from counterflow.analysis.checks.report import Result


@click.command()
@on_option
@period_options
@click.option(
    "--facts", "facts_file", type=click.Path(path_type=Path), help="Facts that no counter provides: YAML or JSON."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per check and subject, one a line.")
@click.pass_context
def command(
    ctx: click.Context,
    systems: tuple[str, ...],
    begin: datetime | None,
    end: datetime | None,
    facts_file: Path | None,
    as_json: bool,
) -> None:
    """Check systems against published rules: pass, warn, or the missing input.

    Choose a representative period, such as a busy hour: rates are its means unless they are called busiest.
    docs/checkup.md lists the checks and the facts. Exit status 0: no warning; 1: a warning; 2: not checked.
    """
    from counterflow.analysis.checks.facts import load
    from counterflow.analysis.checks.report import measured, results, with_facts

    facts = load(facts_file) if facts_file else None
    with reader() as client:
        require(client, () if facts else systems)
        inputs = measured(client, period(systems, begin, end))
    found = list(results(with_facts(inputs, facts, systems)))
    if not found:
        raise CounterflowError(
            "nothing to check: no IBM i counters of these systems in that period, and no facts about them",
            hint=command_line("sql 'SELECT system, max(ts) FROM counterflow.pool GROUP BY system'"),
            exit_code=2,
        )
    if as_json:
        sys.stdout.buffer.writelines(orjson.dumps(r._asdict(), option=orjson.OPT_APPEND_NEWLINE) for r in found)
    else:
        _print(found)
    ctx.exit(1 if any(result.status == "warn" for result in found) else 0)


def _print(found: Sequence[Result]) -> None:
    out = console()
    for system in dict.fromkeys(result.system for result in found):
        for status in ("needs input", "pass", "warn"):
            of = [result for result in found if (result.system, result.status) == (system, status)]
            rows = list(_needs(of)) if status == "needs input" else [_row(result) for result in of]
            if rows:
                out.print(table(rows, f"{system}, {status}: {len(of)}"))
                out.print()


def _row(result: Result) -> dict[str, Any]:
    measured, limit = (f"{_worded(value)} {result.unit}".rstrip() for value in (result.value, result.limit))
    row = {
        "check": result.check,
        "subject": result.subject,
        "measured": f"{measured} ({result.note})" if result.note else measured,
        "limit": f"{result.bound} {limit}",
        "from": ", ".join(dict.fromkeys(_origin(text) for text in result.inputs.values())),
        "rule": result.rule,
        "source": result.source,
    }
    return {**row, "advice": result.advice} if result.status == "warn" else row


def _origin(text: str) -> str:
    from counterflow.analysis.checks.report import FACTS

    return FACTS if text == FACTS else "config" if "`config`" in text else "counters"


def _needs(found: Iterable[Result]) -> Iterator[dict[str, Any]]:
    """Yield one row per missing input, since many checks and subjects lack the same one."""
    lacking: dict[tuple[str, str], list[Result]] = {}
    for result in found:
        for need in result.needs.items():
            lacking.setdefault(need, []).append(result)
    for (name, why), results in lacking.items():
        checks, subjects = (
            list(dict.fromkeys(names)) for names in zip(*((r.check, r.subject) for r in results), strict=True)
        )
        yield {"input": name, "which is": why, "checks": ", ".join(checks), "subjects": _some(subjects)}


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _worded(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
    return str(value)
