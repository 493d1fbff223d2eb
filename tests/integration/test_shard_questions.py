"""Every stored question on two shards, two real engines, has the answer of one server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import orjson
import pytest

from counterflow.analysis.queries import BEGINNING, END, queries
from counterflow.base.clickhouse import ClickHouse
from counterflow.schemas.definition import datasets
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
    """The same rows on one server and on two shards, a system on each; asked as the user who may only read."""
    with ExitStack() as opened:
        shards = opened.enter_context(two_shards(tmp_path_factory.mktemp("shards"), clickhouse.parts))
        one, first, second, of_one, of_two = map(
            opened.enter_context,
            [clickhouse.clickhouse("admin"), shards.a.client(), shards.b.client(),
             clickhouse.clickhouse("reader"), shards.b.client("reader")],
        )  # fmt: skip
        one.post("DROP DATABASE IF EXISTS counterflow SYNC")
        migrate(one)
        for dataset in datasets().values():
            for system, shard in (("all", first), ("nothing", second)):
                rows = [*rows_of(dataset, system, nulls=system == "nothing")]
                insert(one, dataset.dataset, *rows)
                insert(shard, dataset.dataset, *rows, database=LOCAL)
        yield of_one, of_two
        one.post("DROP DATABASE IF EXISTS counterflow SYNC")


def asked(client: ClickHouse, sql: str) -> list[list[Any]]:
    """Return the rows in an order of their own; the time of landing is another on each server."""
    parameters = {"param_systems": [], "param_since": BEGINNING, "param_until": END}
    answer = orjson.loads(client.post(sql, settings={**parameters, "default_format": "JSONCompact"}))
    names = [column["name"] for column in answer["meta"]]
    kept = [place for place, name in enumerate(names) if not re.search("landed|arriv|delay|age_s", name)]
    return sorted(([row[place] for place in kept] for row in answer["data"]), key=repr)


@pytest.mark.parametrize("name", queries())
def test_a_question_has_the_answer_of_one_server(answers: tuple[ClickHouse, ClickHouse], name: str) -> None:
    of_one, of_two = answers
    assert asked(of_two, queries()[name].sql) == asked(of_one, queries()[name].sql)


def test_each_system_is_on_a_shard_of_its_own(answers: tuple[ClickHouse, ClickHouse]) -> None:
    """That the comparison above compares something: each system's rows come from another server."""
    _, of_two = answers
    sql = "SELECT DISTINCT system, _shard_num AS shard FROM counterflow.disk FINAL ORDER BY system"
    assert of_two.rows(sql) == [{"system": "all", "shard": 1}, {"system": "nothing", "shard": 2}]
