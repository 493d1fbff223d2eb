"""Grafana's classic JSON of every board, from its charts: the same definitions give the same bytes.

What each key means and why it is written is in docs/dashboards.md; the files suit Grafana 11.6 and later with the
ClickHouse plugin 4 and later, provisioned or imported by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from counterflow.dashboards.definition import (
    FOLDER,
    Board,
    Chart,
    Link,
    Row,
    Series,
    Variable,
    boards,
    charts,
    looks,
    variables,
)

Json = dict[str, Any]

TITLE = "Counterflow / "
TAG = "counterflow"
GENERATED = FOLDER / "grafana" / "dashboards"
SOURCE = {"type": "grafana-clickhouse-datasource", "uid": "${datasource}"}

_VERDICTS = """\
SELECT start_ts AS time, end_ts AS timeEnd, concat(entity, ': ', state) AS text, rule AS title,
  concat('verdict,', system) AS tags
FROM counterflow.verdict_spell
WHERE start_ts <= $__toTime AND end_ts >= $__fromTime AND state NOT IN ('OK', 'DEMAND_LIMITED', 'UNKNOWN', 'STALE')
ORDER BY time
LIMIT 500"""


def files() -> dict[Path, str]:
    """Return what is generated: the text of each file."""
    return {GENERATED / f"{uid}.json": json.dumps(dashboard(board), indent=1) + "\n" for uid, board in boards().items()}


def dashboard(board: Board) -> Json:
    """Return a board as Grafana reads it."""
    return {
        "id": None,
        "uid": board.uid,
        "title": TITLE + board.title,
        "description": board.description,
        "tags": [TAG, *board.tags],
        "schemaVersion": 39,
        "version": 1,
        "editable": False,
        "graphTooltip": 1,
        "timezone": "utc",
        "refresh": board.refresh,
        "time": {"from": f"now-{board.time}", "to": "now"},
        "timepicker": {},
        "links": [_boards_link()],
        "annotations": {"list": [_own_annotations(), *([_verdict_annotations()] if board.verdicts else [])]},
        "templating": {"list": [_datasource(), *(_variable(name, variables()[name]) for name in board.variables)]},
        "panels": list(_panels(board)),
    }


def _panels(board: Board) -> Iterator[Json]:
    number, y = 1, 0
    for row in board.rows:
        inside: list[Json] = []
        head = {
            "id": number,
            "type": "row",
            "title": row.title,
            "collapsed": row.collapsed,
            "panels": inside if row.collapsed else [],
            "gridPos": {"h": 1, "w": 24, "x": 0, "y": y},
        }
        number, y = number + 1, y + 1
        for panel in _row(row, number, y):
            inside.append(panel)
            number, y_end = number + 1, panel["gridPos"]["y"] + panel["gridPos"]["h"]
            y = max(y, y_end)
        yield head
        if not row.collapsed:
            yield from inside


def _row(row: Row, number: int, y: int) -> Iterator[Json]:
    x = tallest = 0
    if row.text:
        grid = {"h": 3, "w": 24, "x": 0, "y": y}
        yield {
            "id": number,
            "type": "text",
            "title": "",
            "gridPos": grid,
            "options": {"mode": "markdown", "content": row.text},
        }
        number, y = number + 1, y + 3
    for place in row.panels:
        if x + place.width > 24:
            x, y, tallest = 0, y + tallest, 0
        grid = {"h": place.height, "w": place.width, "x": x, "y": y}
        yield {"id": number, "gridPos": grid, **panel(charts()[place.chart])}
        number, x, tallest = number + 1, x + place.width, max(tallest, place.height)


def panel(chart: Chart) -> Json:
    """Return a chart as a panel, without its number and place."""
    return {
        "type": _TYPES[chart.shape],
        "title": chart.title,
        "description": f"{chart.question} {chart.reading}",
        "datasource": SOURCE,
        "interval": chart.interval,
        "maxDataPoints": 400,
        "targets": [_target(chart)],
        "transformations": _transformations(chart),
        "fieldConfig": {
            "defaults": _defaults(chart),
            "overrides": [_override(*one, chart) for one in chart.series.items()],
        },
        "options": _options(chart),
    }


_TYPES = {
    "bars": "timeseries",
    "area": "timeseries",
    "lines": "timeseries",
    "ranking": "barchart",
    "states": "state-timeline",
    "table": "table",
    "stat": "stat",
}
_OVER_TIME = ("bars", "area", "lines")


def _target(chart: Chart) -> Json:
    over_time = chart.shape in _OVER_TIME
    return {
        "refId": "A",
        "datasource": SOURCE,
        "editorType": "sql",
        "queryType": "timeseries" if over_time else "table",
        "format": 0 if over_time else 1,
        "pluginVersion": "4.0.0",
        "rawSql": chart.sql.strip(),
    }


def _transformations(chart: Chart) -> list[Json]:
    if chart.shape != "states":
        return []
    by = {"fields": ["entity"], "keepFields": False, "naming": {"asLabels": True}}
    return [{"id": "partitionByValues", "options": by}]


def _defaults(chart: Chart) -> Json:
    defaults: Json = {
        "unit": looks().units[chart.unit].grafana,
        "noValue": chart.empty,
        "color": {"mode": "palette-classic-by-name" if chart.open else "palette-classic"},
        "custom": _custom(chart),
        "mappings": _mappings() if chart.shape in ("states", "stat") else [],
        "links": [_link(link) for link in chart.links] if chart.shape != "table" else [],
        "thresholds": {"mode": "absolute", "steps": _steps(chart)},
    }
    if chart.shape in (*_OVER_TIME, "ranking"):
        defaults["min"] = 0
    if chart.decimals is not None:
        defaults["decimals"] = chart.decimals
    return defaults


def _custom(chart: Chart) -> Json:
    axis = {"axisLabel": chart.axis, "axisPlacement": "auto"}
    stacked = {"stacking": {"mode": "normal", "group": "A"}}
    limits = {"thresholdsStyle": {"mode": "dashed" if chart.thresholds else "off"}}
    match chart.shape:
        case "bars":
            bars = {"drawStyle": "bars", "barAlignment": -1, "barWidthFactor": 1, "fillOpacity": 80, "lineWidth": 0}
            return {**axis, **bars, **stacked, **limits}
        case "area":
            area = {"drawStyle": "line", "lineInterpolation": "stepBefore", "fillOpacity": 70, "lineWidth": 0}
            return {**axis, **area, "showPoints": "never", "spanNulls": False, **stacked, **limits}
        case "lines":
            line = {"drawStyle": "line", "lineInterpolation": "stepBefore", "fillOpacity": 0, "lineWidth": 2}
            gaps = {"showPoints": "auto", "spanNulls": False, "insertNulls": int(2.5 * _ms(chart.interval))}
            return {**axis, **line, **gaps, "stacking": {"mode": "none", "group": "A"}, **limits}
        case "ranking":
            return {**axis, "fillOpacity": 80, "lineWidth": 0}
        case "states":
            return {"fillOpacity": 80, "lineWidth": 0, "spanNulls": False}
        case "table":
            return {"align": "auto", "cellOptions": {"type": "auto"}}
        case _:
            return {}


def _ms(interval: str) -> int:
    return int(interval[:-1]) * {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}[interval[-1]]


def _mappings() -> list[Json]:
    colours = looks().colours
    states = {
        state: {"text": state, "color": colours[colour], "index": index}
        for index, (state, colour) in enumerate(looks().states.items())
    }
    return [{"type": "value", "options": states}]


def _steps(chart: Chart) -> list[Json]:
    below = {"color": "transparent" if chart.thresholds else looks().colours["measured"], "value": None}
    limits = sorted(chart.thresholds, key=lambda threshold: threshold.at)
    return [below, *({"color": looks().colours[limit.colour], "value": limit.at} for limit in limits)]


def _override(name: str, series: Series, chart: Chart) -> Json:
    properties: list[tuple[str, Any]] = []
    if series.colour:
        properties.append(("color", {"mode": "fixed", "fixedColor": looks().colours[series.colour]}))
    if series.unit:
        properties.append(("unit", looks().units[series.unit].grafana))
    if series.line or series.right or series.dashed:
        properties += [
            ("custom.drawStyle", "line"),
            ("custom.lineWidth", 2),
            ("custom.fillOpacity", 0),
            ("custom.stacking", {"mode": "none", "group": "A"}),
        ]
    if series.dashed:
        properties.append(("custom.lineStyle", {"fill": "dash", "dash": [10, 10]}))
    if series.right:
        unit = looks().units[series.unit or chart.unit].text
        properties += [("custom.axisPlacement", "right"), ("custom.axisLabel", f"{name} ({unit})" if unit else name)]
    if chart.shape == "table" and chart.links and name == next(iter(chart.series)):
        properties.append(("links", [_link(link) for link in chart.links]))
    listed = [{"id": key, "value": value} for key, value in properties]
    return {"matcher": {"id": "byName", "options": name}, "properties": listed}


def _link(link: Link) -> Json:
    reach = "from=${__data.fields.from_ms}&to=${__data.fields.to_ms}" if link.pad else "${__url_time_range}"
    kept = [name for name in boards()[link.board].variables if name not in link.variables and variables()[name].chosen]
    clicked = {"time": "${__value.time}", "series": "${__series.name}"}
    parts = [reach, "${datasource:queryparam}", *(f"${{{name}:queryparam}}" for name in kept)]
    for name, column in link.variables.items():
        parts.append(f"var-{name}=" + clicked.get(column, f'${{__data.fields["{column}"]}}'))
    return {"title": link.title, "url": f"/d/{link.board}?{'&'.join(parts)}", "targetBlank": False}


def _options(chart: Chart) -> Json:
    legend = {
        "showLegend": True,
        "displayMode": "table" if chart.open else "list",
        "placement": "right" if chart.open else "bottom",
        "calcs": ["mean", "max"] if chart.open else [],
    }
    match chart.shape:
        case "bars" | "area" | "lines":
            return {"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}}
        case "ranking":
            bars = {"orientation": "horizontal", "stacking": "normal", "showValue": "never", "xField": "name"}
            width = {"barWidth": 0.9, "groupWidth": 0.7, "xTickLabelMaxLength": 28, "xTickLabelRotation": 0}
            hover = {"fullHighlight": True, "tooltip": {"mode": "multi", "sort": "none"}}
            return {**bars, **width, **hover, "legend": {**legend, "displayMode": "list", "placement": "bottom"}}
        case "states":
            rows = {"mergeValues": True, "showValue": "auto", "alignValue": "left", "rowHeight": 0.9, "perPage": 20}
            return {**rows, "legend": {**legend, "displayMode": "list"}, "tooltip": {"mode": "single", "sort": "none"}}
        case "table":
            return {"showHeader": True, "cellHeight": "sm"}
        case _:
            fields = "/.*/" if chart.unit == "text" else ""
            reduce = {"calcs": ["lastNotNull"], "fields": fields, "values": False}
            look = {"colorMode": "value", "graphMode": "none", "textMode": "auto", "justifyMode": "auto"}
            return {"reduceOptions": reduce, **look, "orientation": "auto", "wideLayout": True}


def _datasource() -> Json:
    return {
        "type": "datasource",
        "name": "datasource",
        "label": "Data source",
        "query": SOURCE["type"],
        "refresh": 1,
        "hide": 0,
        "current": {},
        "options": [],
        "regex": "",
    }


def _variable(name: str, variable: Variable) -> Json:
    shared = {"name": name, "label": variable.label, "hide": 2 if variable.hidden else 0, "skipUrlSync": False}
    if variable.sql:
        asked = {"type": "query", "datasource": SOURCE, "query": variable.sql, "definition": variable.sql}
        how = {"refresh": 2, "sort": 0, "regex": "", "multi": variable.multi, "includeAll": variable.multi}
        return {**shared, **asked, **how, "allValue": None, "current": {}, "options": []}
    if variable.values:
        options = [{"text": value, "value": value, "selected": not n} for n, value in enumerate(variable.values)]
        chosen = {"type": "custom", "query": ",".join(variable.values), "current": options[0], "options": options}
        return {**shared, **chosen, "multi": False, "includeAll": False}
    return {**shared, "type": "textbox", "query": "", "current": {"text": "", "value": ""}, "options": []}


def _boards_link() -> Json:
    shared = {"type": "dashboards", "title": "Counterflow", "tags": [TAG], "asDropdown": True, "icon": "external link"}
    return {**shared, "includeVars": True, "keepTime": True, "targetBlank": False, "tooltip": "", "url": ""}


def _own_annotations() -> Json:
    source = {"type": "grafana", "uid": "-- Grafana --"}
    shown = {"builtIn": 1, "enable": True, "hide": True, "iconColor": "rgba(0, 211, 255, 1)"}
    return {**shown, "datasource": source, "name": "Annotations & Alerts", "type": "dashboard"}


def _verdict_annotations() -> Json:
    target = {"refId": "Anno", "editorType": "sql", "format": 1, "queryType": "table", "pluginVersion": "4.0.0"}
    shown = {"name": "Verdicts", "enable": True, "hide": False, "iconColor": looks().colours["critical"]}
    return {**shown, "datasource": SOURCE, "mappings": {}, "target": {**target, "rawSql": _VERDICTS}}


def written() -> Mapping[Path, str]:
    """Return what stands in the folder of generated files now."""
    return {path: path.read_text(encoding="utf-8") for path in sorted(GENERATED.glob("*.json"))}
