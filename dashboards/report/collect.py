"""The content of a report: every board's charts over one range, verdicts with evidence, the quality of the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import orjson

from counterflow.base.clickhouse import ClickHouse, ClickHouseError
from counterflow.dashboards.definition import (
    Board,
    Chart,
    Panel,
    boards,
    charts,
    members,
    tables_of,
    variables,
    variables_of,
    verdict_charts,
)
from counterflow.dashboards.frames import Result, fetch
from counterflow.dashboards.macros import All, Range, bucket_s, expand
from counterflow.dashboards.report.figures import Cell, ReportFigure, ReportTable, figure_of, simple, state_cell
from counterflow.dashboards.report.fitting import ANY_SYSTEM, fits, platforms
from counterflow.dashboards.report.specs import ShadedSpell, state_colour
from counterflow.dashboards.report.words import figure, length, plain

QUERIES = Path(__file__).parent / "queries"
POINTS = 300
"""About the number of points drawn of a series over time."""

HALF = 12
"""Columns, of 24, of each figure of a family, which shares one panel in Grafana."""

FIRST, LAST = "cf-fleet", "cf-pipeline"
"""Of the boards of a report. LAST is about the line."""
ON_REQUEST = {"cf-any-counter": "metric", "cf-compare": "baseline"}
"""Boards that show nothing until a variable is set, and that variable."""

MOST_DRAWN = 12
"""Verdicts that have a picture; the others are a sentence with their figures."""
_SMALL = 150
"""Height of the picture of a verdict, pixels."""
_EVIDENCE = {
    "rule": "The condition",
    "inputs": "What was measured",
    "figures": "What follows",
    "thresholds": "Compared with",
}

Values = Mapping[str, str | Sequence[str]]


class Verdict(NamedTuple):
    """A spell of a state.

    Parameters
    ----------
    state, of : the state, and the thing judged.
    begin, end : UTC.
    lasted : its length in words.
    reason : of its first interval.
    evidence : the figures that decided, by heading and name.
    figure : a chart of what was judged, with its limit and the spell shaded; None where it is not drawn.
    """

    state: Cell
    of: str
    rule: str
    begin: str
    end: str
    lasted: str
    intervals: int
    reason: str
    evidence: Mapping[str, Sequence[tuple[str, str]]]
    figure: ReportFigure | None = None


class BoardRow(NamedTuple):
    title: str
    figures: Sequence[ReportFigure]


class Chapter(NamedTuple):
    """Boards with systems, range and choices of their own; `about` describes these, by label."""

    about: Sequence[tuple[str, str]]
    begin: datetime
    end: datetime
    systems: Sequence[str]
    boards: Sequence[str]
    chosen: Mapping[str, str]


class Section(NamedTuple):
    """A board with something to show; `chosen` is the description of its chapter and its single choices, by label."""

    board: Board
    chosen: Sequence[tuple[str, str]]
    parts: Sequence[BoardRow]
    anchor: str = ""


class Prediction(NamedTuple):
    """What changes would do to one thing: a table for each change, by its title, and what limits them."""

    of: str
    tables: Sequence[tuple[str, ReportTable]]
    remarks: Sequence[str]


class _Placed(NamedTuple):
    """A board, the scope of its queries, and the description of its chapter."""

    board: Board
    scope: Scope
    about: Sequence[tuple[str, str]] = ()


class Report(NamedTuple):
    """All of a report.

    Parameters
    ----------
    begin, end : the range.
    systems : those that it is about; `vanished` were requested and have no data in the range.
    sections : boards with their figures.
    absent : charts for which nothing was measured, with the sentence that states it.
    failed : charts that the server refused, with its message.
    verdicts : the worst spells of trouble; `spells` counts all, `calm` the things that were well all the time,
        `unjudged` those that could not be judged at a time.
    measured, quality, sources : tables; `anomalies` counts all, those in rows that are left out too.
    records : rows of counters in the range, each once.
    comparison : labelled runs as pictures and tables: see `counterflow.analysis.studies.pictured`.
    predictions : what changes would do to what was at a limit: see `counterflow.analysis.whatif`.
    notes : what a reader must know before all else.
    findings : what limited each system, the worst first, grouped by system: see `counterflow.analysis.findings`.
    busiest : the busiest system with its figures, as a sentence; empty where no processors were measured.
    """

    begin: datetime
    end: datetime
    systems: Sequence[str]
    vanished: Sequence[str]
    sections: Sequence[Section]
    absent: Sequence[tuple[str, str]]
    failed: Sequence[tuple[str, str]]
    verdicts: Sequence[Verdict]
    spells: int
    calm: int
    unjudged: int
    measured: ReportTable
    records: int
    quality: ReportTable
    anomalies: int
    sources: ReportTable
    comparison: Any = None
    predictions: Sequence[Prediction] = ()
    notes: Sequence[str] = ()
    findings: Sequence[Any] = ()
    busiest: str = ""

    @property
    def limits(self) -> list[Any]:
        """The findings of a limit that was hit, except those that are spells of verdicts."""
        return [one for one in self.findings if one.severity == "limit" and one.name != "verdicts"]

    @property
    def drawn(self) -> list[ReportFigure]:
        """All figures that the page draws, including those of verdicts."""
        return [*(one.figure for one in self.verdicts if one.figure), *self.figures]

    @property
    def figures(self) -> list[ReportFigure]:
        """All figures of boards, in order."""
        return [figure for section in self.sections for part in section.parts for figure in part.figures]


def collect(
    client: ClickHouse,
    begin: datetime,
    end: datetime,
    systems: Sequence[str] = (),
    chosen: Mapping[str, str] | None = None,
    workers: int = 4,
    chapters: Sequence[Chapter] = (),
) -> Report:
    """Query everything that a report needs; empty `systems` means all, `chosen` sets variables of boards.

    Boards that suit none of the systems are left out, and with `systems` those that show every system. With `chapters`
    the report has their boards and no others; verdicts and all else cover the whole range.

    Raises
    ------
    ClickHouseError : the server refused a query that every report needs.
    httpx.TransportError : the server does not answer.
    """
    scope = Scope(client, Range(begin, end), systems, chosen or {})
    there = scope.options("system")
    placed = [one for chapter in chapters for one in _of_chapter(client, chapter)]
    if not chapters:
        has = {row["system"]: frozenset(row["datasets"]) for row in scope.rows("datasets")}
        placed = [_Placed(board, scope) for board in wanted(systems, chosen or {}, has, platforms(client))]
    # a chart appears once per scope, where it comes first
    places: dict[tuple[Scope, str], Board] = {}
    for board, of, _ in placed:
        for name in board.charts:
            places.setdefault((of, name), board)
    with ThreadPoolExecutor(workers) as pool:
        found = pool.map(lambda place: place[0].figure(charts()[place[1]]), places)
        figures = dict(zip(places, found, strict=True))
    drawn = {place: one for place, one in figures.items() if isinstance(one, ReportFigure) and not one.instead}
    sections: list[Section] = []
    times: Counter[str] = Counter()
    for board, of, about in placed:
        here = {}
        for (by, name), one in drawn.items():
            if by is of and places[by, name] is board:
                times[name] += 1
                here[name] = one._replace(place=name if times[name] == 1 else f"{name}-{times[name]}")
        if parts := _parts(board, here):
            sections.append(Section(board, [*about, *of.named(board)], parts, f"{board.uid}-{len(sections)}"))
    judged, measured, quality = (scope.rows(name) for name in ("verdicts", "measured", "quality"))
    troubled = [row for row in judged if row["trouble"]]
    trouble = [_verdict(row, scope.spell(row, place)) for place, row in enumerate(troubled[:MOST_DRAWN])]
    trouble += [_verdict(row) for row in troubled[MOST_DRAWN:]]
    counted = [
        (row["system"], row["dataset"], row["sources"], row["first"], row["last"], row["intervals"], row["records"])
        for row in measured
    ]
    reasons = [
        (row["system"], row["reason"], row["kept"], row["times"], row["file"], row["example"]) for row in quality
    ]
    return Report(
        begin,
        end,
        [name for name in there if not systems or name in systems],
        [name for name in systems if name not in there],
        sections,
        [(one.chart.title, one.instead) for one in figures.values() if isinstance(one, ReportFigure) and one.instead],
        [(charts()[name].title, one) for (_, name), one in figures.items() if isinstance(one, str)],
        trouble,
        _counted(judged, "spells"),
        _counted(judged, "calm"),
        _counted(judged, "unjudged"),
        simple(
            ("System", "What", "Read from", "First, UTC", "Last, UTC", "Intervals", "Records"),
            counted,
            _counted(measured, "listed") - len(counted),
        ),
        scope.rows("records")[0]["records"],
        simple(
            ("System", "What was met", "Kept of the line", "Times", "File", "Example"),
            reasons,
            _counted(quality, "kinds") - len(reasons),
        ),
        _counted(quality, "anomalies"),
        scope.sources({name for one in drawn.values() for name in tables_of(one.sql)}),
        busiest=_busiest(scope.rows("busiest")),
    )


def _busiest(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the sentence about the busiest system."""
    if not rows:
        return ""
    mean, most = (figure(rows[0][name], "percent", 1) for name in ("mean_pct", "most_pct"))
    return f"{plain(rows[0]['system'])} is the busiest system: processors {mean} busy on average, {most} at most."


