"""Judges intervals by a rule again, each entity from a cold start: lines of a file, or what is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.pipelines.jobs import all_jobs
from counterflow.pipelines.rules import Rule, Verdict

AnyRule = Rule[Any, Any, Any]


class Given(NamedTuple):
    """One interval: the judged entity, the interval as the rule reads it, and the columns printed beside a verdict."""

    entity: tuple[str, ...]
    interval: Any
    shown: dict[str, Any]


def read_lines(rule: AnyRule, name: str, lines: Iterable[bytes]) -> Iterator[Given]:
    """Read JSON lines of the file `name`; blank ones are skipped.

    Raises
    ------
    CounterflowError : names the line that is no interval, and what was expected; exit code 2.
    """
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        place = f"{name}:{number}"
        try:
            columns = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise CounterflowError(f"{place}: expected a JSON object, found {error}", exit_code=2) from None
        if not isinstance(columns, dict):
            raise CounterflowError(f"{place}: expected a JSON object, found {line[:80]!r}", exit_code=2)
        yield _given(rule, columns, place)


def read_stored(rule: AnyRule, client: ClickHouse, begin: datetime, end: datetime) -> list[Given]:
    """Return the rows that the rule's job judges, in order of time; columns are named as in the JSON lines."""
    order = ", ".join(("ts", *rule.entity, *([rule.kind] if rule.kind else [])))
    statement = f"SELECT * FROM ({all_jobs()[rule.name].batch}) ORDER BY {order}"
    times = {
        f"param_{name}": f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
        for name, moment in (("from", begin), ("to", end))
    }
    rows = client.rows(statement, {**times, "date_time_output_format": "iso"})
    return [_given(rule, columns, f"counterflow.{rule.dataset}, {columns['ts']}") for columns in rows]


def _given(rule: AnyRule, columns: dict[str, Any], place: str) -> Given:
    try:
        shown = {column: columns.get(column) for column in ("ts", *rule.entity)}
        return Given(rule.entity_of(columns), rule.interval(columns), shown)
    except ValueError as error:
        raise CounterflowError(f"{place}: {error}", hint="fix or remove it", exit_code=2) from None


def verdicts(rule: AnyRule, parameters: Any, rows: Iterable[Given]) -> Iterator[tuple[Given, Verdict]]:
    """Yield each interval with the verdict on it."""
    states: dict[tuple[str, ...], Any] = {}
    for row in rows:
        states[row.entity], verdict = rule.judge(parameters, states.get(row.entity, rule.start), row.interval)
        yield row, verdict


def replayed(rule: AnyRule, parameters: Any, rows: Iterable[Given]) -> Iterator[dict[str, Any]]:
    """Yield the columns to print of each interval, those of its verdict among them."""
    for row, verdict in verdicts(rule, parameters, rows):
        shown = row.shown
        shown["state"], shown["signal"], shown["stale"], shown["reason"], _ = verdict
        yield shown


def raised(rule: AnyRule, parameters: Any, rows: Iterable[Given]) -> Iterator[Given]:
    """Yield the intervals in whose state the limit was hit."""
    return (row for row, verdict in verdicts(rule, parameters, rows) if verdict.state in rule.alarms)
