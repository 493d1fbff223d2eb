"""The client of ClickHouse against a real server."""

from __future__ import annotations

from counterflow.stack.settings import StackSettings

NAMES = [f"system \\' {number:08d}" for number in range(60_000)]
"""More than 1 MB of names."""


def test_a_list_of_a_megabyte_is_a_parameter(clickhouse: StackSettings) -> None:
    sql = "SELECT length({names:Array(String)}) AS n, {names:Array(String)}[-1] AS last"
    with clickhouse.clickhouse("reader") as reader:
        assert reader.rows(sql, {"param_names": NAMES}) == [{"n": len(NAMES), "last": NAMES[-1]}]
        with reader.stream("SELECT length({names:Array(String)}) FORMAT TSV", {"param_names": NAMES}) as (_, pieces):
            assert b"".join(pieces) == b"60000\n"


def test_a_long_statement_and_settings_are_taken(clickhouse: StackSettings) -> None:
    with clickhouse.clickhouse("reader") as reader:
        sql = f"SELECT {{x:String}} AS x, getSetting('max_threads') AS threads /* {'long ' * 40_000} */"
        assert reader.rows(sql, {"param_x": "a\tb\n", "max_threads": 1}) == [{"x": "a\tb\n", "threads": 1}]