def _counted(rows: Sequence[Mapping[str, Any]], name: str) -> int:
    """Return a count over all rows of a query, of which each that it returns has the same."""
    return int(rows[0][name]) if rows else 0


def _of_chapter(client: ClickHouse, chapter: Chapter) -> list[_Placed]:
    """Return the boards of a chapter, with its scope and description."""
    scope = Scope(client, Range(chapter.begin, chapter.end), chapter.systems, chapter.chosen)
    return [_Placed(boards()[uid], scope, chapter.about) for uid in chapter.boards]


def wanted(
    systems: Collection[str], chosen: Collection[str], has: Mapping[str, Set[str]], runs_on: Mapping[str, str]
) -> list[Board]:
    """Return the boards in the order of a report; with `systems`, without those that show every system.

    Boards of an operating system come before the one for systems that have none of their own.

    `has` is the datasets of each system, `runs_on` its operating system: a board that suits no system is left out.
    """
    requested = [board for board in boards().values() if ON_REQUEST.get(board.uid) in (None, *chosen)]
    if systems:
        requested = [board for board in requested if "system" in board.variables or board.uid in ON_REQUEST]
    suited = [
        board
        for board in requested
        if "system" not in board.variables or any(fits(board, of, runs_on.get(system)) for system, of in has.items())
    ]

    def place(board: Board) -> tuple[bool, ...]:
        return board.uid == LAST, board.uid != FIRST, board.platform is None, board.uid != ANY_SYSTEM

    return sorted(suited, key=place)


