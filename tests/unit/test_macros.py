"""What the macros and variables of Grafana become: as in the plugin's own tests and documentation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from counterflow.dashboards.macros import ALL, All, Range, bucket_s, expand

BEGIN, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 6, tzinfo=UTC)  # 1767225600, 1767247200
SHOWN = Range(BEGIN, END, 300)


@pytest.mark.parametrize(
    ("written", "run"),
    [
        ("$__timeFilter(ts)", "ts >= toDateTime(1767225600) AND ts <= toDateTime(1767247200)"),
        ("$__timeFilter(max(ts))", "max(ts) >= toDateTime(1767225600) AND max(ts) <= toDateTime(1767247200)"),
        (
            "$__timeInterval(ts - 1) + $__interval_s",
            "toStartOfInterval(toDateTime(ts - 1), INTERVAL 300 second) + 300",
        ),
        (  # a comma outside of inner brackets would be a second argument; this one is inside
            "$__timeInterval(toDateTime(minute, 'UTC'))",
            "toStartOfInterval(toDateTime(toDateTime(minute, 'UTC')), INTERVAL 300 second)",
        ),
        ("ts > $__fromTime AND ts <= $__toTime", "ts > toDateTime(1767225600) AND ts <= toDateTime(1767247200)"),
        ("system IN (${system:singlequote})", "system IN ('PROD','it\\'s')"),
        ("${grouping:raw}", "job"),
        ("$__conditionalAll(job IN (${job:singlequote}), $job)", "1=1"),
        ("$__conditionalAll(job IN (${system:singlequote}), $system)", "job IN ('PROD','it\\'s')"),
        ("$__conditionalAll(f(a, b) IN (${system:singlequote}), ${system})", "f(a, b) IN ('PROD','it\\'s')"),
        ("'costs $5'", "'costs $5'"),
    ],
)
def test_what_is_written_and_what_is_run(written: str, run: str) -> None:
    variables = {"system": ["PROD", "it's"], "grouping": "job", "job": ALL}
    assert expand(written, SHOWN, variables) == run


def test_all_is_every_option_where_it_is_listed_and_no_condition_where_that_is_requested() -> None:
    sql = "${system:singlequote} $__conditionalAll(job IN (${system:singlequote}), $system)"
    assert expand(sql, SHOWN, {"system": All(["A", "B"])}) == "'A','B' 1=1"
    assert expand("${system:singlequote}", SHOWN, {"system": All()}) == "''", "no options: Grafana's value is empty"


@pytest.mark.parametrize("name", ["\\'; DROP TABLE x --", "$__toTime", "${other}", "$job", "\\", "\n\t\x00", "<b>"])
def test_a_name_from_the_data_stays_one_string(name: str) -> None:
    quoted = expand("${system:singlequote}", SHOWN, {"system": [name]})
    assert quoted[0] == quoted[-1] == "'"
    assert quoted[1:-1].replace("\\'", "'").replace("\\\\", "\\") == name
    assert "'" not in quoted[1:-1].replace("\\\\", "").replace("\\'", "")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("system = $system", "write ${system:singlequote}, not $system"),
        ("system = ${system}", "write ${system:singlequote}, not ${system}"),
        ("system = ${system:csv}", "write ${system:singlequote}"),
        ("${nobody:singlequote}", "nobody"),
        ("$__timeGroup(ts)", "$__timeGroup is no macro that is known here"),
        ("$__timeFilter(ts", "no closing bracket"),
        ("$__timeFilter(a, b)", "takes 1 arguments, not 2"),
    ],
)
def test_what_is_not_understood_is_named(sql: str, expected: str) -> None:
    with pytest.raises(KeyError) as refused:
        expand(sql, SHOWN, {"system": "A"})
    assert expected in refused.value.args[0]


@pytest.mark.parametrize(
    ("range_", "least_s", "seconds"),
    [
        (timedelta(hours=6), 1, 60),  # 54 s
        (timedelta(hours=6), 900, 900),
        (timedelta(hours=24), 15, 300),  # 216 s
        (timedelta(days=30), 900, 7200),  # 6,480 s
        (timedelta(days=365), 60, 43_200),  # 78,840 s
        (timedelta(0), 60, 60),
        (timedelta(days=365 * 50), 60, 31_536_000),  # 3,942,000 s
    ],
)
def test_buckets_are_round(range_: timedelta, least_s: int, seconds: int) -> None:
    assert bucket_s(BEGIN, BEGIN + range_, least_s=least_s) == seconds
