"""A report of made-up rows: every shape, gaps, and deceptive names."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from counterflow.analysis.studies.pictured import DrawnComparison, Pair, Topic, bars
from counterflow.dashboards.definition import Chart, boards, charts, verdict_charts
from counterflow.dashboards.frames import Column, Result
from counterflow.dashboards.macros import Range
from counterflow.dashboards.report.collect import BoardRow, Report, Section, Verdict
from counterflow.dashboards.report.figures import ReportFigure, figure_of, simple, state_cell
from counterflow.dashboards.report.specs import ShadedSpell

BEGIN = datetime(2026, 5, 4, 8, tzinfo=UTC)
END = BEGIN + timedelta(hours=12)
SHOWN = Range(BEGIN, END, 900)
EVIL = "<img src=x onerror=document.title='owned'></script><b>'; DROP TABLE x --\x07\u202e"
"""A name that would be markup, a script, SQL, a bell, or turn the line round."""

TEXT, TIME, NUMBER = "String", "DateTime('UTC')", "Nullable(Float64)"


def times(count: int = 48, step_s: int = 900) -> list[str]:
    return [f"{BEGIN + timedelta(seconds=step_s * number):%F %T}" for number in range(1, count + 1)]


def wide(chart: Chart, values: Sequence[Sequence[float | None]] | None = None) -> Result:
    """Return rows of a chart whose series are known; made up, with a gap from the 20th to the 25th."""
    names = list(chart.series)

    def value(at: int, order: int) -> float | None:
        size = 40 if chart.series[names[order]].right else 900 / (1 + order)
        return None if 20 <= at < 25 else round(size * (1.3 + math.sin(at / 7 + order)), 2)

    if values is None:
        values = [[value(at, order) for order in range(len(names))] for at in range(48)]
    columns = [Column("time", TIME), *(Column(name, NUMBER) for name in names)]
    return Result(columns, [[time, *row] for time, row in zip(times(), values, strict=False)])


def long(names: Sequence[str], count: int = 48) -> Result:
    """Return rows of a chart whose series are not known."""
    rows = [
        [time, name, 100.0 / (1 + order) + 10 * math.sin(at / 5 + order) + 10]
        for at, time in enumerate(times(count))
        for order, name in enumerate(names)
    ]
    return Result([Column("time", TIME), Column("name", TEXT), Column("Value", NUMBER)], rows)


def ranked(chart: Chart, names: Sequence[str]) -> Result:
    columns = [Column("name", TEXT), *(Column(name, NUMBER) for name in chart.series)]
    rows = [
        [name, *(600.0 / (1 + at) / (1 + order) for order in range(len(chart.series)))] for at, name in enumerate(names)
    ]
    return Result(columns, rows)


def spells(*rows: tuple[int, int, str, str]) -> Result:
    """Return rows of states; each spell is a begin hour, end hour, entity and state."""
    columns = [Column("time", TIME), Column("time_end", TIME), Column("entity", TEXT), Column("state", TEXT)]
    at = [f"{BEGIN + timedelta(hours=hour):%F %T}" for hour in range(13)]
    return Result(columns, [[at[begin], at[end], entity, state] for begin, end, entity, state in rows])


def figure(chart: Chart, result: Result, name: str = "") -> ReportFigure:
    chart = chart.model_copy(update={"name": name or chart.name})
    return figure_of(chart, f"SELECT '{EVIL}' -- as it was run", result, SHOWN)


def table_of(chart: Chart) -> Result:
    """Return rows of a table for three systems, with every column that the chart has."""
    named = {"System": TEXT, "Verdicts": TEXT, "Newest": TIME}
    named |= {name: "Array(Float64)" for name, series in chart.series.items() if series.spark}
    columns = [Column(name, named.get(name, NUMBER)) for name in chart.series]
    made: dict[str, Any] = {"Newest": times()[-1], "Anomalies": 3, "Busiest link": None, "CPU by hour": [7.3, 98.1]}

    def row(system: str, state: str, scale: float) -> list[Any]:
        cells = {**made, "System": system, "Verdicts": state}
        return [cells.get(name, round(scale * (1 + at), 2)) for at, name in enumerate(chart.series)]

    return Result(columns, [row("PROD01", "CAPPED", 7.3), row("PROD02", "OK", 2.1), row(EVIL, "LIKELY, WARNING", 1)])


def compared() -> DrawnComparison:
    """Return three runs with one figure, which the last run lacks."""
    runs = ["without", "with", EVIL]
    values = [(2.1, 0.4), (2.6, 0.3), (None, None)]
    drawn = bars(runs, values, ["2.1 ± 0.4", "2.6 ± 0.3", "not in this run"])
    differences = [("+23.8 %", "+0.5 ± 0.5"), ("", "")]
    pair = Pair("Processors used", f"PROD01 · {EVIL}", "cores", drawn, differences)
    head = ["Figure", "Unit", *(f"Scenario {run}" for run in runs)]
    row = ["Processors used", "ms/transaction", *["1,234.5 ±120 (1,100 to 1,400)"] * 3]
    return DrawnComparison(
        simple(["Run"], [[run] for run in runs]), ["lengths differ"], [Topic("CPU", [pair], simple(head, [row]))]
    )


def report(figures: int = 30) -> Report:
    """Return a report with this many charts; shapes repeat."""
    known = charts()
    jobs = ["QZDASO", "QSQSRV", "QBATCH", "PAYROL", "ORDENT", EVIL, "others"]
    link = "PROD01 / NRG1"
    states = spells((0, 5, link, "OK"), (5, 9, link, "CAPPED"), (0, 12, f"PROD02 / {EVIL}", "LIKELY"))
    made = [
        (known["fleet_table"], table_of(known["fleet_table"]), 24),
        (known["verdict_states"], states, 24),
        (known["logical_io"], wide(known["logical_io"]), 24),
        (known["logical_io_by_group"], long(jobs), 12),
        (known["wait_ranking"], ranked(known["wait_ranking"], jobs[:-1]), 12),
        (known["wait_signature"], wide(known["wait_signature"]), 24),
        (known["unix_cpu"], wide(known["unix_cpu"]), 12),
        (known["disk_response"], wide(known["disk_response"]), 12),
        (known["link_share"], wide(known["link_share"]), 12),
    ]
    places = []
    for number in range(figures):
        chart, result, width = made[number % len(made)]
        again = number // len(made)
        places.append(figure(chart, result, f"{chart.name}_{again}" if again else "")._replace(width=width))
    cut = [places[at : at + len(made)] for at in range(0, len(places), len(made))]
    uids = ["cf-fleet", "cf-logical-io", "cf-job-ranking", "cf-disks"]
    sections = [
        Section(boards()[uid], [("Group by", "generic job")], [BoardRow("Over time", part)])
        for uid, part in zip(uids, cut, strict=False)
    ]
    evidence = {"What follows": [("moved pct", "98.7 %"), ("capacity pct", "50 %"), (EVIL, EVIL)]}
    judged = verdict_charts()["roce_cap"]
    spell = ShadedSpell(int((BEGIN + timedelta(hours=5)).timestamp()) * 1000, int(END.timestamp()) * 1000, "#C8283C")
    drawn = figure_of(judged, "SELECT 1", wide(judged), SHOWN, spell)._replace(place="verdict-0")
    verdicts = [
        Verdict(
            *(state_cell("CAPPED"), "PROD01 / NRG1", "roce_cap", "2026-05-04 13:00", "2026-05-04 20:00", "7 h", 28),
            *("The adapter is full and the link gets 24.8 % of it, of 50 % that it is guaranteed.", evidence, drawn),
        )
    ]
    return Report(
        BEGIN,
        END,
        ["PROD01", "PROD02", EVIL],
        vanished=[EVIL],
        sections=sections,
        absent=[("Memory", "Nothing was measured.")],
        failed=[],
        verdicts=verdicts,
        spells=1,
        calm=3,
        unjudged=0,
        measured=simple(("System", "What", "Records"), [("PROD01", "job", 18_212), (EVIL, "disk", 412)]),
        records=18_624,
        quality=simple(("System", "What was met", "Times"), [("PROD01", "torn_line", 3)]),
        anomalies=3,
        comparison=compared(),
        sources=simple(("Table or view", "What a row is"), [("io_mix", "Logical I/O of one group in one interval.")]),
    )


def charts_in(page: str) -> dict[str, Any]:
    """Return the charts of a page by place, their rows as the page's script reads them."""

    def unpacked(part: dict[str, Any]) -> Any:
        return [dict(zip(part["columns"], row, strict=True)) for row in part["rows"]] if "rows" in part else part

    [found] = re.findall(r'id="charts">(.*?)</script>', page, re.DOTALL)
    charts: dict[str, Any] = json.loads(found, object_hook=unpacked)
    return charts
