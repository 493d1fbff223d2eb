"""Every stored question, chart, audit and study on two shards, two real engines, has the answer of one server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import orjson
import pytest

from counterflow.analysis.queries import BEGINNING, END, queries
from counterflow.analysis.studies import stored
from counterflow.base.clickhouse import ClickHouse
from counterflow.cli._reader import period
from counterflow.dashboards.definition import Chart, charts, variables
from counterflow.dashboards.macros import Range, expand
from counterflow.pipelines.audit.results import audited, compare
from counterflow.pipelines.landing.rollups import refresh
from counterflow.schemas.definition import published
from counterflow.schemas.migrations import migrate
from counterflow.schemas.sharding import LOCAL
from counterflow.stack.settings import StackSettings
from tests.support.everything import rows_of
from tests.support.shards import two_shards
from tests.support.tables import insert


@pytest.fixture(scope="module")
def answers(
    clickhouse: StackSettings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ClickHouse, ClickHouse]]:
    """The same rows on one server and on two shards, a system on each; queried as the user who may only read."""
    with ExitStack() as opened:
        shards = opened.enter_context(two_shards(tmp_path_factory.mktemp("shards"), clickhouse.parts))
        one, first, second, of_one, of_two = map(
            opened.enter_context,
            [clickhouse.clickhouse("admin"), shards.a.client(), shards.b.client(),
             clickhouse.clickhouse("reader"), shards.b.client("reader")],
        )  # fmt: skip
        one.post("DROP DATABASE IF EXISTS counterflow SYNC")
        migrate(one)
        for dataset in published().values():
            for system, shard in (("all", first), ("nothing", second)):
                rows = [row | LANDED for row in rows_of(dataset, system, nulls=system == "nothing")]
                insert(one, dataset.dataset, *rows)
                insert(shard, dataset.dataset, *rows, database=LOCAL)
        refresh(one)
        for shard in (first, second):
            refresh(shard, LOCAL)
        yield of_one, of_two
        one.post("DROP DATABASE IF EXISTS counterflow SYNC")


MORNING, NOON = datetime(2026, 5, 4, 6, tzinfo=UTC), datetime(2026, 5, 4, 12, tzinfo=UTC)
"""Around the times of the rows."""
LANDED = {"landed_at": "2026-05-04T10:30:05Z"}
"""On both sides alike: the clock moves on from one insert to the next."""
EVERYTHING: dict[str, Any] = {"param_systems": [], "param_since": BEGINNING, "param_until": END}


def comparable(client: ClickHouse, sql: str, parameters: Mapping[str, Any] = EVERYTHING) -> list[list[Any]]:
    """Return the rows, sorted, without the columns that depend on the current time or on times of arrival.

    The column of a mean delay has a name without `delay`; its statement contains the word.
    """
    of_delays = "|mean$" if "delay_s" in sql else ""
    answer = orjson.loads(client.post(sql, settings={**parameters, "default_format": "JSONCompact"}))
    names = [column["name"] for column in answer["meta"]]
    kept = [
        place
        for place, name in enumerate(names)
        if not re.search(f"(?i)landed|delay|longest$|age_s|to_ms{of_delays}", name)
    ]
    return sorted(([row[place] for place in kept] for row in answer["data"]), key=repr)


@pytest.mark.parametrize("name", queries())
def test_a_question_has_the_answer_of_one_server(answers: tuple[ClickHouse, ClickHouse], name: str) -> None:
    of_one, of_two = answers
    assert comparable(of_two, queries()[name].sql) == comparable(of_one, queries()[name].sql)


def test_each_system_is_on_a_shard_of_its_own(answers: tuple[ClickHouse, ClickHouse]) -> None:
    """The comparison above compares something: each system's rows come from another server."""
    _, of_two = answers
    sql = "SELECT DISTINCT system, _shard_num AS shard FROM counterflow.disk FINAL ORDER BY system"
    assert of_two.rows(sql) == [{"system": "all", "shard": 1}, {"system": "nothing", "shard": 2}]


def drawn(chart: Chart) -> str:
    """Return the query of a chart over both systems."""
    chosen: dict[str, str | tuple[str, ...]] = {}
    for name in chart.variables:
        variable = variables()[name]
        one = {"log": "all / one", "workload": "all / one", "metric": "disk.busy_pct"}.get(name, "one")
        many = ("all", "nothing") if name == "system" else (one,)
        chosen[name] = variable.values[0] if variable.values else many if variable.multi else one
    return expand(chart.query, Range(MORNING, NOON, 900), chosen)


@pytest.fixture(scope="module")
def of_charts(answers: tuple[ClickHouse, ClickHouse]) -> Callable[[str], list[list[Any]]]:
    """Return the rows of a chart, by its name, on two shards; each chart is queried once."""
    return cache(lambda name: comparable(answers[1], drawn(charts()[name])))


@pytest.mark.parametrize("name", charts())
def test_a_chart_has_the_answer_of_one_server(
    answers: tuple[ClickHouse, ClickHouse], of_charts: Callable[[str], list[list[Any]]], name: str
) -> None:
    of_one, _ = answers
    assert of_charts(name) == comparable(of_one, drawn(charts()[name]))


def test_half_of_the_charts_have_something_to_draw(of_charts: Callable[[str], list[list[Any]]]) -> None:
    """The comparison above compares something; the others draw counters of a name that the rows do not have."""
    filled = list(filter(of_charts, charts()))
    assert 2 * len(filled) > len(charts()), sorted(charts().keys() - filled)


@pytest.mark.parametrize("dataset", audited())
def test_an_audit_has_the_outcome_of_one_server(answers: tuple[ClickHouse, ClickHouse], dataset: str) -> None:
    """The rows were made up, so stored results differ from recomputed ones: on both alike."""
    of_one, of_two = (
        compare(client, dataset, MORNING, NOON, datetime.now(UTC) + timedelta(days=1)) for client in answers
    )
    assert of_two == of_one
    assert of_one.checked > 0


@pytest.mark.parametrize("name", stored.queries())
def test_a_study_has_the_rows_of_one_server(answers: tuple[ClickHouse, ClickHouse], name: str) -> None:
    of_one, of_two = answers
    parameters = {"param_run": "one"} if name in stored.OF_A_NAME else period(["all", "nothing"], MORNING, NOON)
    sql = stored.queries()[name]
    assert comparable(of_two, sql, parameters) == comparable(of_one, sql, parameters)
