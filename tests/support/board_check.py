"""Checks of dashboards without Grafana: every query runs as Grafana would run it, and its result is judged.

`python -m tests.support.board_check` checks those of the running stack, and prints a JSON line for each that is not ok.

A query runs over the last six hours that have data, with one system, with all, and with every value of a list; and, as
Grafana sends it, over thirty days with all. Where no run returns rows, the query runs over all data.

Awkward names and a time without data: tests/integration/test_chart_input.py. Metrics of Prometheus:
tests/unit/test_alerts.py and test_dashboards.py.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from typing import Literal, NamedTuple

import orjson

from counterflow.base.clickhouse import ClickHouse, ClickHouseError
from counterflow.cli._reader import reader
from counterflow.dashboards import alerting
from counterflow.dashboards.annotations import drawn_over
from counterflow.dashboards.definition import boards, charts, tables_of, variable_of, variables, variables_of
from counterflow.dashboards.frames import Column, Result, fetch
from counterflow.dashboards.macros import All, Range, bucket_s, expand
from counterflow.dashboards.report.figures import points
from counterflow.dashboards.statement import statement
from tests.support.shapes import legend, problems

SHORT, LONG = timedelta(hours=6), timedelta(days=30)
MOST_CHOSEN = 20
"""The most options chosen in turn until one has rows."""

Who = Literal["one", "all"]


class CheckFinding(NamedTuple):
    """The outcome of checking one thing.

    Parameters
    ----------
    boards : uids of the boards that it is on.
    thing : `panel`, `variable`, `annotation` or `alert`.
    name : of the chart, the variable, the alert.
    state : `ok`; `empty`, its queries run but return no rows; `error`.
    rows : the most that a query returned.
    seconds : the longest that a query took.
    problems : each mistake with its remedy.
    sql : the statement of the first problem, as it was sent.
    """

    boards: tuple[str, ...]
    thing: str
    name: str
    state: Literal["ok", "empty", "error"]
    rows: int = 0
    seconds: float = 0.0
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
    """Queries a server, and caches the spans of tables and the options of variables."""

    def __init__(self, client: ClickHouse) -> None:
        self._client = client
        self._times: dict[str, str] = {}
        self._spans: dict[str, tuple[datetime, datetime] | None] = {}
        self._listed: dict[tuple[str, Range], list[str]] = {}
        sql = "SELECT table, name, type FROM system.columns WHERE database = 'counterflow' ORDER BY table, name != 'ts'"
        for table, name, type_ in self._fetch(sql).rows:
            if Column(name, type_).kind == "time":
                self._times.setdefault(table, name)
        views = "SELECT name, as_select FROM system.tables WHERE database = 'counterflow' AND engine = 'View'"
        self._views = {str(name): str(text) for name, text in self._fetch(views).rows}

    def judge(self, query: _CheckedQuery) -> CheckFinding:
        """Run a query for all ranges and choices, up to the first that is wrong."""
        try:
            spans = [span for table in sorted(self._timed(query.sql)) if (span := self._span(table))]
            ends = sorted({end for _, end in spans}, reverse=True) or [datetime.now(UTC)]
            finding = query.finding
            for end in ends:  # that of the table with the latest rows; another one where that shows no rows
                finding = self._run(finding, query, _range(query, end, SHORT), "all")
                if finding.rows or finding.state == "error":
                    break
            if query.sent and query.sent != query.sql:
                drawn = query._replace(sql=query.sent, rows=_count, judge=legend if query.over_time else _nothing)
                finding = self._run(finding, drawn, _range(query, end, LONG), "all")._replace(rows=finding.rows)
            else:
                finding = self._run(finding, query, _range(query, end, LONG), "all")
            names = sorted(variables_of(query.sql))
            if names:
                finding = self._run(finding, query, _range(query, end, SHORT), "one")
            for name in names:
                for value in variables()[name].values[1:]:
                    finding = self._run(finding, query, _range(query, end, SHORT), "all", {name: value})
            if not finding.rows and spans:
                begin, end = min(begin for begin, _ in spans), max(ends)
                shown = _range(query, end, end - begin)
                for fixed in self._in_turn(names, shown):
                    finding = self._run(finding, query, shown, "all", fixed)
                    if finding.rows:
                        break
        except ClickHouseError as error:  # raised by a query before the one to be judged
            return query.finding._replace(state="error", problems=(_refusal(error),))
        empty = query.rows_expected and finding.state == "ok" and not finding.rows
        return finding._replace(state="empty") if empty else finding

    def _run(
        self,
        finding: CheckFinding,
        query: _CheckedQuery,
        shown: Range,
        who: Who,
        fixed: Mapping[str, str] | None = None,
    ) -> CheckFinding:
        """Return the finding with the outcome of one run; unchanged where it is an error already."""
        if finding.state == "error":
            return finding
        try:
            sql = expand(query.sql, shown, {**self._values(query.sql, shown, who), **(fixed or {})})
        except KeyError as error:
            return finding._replace(state="error", problems=(str(error.args[0]),), sql=query.sql)
        begin = time.monotonic()
        try:
            result = self._fetch(sql)
        except ClickHouseError as error:
            return finding._replace(state="error", problems=(_refusal(error),), sql=sql)
        took_s, rows = time.monotonic() - begin, query.rows(result)
        wrong = tuple(dict.fromkeys(query.judge(result)))
        return finding._replace(
            state="error" if wrong else "ok",
            rows=max(rows, finding.rows),
            seconds=round(max(took_s, finding.seconds), 3),
            problems=wrong,
            sql=sql if wrong else "",
        )

    def _in_turn(self, names: Iterable[str], shown: Range) -> Iterator[dict[str, str]]:
        """Yield the first options of variables with a single choice, then their second ones, up to `MOST_CHOSEN`."""
        known = {name: variables()[name] for name in names}
        listed = {name: self._options(name, v.sql, shown) for name, v in known.items() if v.sql and not v.multi}
        for at in range(min(MOST_CHOSEN, max([1, *map(len, listed.values())]))):
            yield {name: options[min(at, len(options) - 1)] for name, options in listed.items() if options}

    def _values(self, sql: str, shown: Range, who: Who) -> dict[str, str | Sequence[str]]:
        """Return the chosen values of the variables in a statement."""
        return {name: self._value(name, shown, who) for name in variables_of(sql)}

    def _value(self, name: str, shown: Range, who: Who) -> str | Sequence[str]:
        variable = variables()[name]
        if variable.values:
            return variable.values[0]
        if not variable.sql:  # a hidden text, which a link fills with the instant clicked
            return str(int(shown.end.timestamp()) * 1000) if who == "one" else ""
        options = self._options(name, variable.sql, shown)
        if not variable.multi:
            return next(iter(options), "")
        return options[:1] if who == "one" else All(options)

    def _options(self, name: str, sql: str, shown: Range) -> list[str]:
        if (name, shown) not in self._listed:
            try:
                rows = self._fetch(expand(sql, shown, self._values(sql, shown, "all"))).rows
            except (ClickHouseError, KeyError):  # the finding of the variable itself reports it, once
                rows = []
            self._listed[name, shown] = [str(row[0]) for row in rows]
        return self._listed[name, shown]

    def _timed(self, sql: str) -> set[str]:
        """Return the tables and views with a time that a statement reads; for a view without, those that it reads."""
        found: set[str] = set()
        for name in tables_of(sql):
            found |= {name} if name in self._times else self._timed(self._views.get(name, ""))
        return found

    def _span(self, table: str) -> tuple[datetime, datetime] | None:
        """Return the first and last time of a table's rows; None where it has no rows, or no time."""
        if table not in self._spans and (column := self._times.get(table)):
            ends = f"toUnixTimestamp(min({column})), toUnixTimestamp(max({column}))"
            [[rows, first, last]] = self._fetch(f"SELECT count(), {ends} FROM counterflow.{table}").rows
            moments = datetime.fromtimestamp(first, UTC), datetime.fromtimestamp(last + 1, UTC)
            self._spans[table] = moments if rows else None
        return self._spans.get(table)

    def _fetch(self, sql: str) -> Result:
        return fetch(self._client, sql)


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