def _parts(board: Board, drawn: Mapping[str, ReportFigure]) -> list[BoardRow]:
    """Return the rows of a board that have figures; a chart appears once, where it comes first."""
    left = dict(drawn)

    def of(panels: Sequence[Panel]) -> list[ReportFigure]:
        return [
            left.pop(name)._replace(width=panel.width if name == panel.chart else HALF)
            for panel in panels
            for name in members(panel.chart)
            if name in left
        ]

    return [BoardRow(row.title, found) for row in board.rows if (found := of(row.panels))]


def _verdict(row: Mapping[str, Any], drawn: ReportFigure | None = None) -> Verdict:
    return Verdict(
        state_cell(str(row["state"])),
        plain(f"{row['system']} / {row['entity']}"),
        row["rule"],
        row["begin"],
        row["end"],
        length((row["end_ms"] - row["begin_ms"]) / 1000),
        int(row["intervals"]),
        plain(row["reason"]),
        _evidence(row["evidence"]),
        drawn,
    )


def _evidence(text: str) -> dict[str, list[tuple[str, str]]]:
    """Return the known figures of a verdict, by heading and name."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {"As stored": [("", plain(text))]} if text else {}

    def flat(value: Any, name: str) -> list[tuple[str, str]]:
        if isinstance(value, dict):
            return [one for key, inner in value.items() for one in flat(inner, f"{name} {key}".strip())]
        if isinstance(value, list):
            return [(plain(name), ", ".join(figure(item, "count") for item in value))]
        worded = ("no", "yes")[value] if isinstance(value, bool) else figure(value, "count")
        return [] if value is None else [(plain(name.replace("_", " ")), worded)]

    by_heading: dict[str, list[tuple[str, str]]] = {}
    for key, value in found.items():
        known = key in _EVIDENCE or isinstance(value, dict)
        heading = _EVIDENCE.get(key, plain(key)) if known else _EVIDENCE["figures"]
        if lines := flat(value, "" if known else key):
            by_heading.setdefault(heading, []).extend(lines)
    return by_heading


class Scope:
    """Queries over one range; each variable is as a board has it when it opens, unless it is chosen."""

    def __init__(self, client: ClickHouse, shown: Range, systems: Sequence[str], chosen: Mapping[str, str]) -> None:
        self._client = client
        self._shown = shown
        self._systems = systems
        self._chosen = chosen
        self._listed: dict[str, list[str]] = {}
        self._lock = Lock()
        self._usual_s: dict[str, int] = {}

    def figure(self, chart: Chart) -> ReportFigure | str:
        """Return a chart with its rows, or the server's reason for a refusal."""
        begin, end, _ = self._shown
        usual_s = self._usual(chart)
        least_s = usual_s or (1 if chart.usual_s else chart.interval_s)
        shown = Range(begin, end, bucket_s(begin, end, POINTS, least_s))
        sql = expand(chart.plain, shown, self.values(chart.plain))
        try:
            return figure_of(chart, sql, fetch(self._client, sql), shown, usual_s=usual_s)
        except ClickHouseError as error:
            return plain(str(error).split(". (")[0])

    def spell(self, row: Mapping[str, Any], place: int) -> ReportFigure | None:
        """Return a chart of a verdict around its spell; None where its rule has no chart or nothing can be drawn."""
        chart = verdict_charts().get(row["rule"])
        if chart is None:
            return None
        begin, end = (datetime.fromtimestamp(row[at] / 1000, UTC) for at in ("begin_ms", "end_ms"))
        step_s = max(1, round((end - begin).total_seconds() / int(row["intervals"])))
        around = max(end - begin, timedelta(seconds=20 * step_s))
        begin, end = max(self._shown.begin, begin - around), min(self._shown.end, end + around)
        shown = Range(begin, end, bucket_s(begin, end, POINTS // 2, step_s))
        sql = expand(chart.query, shown, {"system": [row["system"]], "entity": row["entity"]})
        spell = ShadedSpell(row["begin_ms"], row["end_ms"], state_colour(str(row["state"])))
        try:
            made = figure_of(chart, sql, fetch(self._client, sql), shown, spell, step_s)
        except ClickHouseError:
            return None
        if made.spec is None:
            return None
        return made._replace(place=f"verdict-{place}", spec={**made.spec, "height": _SMALL})

    def _usual(self, chart: Chart) -> int:
        """Return the usual interval of the data that a chart draws, seconds; 0 where it is not known."""
        if not chart.usual_s:
            return 0
        with self._lock:
            if chart.usual_s not in self._usual_s:
                sql = f"SELECT {chart.usual_s} AS usual_s"
                [[usual_s]] = fetch(self._client, expand(sql, self._shown, self.values(sql))).rows
                self._usual_s[chart.usual_s] = int(usual_s)
            return self._usual_s[chart.usual_s]

    def rows(self, name: str) -> list[dict[str, Any]]:
        sql = (QUERIES / f"{name}.sql").read_text(encoding="utf-8")
        result = fetch(self._client, expand(sql, self._shown, self.values(sql)))
        names = [column.name for column in result.columns]
        return [dict(zip(names, row, strict=True)) for row in result.rows]

    def sources(self, names: set[str]) -> ReportTable:
        """Return tables and views with a description of their rows."""
        listed = ",".join(f"'{name}'" for name in sorted(names)) or "''"
        there = f"database = 'counterflow' AND name IN ({listed})"
        sql = f"SELECT name, comment FROM system.tables WHERE {there} ORDER BY name"
        return simple(("Table or view", "What a row is"), fetch(self._client, sql).rows)

    def named(self, board: Board) -> list[tuple[str, str]]:
        """Return the values of the variables of a board that have a single choice, by label."""
        single = [name for name in board.variables if not variables()[name].multi and not variables()[name].hidden]
        found = [(variables()[name].label, self._value(name)) for name in single]
        return [(label, plain(value).replace("_", " ")) for label, value in found if isinstance(value, str) and value]

    def options(self, name: str) -> list[str]:
        """Return the values that a variable can have in the range."""
        if name not in self._listed:
            sql = variables()[name].sql or ""
            values = self.values(sql) if sql else {}
            result = fetch(self._client, expand(sql, self._shown, values)) if sql else Result((), ())
            self._listed[name] = [str(row[0]) for row in result.rows]
        return self._listed[name]

    def values(self, sql: str) -> Values:
        return {name: self._value(name) for name in variables_of(sql)}

    def _value(self, name: str) -> str | Sequence[str]:
        variable = variables()[name]
        if name in self._chosen:
            return self._chosen[name]
        if name == "system":
            return list(self._systems) or All(self.options(name))
        if variable.values:
            return variable.values[0]
        if not variable.sql:
            return ""
        return All(self.options(name)) if variable.multi else next(iter(self.options(name)), "")
