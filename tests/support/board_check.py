"""Checks of dashboards without Grafana: every query runs as Grafana would run it, and its result is judged.

`python -m tests.support.board_check` checks those of the running stack, and prints a JSON line for each that is not ok.

A query runs over six hours up to the newest record of a day, with one system, with all, and with every value of a list;
and, as Grafana sends it, over thirty days with all. Where no run returns rows, the query runs over all data.

Awkward names and a time without data: tests/integration/test_chart_input.py. Metrics of Prometheus:
tests/unit/test_alerts.py and test_dashboards.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from itertools import chain
from typing import Literal, NamedTuple

import orjson

from counterflow.base.clickhouse import ClickHouse, ClickHouseError
from counterflow.cli._reader import reader
from counterflow.dashboards import alerting
from counterflow.dashboards.annotations import drawn_over
from counterflow.dashboards.definition import boards, charts, variable_of, variables, variables_of
from counterflow.dashboards.frames import Result, fetch
from counterflow.dashboards.macros import Range, bucket_s, expand
from counterflow.dashboards.report.collect import Scope, Values
from counterflow.dashboards.report.figures import points
from counterflow.dashboards.statement import statement
from tests.support.shapes import legend, problems

SHORT, LONG = timedelta(hours=6), timedelta(days=30)
MOST_TRIED = 20
"""The most days, and the most options, that are tried in turn until one has rows."""


class CheckFinding(NamedTuple):
    """The outcome of checking one thing.

    Parameters
    ----------
    boards : uids of the boards that it is on.
    thing : `panel`, `variable`, `annotation` or `alert`.
    name : of the chart, the variable, the alert.
    state : `ok`; `empty`, its queries run but return no rows; `error`.
    rows : the most that a query returned.
    problems : each mistake with its remedy.
    sql : the statement of the first problem, as it was sent.
    """

    boards: tuple[str, ...]
    thing: str
    name: str
    state: Literal["ok", "empty", "error"]
    rows: int = 0
    problems: tuple[str, ...] = ()
    sql: str = ""


class _CheckedQuery(NamedTuple):
    """A query and how its results are judged; `least_s` is its shortest bucket, `sent` the SQL that Grafana sends.

    Without `rows_expected`, an empty result is good news: no alert, no verdict, no refused record.
    """

    finding: CheckFinding
    sql: str
    rows: Callable[[Result], int]
    judge: Callable[[Result], Iterable[str]]
    least_s: int = 1
    rows_expected: bool = True
    sent: str = ""
    over_time: bool = False


def check(client: ClickHouse) -> list[CheckFinding]:
    """Return the findings of every panel, variable, annotation and alert whose SQL it runs.

    Raises
    ------
    httpx.TransportError : the server does not answer.
    """
    to_judge = list(chain(_panels(), _variables(), _annotations(), _alerts()))
    server = _Server(client)
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(server.judge, to_judge))


def _boards_of(names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the uids of the boards that each chart is on, without charts that are on none."""
    on = {name: tuple(uid for uid, board in boards().items() if name in board.drawings) for name in names}
    return {name: uids for name, uids in on.items() if uids}


def _panels() -> Iterator[_CheckedQuery]:
    for name, uids in _boards_of(charts()).items():
        chart = charts()[name]
        finding = CheckFinding(uids, "panel", name, "ok")
        counted, judged = partial(points, chart), partial(problems, chart)
        sent, least_s = statement(chart), 1 if chart.usual_s else chart.interval_s
        yield _CheckedQuery(finding, chart.query, counted, judged, least_s, not chart.quiet, sent, chart.over_time)


def _variables() -> Iterator[_CheckedQuery]:
    on: dict[tuple[str, str], list[str]] = {}
    for uid, board in boards().items():
        for name in board.variables:
            if sql := variable_of(board, name).sql:
                on.setdefault((name, sql), []).append(uid)
    for (name, sql), uids in on.items():
        yield _CheckedQuery(CheckFinding(tuple(uids), "variable", name, "ok"), sql, _count, _options)


def _options(result: Result) -> Iterator[str]:
    if len(result.columns) > 2 or any(column.kind != "text" for column in result.columns):
        yield "a variable gives one text column, or two, value and text"
    if len({row[0] for row in result.rows}) < len(result.rows):
        yield "an option is there twice: SELECT DISTINCT"


def _annotations() -> Iterator[_CheckedQuery]:
    statements: dict[tuple[str, str], list[str]] = {}
    for uid, board in boards().items():
        for name, one in drawn_over(board).items() if board.verdicts else ():
            statements.setdefault((name, one.sql), []).append(uid)
    for (name, sql), uids in statements.items():
        yield _CheckedQuery(
            CheckFinding(tuple(uids), "annotation", name, "ok"), sql, _count, _note, rows_expected=False
        )


def _note(result: Result) -> Iterator[str]:
    kinds = {column.name: column.kind for column in result.columns}
    wanted = {"time": "time", "timeEnd": "time", "text": "text", "title": "text", "tags": "text"}
    if kinds != wanted:
        yield f"an annotation gives {', '.join(wanted)}, not {', '.join(kinds)}"


def _alerts() -> Iterator[_CheckedQuery]:
    for rule in chain.from_iterable(group["rules"] for group in alerting.grafana()["groups"]):
        for sql in filter(None, (query["model"].get("rawSql") for query in rule["data"])):
            yield _CheckedQuery(
                CheckFinding((), "alert", rule["uid"], "ok"), sql, _count, _condition, rows_expected=False
            )


def _condition(result: Result) -> Iterator[str]:
    kinds = [column.kind for column in result.columns]
    if kinds.count("number") != 1 or {*kinds} - {"number", "text"}:
        yield "an alert's query returns one number, and texts as its labels: no time, nothing else"
    if any(column.type.endswith("Bool") for column in result.columns):
        yield "a Bool is no label of an alert: toString(...)"


def _nothing(_: Result) -> Iterator[str]:
    yield from ()


def _count(result: Result) -> int:
    return len(result.rows)


class _Server:
    """Queries a server about the times that have data; the options of variables are cached by range."""

    def __init__(self, client: ClickHouse) -> None:
        self._client = client
        self._scopes: dict[Range, Scope] = {}

    @cached_property
    def _days(self) -> list[tuple[datetime, datetime]]:
        """The first and last instant of each day that has data, the newest first; of none, the present time."""
        ends = "toUnixTimestamp(min(ts)), toUnixTimestamp(max(ts)) + 1"
        by_day = f"SELECT {ends} FROM counterflow.manifest GROUP BY toDate(ts, 'UTC') ORDER BY max(ts) DESC"
        rows = fetch(self._client, by_day).rows
        days = [(datetime.fromtimestamp(begin, UTC), datetime.fromtimestamp(end, UTC)) for begin, end in rows]
        return days or [(datetime.now(UTC), datetime.now(UTC))]

    def judge(self, query: _CheckedQuery) -> CheckFinding:
        """Run a query for all ranges and choices, up to the first that is wrong."""
        finding, names = query.finding, sorted(variables_of(query.sql))
        try:
            for _, end in self._days[:MOST_TRIED]:
                shown = _range(query, end, SHORT)
                finding = self._run(finding, query, shown)
                if finding.rows or finding.state == "error":
                    break
            if query.sent and query.sent != query.sql:
                drawn = query._replace(sql=query.sent, rows=_count, judge=legend if query.over_time else _nothing)
                finding = self._run(finding, drawn, _range(query, end, LONG))._replace(rows=finding.rows)
            else:
                finding = self._run(finding, query, _range(query, end, LONG))
            if names:
                finding = self._run(finding, query, shown, self._one(names, shown))
            for name in names:
                for value in variables()[name].values[1:]:
                    finding = self._run(finding, query, shown, {name: value})
            if not finding.rows:
                begin, end = min(begin for begin, _ in self._days), self._days[0][1]
                shown = _range(query, end, end - begin)
                for chosen in self._in_turn(names, shown):
                    finding = self._run(finding, query, shown, chosen)
                    if finding.rows:
                        break
        except ClickHouseError as error:  # raised by a query before the one to be judged
            return query.finding._replace(state="error", problems=(_refusal(error),))
        empty = query.rows_expected and finding.state == "ok" and not finding.rows
        return finding._replace(state="empty") if empty else finding

    def _run(
        self, finding: CheckFinding, query: _CheckedQuery, shown: Range, chosen: Values | None = None
    ) -> CheckFinding:
        """Return the finding with the outcome of one run; unchanged where it is an error already."""
        if finding.state == "error":
            return finding
        try:
            sql = expand(query.sql, shown, {**self._scope(shown).values(query.sql), **(chosen or {})})
        except KeyError as error:
            return finding._replace(state="error", problems=(str(error.args[0]),), sql=query.sql)
        try:
            result = fetch(self._client, sql)
        except ClickHouseError as error:
            return finding._replace(state="error", problems=(_refusal(error),), sql=sql)
        wrong = tuple(dict.fromkeys(query.judge(result)))
        return finding._replace(
            state="error" if wrong else "ok",
            rows=max(query.rows(result), finding.rows),
            problems=wrong,
            sql=sql if wrong else "",
        )

    def _one(self, names: Iterable[str], shown: Range) -> Values:
        """Return one system, one of each list, and the instant that a link fills in as clicked."""
        known = {name: variables()[name] for name in names}
        lists = {name: self._scope(shown).options(name)[:1] for name, variable in known.items() if variable.multi}
        clicked = str(int(shown.end.timestamp()) * 1000)
        return {**lists, **{name: clicked for name, variable in known.items() if variable.hidden}}

    def _in_turn(self, names: Iterable[str], shown: Range) -> Iterator[dict[str, str]]:
        """Yield the first options of variables with a single choice, then their second ones, up to `MOST_TRIED`."""
        single = [name for name in names if variables()[name].sql and not variables()[name].multi]
        listed = {name: options for name in single if (options := self._scope(shown).options(name))}
        for at in range(min(MOST_TRIED, max([1, *map(len, listed.values())]))):
            yield {name: options[min(at, len(options) - 1)] for name, options in listed.items()}

    def _scope(self, shown: Range) -> Scope:
        return self._scopes.setdefault(shown, Scope(self._client, shown, (), {}))


def _range(query: _CheckedQuery, end: datetime, length: timedelta) -> Range:
    return Range(end - length, end, bucket_s(end - length, end, least_s=query.least_s))


def _refusal(error: ClickHouseError) -> str:
    """Return the first sentence of a refusal; the statement that it repeats is cut off."""
    text = str(error).removeprefix(f"Code: {error.code}. DB::Exception: ").split(". (")[0].split(" in scope ")[0]
    way_out = {60: "counterflow dev migrate", 497: "the user `reader` may read counterflow.* alone"}.get(error.code)
    return f"{text[:300]}: {way_out}" if way_out else text[:300]


def main() -> int:
    """Print what is wrong or empty on the stack; return 1 where anything is wrong."""
    with reader() as client:
        found = [one for one in check(client) if one.state != "ok"]
    for one in found:
        print(orjson.dumps(one._asdict()).decode())
    return int(any(one.state == "error" for one in found))


if __name__ == "__main__":
    sys.exit(main())
