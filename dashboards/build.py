"""Grafana's classic JSON of every board, from its charts: the same definitions give the same bytes.

Comments and docstrings state the reasons of keys. The files suit Grafana 11.6 and later with the ClickHouse
plugin 4 and later, provisioned or imported by hand.

The schema is the classic one: Grafana 11 does not read version 2, and 13 converts boards when it opens them. The
builders of Grafana's SDK (0.0.21) take more lines, and lack the queries of the ClickHouse plugin and keys that we need.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from counterflow.base.errors import CounterflowError
from counterflow.dashboards import alerting, provisioning
from counterflow.dashboards.annotations import drawn_over
from counterflow.dashboards.definition import (
    Board,
    Chart,
    ChartRow,
    Drawing,
    Link,
    PrometheusChart,
    Series,
    boards,
    charts,
    drawings,
    members,
    variable_of,
)
from counterflow.dashboards.importable import importable
from counterflow.dashboards.largest import OTHERS
from counterflow.dashboards.looks import StateLook, looks
from counterflow.dashboards.mistakes import mistakes
from counterflow.dashboards.provisioning import folder_of
from counterflow.dashboards.runs import AXIS
from counterflow.dashboards.statement import if_chosen, statement, until_chosen
from counterflow.dashboards.tables import filler, width_px

Json = dict[str, Any]

TAG = "counterflow"
DASHBOARDS = "grafana/dashboards"
IMPORTS = "grafana/import"
DATASOURCES = "grafana/provisioning/datasources/counterflow.yaml"
PROVIDER = "grafana/provisioning/dashboards/counterflow.yaml"
SOURCE = {"type": "grafana-clickhouse-datasource", "uid": "${datasource}"}
PROMETHEUS = {"type": "prometheus", "uid": "${prometheus}"}


def files(site: alerting.Site = alerting.ONE_MACHINE) -> dict[str, str]:
    """Return the text of each file that Grafana and Prometheus read, by its path; alerts lead to `site`.

    Raises
    ------
    CounterflowError : a definition is wrong, or names something that does not exist.
    """
    if wrong := mistakes():
        raise CounterflowError("\n".join(wrong), hint="see docs/dashboards.md", exit_code=2)
    made = {path_of(uid): json.dumps(dashboard(board), indent=1) + "\n" for uid, board in boards().items()}
    made |= {
        f"{IMPORTS}/{uid}.json": json.dumps(importable(dashboard(board)), indent=1) + "\n"
        for uid, board in boards().items()
    }
    provisioned = {DATASOURCES: provisioning.datasources(), PROVIDER: provisioning.providers()}
    return made | provisioned | alerting.files(site)


def path_of(uid: str) -> str:
    """Return the path of a provisioned board: in the directory of its folder, below the dashboards."""
    return f"{DASHBOARDS}/{folder_of(boards()[uid]).name}/{uid}.json"


def write(folder: Path, below: str = "", site: alerting.Site = alerting.ONE_MACHINE) -> int:
    """Write the files whose paths begin with `below` into a folder, and return how many."""
    made = {folder / path: text for path, text in files(site).items() if path.startswith(below)}
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return len(made)


def dashboard(board: Board) -> Json:
    return {
        "id": None,
        "uid": board.uid,
        "title": board.title,
        "description": board.description,
        "tags": list(dict.fromkeys([TAG, folder_of(board).name, board.step, *board.tags])),
        "schemaVersion": 39,  # the oldest that later versions read without a change
        "version": 1,
        "editable": False,  # a change belongs in the definition; saved in Grafana 13 it would not come back as a file
        "graphTooltip": 1,
        "timezone": "utc",
        "refresh": "1m",
        "time": {"from": f"now-{board.time}", "to": "now"},
        "timepicker": {},
        "links": [_menu(board)],
        "annotations": {"list": [_own_annotations(), *(_annotations(board) if board.verdicts else [])]},
        "templating": {"list": [*_datasources(board), *(_variable(name, board) for name in board.variables)]},
        "panels": list(_panels(board)),
    }


FIGURE_HEIGHT = 4


def _panels(board: Board) -> Iterator[Json]:
    number, y = 1, 0
    width = 24 // max(3, len(board.figures))
    for name in board.figures:
        grid = {"h": FIGURE_HEIGHT, "w": width, "x": (number - 1) * width, "y": 0}
        yield {"id": number, "gridPos": grid, **panel(drawings()[name], board, width)}
        number, y = number + 1, FIGURE_HEIGHT
    for row in board.rows:
        inside: list[Json] = []
        head: Json = {
            "id": number,
            "type": "row",
            "title": row.title,
            "collapsed": row.collapsed,
            "panels": inside if row.collapsed else [],
            "gridPos": {"h": 1, "w": 24, "x": 0, "y": y},
        }
        if row.title:
            number, y = number + 1, y + 1
        for drawn in _row(row, board, number, y):
            inside.append(drawn)
            number, y_end = number + 1, drawn["gridPos"]["y"] + drawn["gridPos"]["h"]
            y = max(y, y_end)
        if row.title:
            yield head
        if not row.collapsed:
            yield from inside


def _row(row: ChartRow, board: Board, number: int, y: int) -> Iterator[Json]:
    x = tallest = 0
    if row.text:
        grid = {"h": 3, "w": 24, "x": 0, "y": y}
        options = {"mode": "markdown", "content": row.text.strip()}
        yield {"id": number, "gridPos": grid, "type": "text", "title": "", "transparent": True, "options": options}
        number, y = number + 1, y + 3
    for place in row.panels:
        if x + place.width > 24:
            x, y, tallest = 0, y + tallest, 0
        grid = {"h": place.height, "w": place.width, "x": x, "y": y}
        yield {"id": number, "gridPos": grid, **_placed(place.chart, board, place.width)}
        number, x, tallest = number + 1, x + place.width, max(tallest, place.height)


def _placed(name: str, board: Board, width: int) -> Json:
    """Return the panel of a chart, or that of a family: one query for each figure, of which the chosen one has rows."""
    if name in drawings():
        return panel(drawings()[name], board, width)
    family = [charts()[one] for one in members(name)]
    made = {_letter(place): panel(one, board, width) for place, one in enumerate(family)}
    first = made["A"]
    described = [f"{one.figure} - {one.question} {one.reading}" for one in family]
    overrides = [override for drawn in made.values() for override in drawn["fieldConfig"]["overrides"]]
    own = [
        {"matcher": {"id": "byFrameRefID", "options": letter}, "properties": _own(drawn["fieldConfig"]["defaults"])}
        for letter, drawn in made.items()
    ]
    return {
        **first,
        "title": family[0].of,
        "description": "\n\n".join(["The menu Figure chooses:", *described]),
        "targets": [
            {**drawn["targets"][0], "refId": letter, "rawSql": if_chosen(one, family)}
            for (letter, drawn), one in zip(made.items(), family, strict=True)
        ],
        "fieldConfig": {
            "defaults": {key: value for key, value in first["fieldConfig"]["defaults"].items() if key != "min"},
            "overrides": [*own, *(one for place, one in enumerate(overrides) if one not in overrides[:place])],
        },
    }


def _own(defaults: Json) -> list[Json]:
    """Return what figures of a family differ in, as properties of a query's series: unit, axis, how it is drawn."""
    own: Json = {key: defaults[key] for key in ("unit", "decimals", "min") if key in defaults}
    own |= {f"custom.{key}": value for key, value in defaults["custom"].items()}
    return [{"id": key, "value": value} for key, value in own.items()]


def _letter(place: int) -> str:
    return chr(ord("A") + place)


def panel(chart: Chart | PrometheusChart, board: Board, width: int = 12) -> Json:
    """Return a chart as a panel of a board, `width` of 24 columns wide, without its number and place."""
    notes = [f"{'Dashed at' if chart.over_time else 'From'} {limit.at:g}: {limit.text}." for limit in chart.thresholds]
    if isinstance(chart, PrometheusChart):
        notes.append(_WITHOUT_PROMETHEUS)
        source, targets = PROMETHEUS, list(_expressions(chart))
    else:
        shown = until_chosen(chart) if chart.shape == "stat" and "at" in board.variables else chart
        source, targets = SOURCE, [_target(shown)]
    return {
        "type": _TYPES[chart.shape],
        "title": chart.title,
        "description": " ".join([chart.question, chart.reading, *notes]),
        "datasource": source,
        "interval": "1s" if isinstance(chart, Chart) and chart.usual_s else chart.interval,
        "maxDataPoints": width * _POINTS_A_COLUMN.get(chart.shape, 20),
        "targets": targets,
        "transformations": _transformations(chart),
        "fieldConfig": {
            "defaults": _defaults(chart, board),
            "overrides": [
                *_unknown_cells(chart),
                *_others(chart),
                *(_override(*one, chart, board) for one in chart.series.items()),
                *_along(chart),
                *_hidden(chart),
            ],
        },
        "options": _options(chart, width),
    }


_TYPES = {
    "bars": "timeseries",
    "area": "timeseries",
    "lines": "timeseries",
    "trend": "trend",
    "ranking": "barchart",
    "states": "state-timeline",
    "table": "table",
    "stat": "stat",
}
_POINTS_A_COLUMN = {"lines": 30, "area": 30}
"""A column is some 50 pixels wide on a laptop: room for so many points of a line, and for 20 bars."""
_UNSTACKED: tuple[tuple[str, Any], ...] = (
    ("custom.drawStyle", "line"),
    ("custom.lineInterpolation", "linear"),
    ("custom.lineWidth", 2),
    ("custom.fillOpacity", 0),
    ("custom.stacking", {"mode": "none", "group": "A"}),
)
"""Properties that draw a series of a stack as a line."""


_WITHOUT_PROMETHEUS = (
    "Needs a Prometheus that reads the metrics of the parts (docs/alerts.md); without one this panel stays empty, and"
    " those that query ClickHouse do not change."
)


def _expressions(chart: PrometheusChart) -> Iterator[Json]:
    for place, (name, promql) in enumerate(chart.promql.items()):
        shared = {"refId": _letter(place), "datasource": PROMETHEUS, "editorMode": "code"}
        how = {"range": True, "instant": False, "format": "time_series"}
        yield {**shared, "expr": promql.strip(), "legendFormat": name, **how}


def _target(chart: Chart) -> Json:
    return {
        "refId": "A",
        "datasource": SOURCE,
        "editorType": "sql",
        "queryType": "timeseries" if chart.over_time or chart.shape == "stat" else "table",
        "format": 0 if chart.over_time or chart.shape == "stat" else 1,
        "pluginVersion": "4.0.0",
        "rawSql": statement(chart),
    }


def _transformations(chart: Drawing) -> list[Json]:
    if chart.shape != "states" or isinstance(chart, PrometheusChart):
        return []
    by = {"fields": ["entity"], "keepFields": False, "naming": {"asLabels": True}}
    return [{"id": "partitionByValues", "options": by}]


def _defaults(chart: Drawing, board: Board) -> Json:
    defaults: Json = {
        "unit": looks().units[chart.unit].grafana,
        "noValue": chart.empty,
        "color": _colour(chart),
        "custom": _custom(chart),
        "mappings": _mappings(chart),
        "links": [_link(link, board, chart.over_time) for link in chart.links] if chart.shape != "table" else [],
        "thresholds": {"mode": "absolute", "steps": _steps(chart)},
    }
    if (chart.over_time or chart.shape in ("trend", "ranking", "stat")) and not chart.signed:
        defaults["min"] = 0
    elif chart.shape in ("bars", "area"):
        defaults["custom"]["axisSoftMin"] = 0  # of a stack, unless a part is below it
    if chart.shape == "states" and not isinstance(chart, PrometheusChart):
        defaults["displayName"] = "${__field.labels.entity}"  # otherwise `state` stands before each
    if isinstance(chart, Chart) and (chart.over_time or chart.shape == "stat"):
        defaults["displayName"] = "${__field.labels.series}"
    if chart.decimals is not None:
        defaults["decimals"] = chart.decimals
    return defaults


def _colour(chart: Drawing) -> Json:
    if chart.shape == "stat":
        return {"mode": "thresholds"}
    # by name: a name has the same colour on every panel, whichever others are drawn
    return {"mode": "palette-classic-by-name" if chart.open else "palette-classic"}


def _custom(chart: Drawing) -> Json:
    axis = {"axisLabel": chart.axis, "axisPlacement": "auto"}
    stacked = {"stacking": {"mode": "normal", "group": "A"}}
    limits = {"thresholdsStyle": {"mode": "dashed" if chart.thresholds else "off"}}
    match chart.shape:
        case "bars":
            bars = {"drawStyle": "bars", "barAlignment": 0, "barWidthFactor": 1, "fillOpacity": 80, "lineWidth": 0}
            return {**axis, **bars, **stacked, **limits}
        case "area":
            area = {"drawStyle": "line", "lineInterpolation": "linear", "fillOpacity": 70, "lineWidth": 0}
            return {**axis, **area, **_gaps(chart), "showPoints": "never", **stacked, **limits}
        case "lines":
            line = {"drawStyle": "line", "lineInterpolation": "linear", "fillOpacity": 0, "lineWidth": 2}
            return {**axis, **line, **_gaps(chart), "showPoints": "never", "stacking": {"mode": "none"}, **limits}
        case "trend":
            return {**axis, "drawStyle": "line", "lineInterpolation": "linear", "lineWidth": 2, "spanNulls": False}
        case "ranking":
            return {**axis, "fillOpacity": 80, "lineWidth": 0}
        case "states":
            return {"fillOpacity": 80, "lineWidth": 0, "spanNulls": False}
        case "table":
            return {"align": "auto", "cellOptions": {"type": "auto"}}
        case _:
            return {}


def _gaps(chart: Drawing) -> Json:
    """Return for how long a line may bridge missing points; its ends are nulls from the query (`Chart.query`).

    Where the interval of the data is known, the statement bridges a late sample, and every null ends the line.
    Grafana's own `insertNulls` would cut every line to pieces as soon as a long range widens the buckets.
    """
    ended = isinstance(chart, Chart) and chart.usual_s is not None
    return {"spanNulls": False if ended else 2_500 * chart.interval_s, "insertNulls": False}


def _mappings(chart: Drawing) -> list[Json]:
    """Return the names and colours of the values of a chart of states; nothing for a chart of figures."""
    if isinstance(chart, PrometheusChart):
        return [_words(_UP)] if chart.shape == "states" else []
    if chart.shape == "stat":
        unknown = {"color": looks().colours["unknown"], "index": 0}
        return [{"type": "special", "options": {"match": "null+nan", "result": unknown}}]
    if chart.shape != "states":
        return []
    own = {name: chart.state(name) for name in chart.series} if isinstance(chart, Chart) else {}
    return [_verdict_words({chart.empty: StateLook(colour="unknown", text=chart.empty), **own})]


def _verdict_words(more: Mapping[str, StateLook] | None = None) -> Json:
    return _words({**looks().states, **(more or {})})


def _unknown_cells(chart: Drawing) -> Iterator[Json]:
    """Yield the text of a table's cell that has no value; the text for a result without rows is among the defaults."""
    if chart.shape == "table":
        yield {"matcher": {"id": "byRegexp", "options": ".*"}, "properties": [{"id": "noValue", "value": "\u2013"}]}


_UP = {"1": StateLook(colour="good", text="up"), "0": StateLook(colour="critical", text="down")}


def _words(shown: Mapping[str, StateLook]) -> Json:
    options = {
        value: {"text": one.text, "color": looks().colours[one.colour], "index": index}
        for index, (value, one) in enumerate(shown.items())
    }
    return {"type": "value", "options": options}


def _steps(chart: Drawing) -> list[Json]:
    plain = looks().colours["good"] if chart.thresholds else looks().hues["sky"]
    below = {"color": plain if chart.shape == "stat" else "transparent", "value": None}
    limits = sorted(chart.thresholds, key=lambda threshold: threshold.at)
    return [below, *({"color": looks().colours[limit.colour], "value": limit.at} for limit in limits)]


_DASHES = ([10, 10], [4, 6], [20, 6])
"""Several limits of one chart share a colour and differ by their dashes."""


def _others(chart: Drawing) -> Iterator[Json]:
    """Yield the colour of what an open chart sums up."""
    if isinstance(chart, Chart) and chart.open and chart.over_time:
        yield _by_name(OTHERS, [("color", {"mode": "fixed", "fixedColor": looks().colours["neighbours"]})])


def _override(name: str, series: Series, chart: Drawing, board: Board) -> Json:
    properties: list[tuple[str, Any]] = []
    if series.colour:
        properties.append(("color", {"mode": "fixed", "fixedColor": looks().grafana(series.colour)}))
    if series.unit:
        text = chart.shape == "table" and series.unit == "time"  # the statement formats times as text
        properties.append(("unit", looks().units["text" if text else series.unit].grafana))
    if chart.over_time and series.unstacked:
        properties += [*_UNSTACKED, ("custom.spanNulls", _gaps(chart)["spanNulls"])]
    if series.dashed:
        dashed = [other for other, found in chart.series.items() if found.dashed]
        dash = _DASHES[dashed.index(name) % len(_DASHES)]
        properties.append(("custom.lineStyle", {"fill": "dash", "dash": dash}))
    if series.colour == "peak" and chart.over_time:
        properties.append(("custom.lineWidth", 1))
    if series.right:
        unit = looks().units[series.unit or chart.unit]
        label = name if unit.text.lower() in name.lower() else f"{name} ({unit.text})"
        properties += [("custom.axisPlacement", "right"), ("custom.axisLabel", label)]
        if unit.grafana == "percent":
            properties.append(("custom.axisSoftMax", 100))
    if chart.shape == "table":
        properties += _cell(name, series, chart)
        if chart.links and name == next(iter(chart.series)):
            properties.append(("links", [_link(link, board) for link in chart.links]))
    return _by_name(name, properties)


def _cell(name: str, series: Series, chart: Drawing) -> Iterator[tuple[str, Any]]:
    """Yield how wide a column is and how its cells are drawn."""
    width = "custom.minWidth" if name == filler(chart) else "custom.width"
    yield width, width_px(chart, name)
    if series.state:
        yield "mappings", [_verdict_words()]
        yield "color", {"mode": "thresholds"}  # a cell without a state has that of the lowest step: none
        yield "custom.cellOptions", {"type": "color-background", "mode": "basic"}
    elif looks().units[series.unit or chart.unit].grafana == "string":
        # Grafana until 12.1 reads the first, later versions the second; each ignores the other
        yield "custom.cellOptions", {"type": "auto", "wrapText": True}
        yield "custom.wrapText", True
    if series.levels:
        below = {"color": "text", "value": None}
        steps = [{"color": looks().colours[colour], "value": at} for colour, at in series.levels.items()]
        yield "thresholds", {"mode": "absolute", "steps": [below, *steps]}
        yield "color", {"mode": "thresholds"}
        yield "custom.cellOptions", {"type": "color-text"}
    if series.spark:
        yield "color", {"mode": "fixed", "fixedColor": looks().hues["sky"]}
        if looks().units[series.unit or chart.unit].grafana == "percent":
            yield from (("min", 0), ("max", 100))
        yield "custom.cellOptions", {"type": "sparkline", "hideValue": True, "lineWidth": 1, "fillOpacity": 20}


def _hidden(chart: Drawing) -> list[Json]:
    """Return the overrides that hide columns which serve links alone."""
    names = sorted(chart.for_links) if chart.shape == "table" else ()
    # Grafana until 12 reads the first, later versions the second; each ignores the other.
    both = [("custom.hidden", True), ("custom.hideFrom.viz", True)]
    return [_by_name(name, both) for name in names]


def _along(chart: Drawing) -> Iterator[Json]:
    """Yield the axis of a trend, and the names of its series: those of the runs."""
    if chart.shape == "trend":
        yield _by_name(AXIS, [("unit", "none"), ("custom.axisLabel", "Minutes from the beginning")])
        for name in chart.series:
            yield _by_name(name, [("displayName", f"{name}: ${{{name.lower()}}}")])


def _by_name(name: str, properties: Sequence[tuple[str, Any]]) -> Json:
    listed = [{"id": key, "value": value} for key, value in properties]
    return {"matcher": {"id": "byName", "options": name}, "properties": listed}


def _link(link: Link, board: Board, over_time: bool = False) -> Json:
    """Return a link that passes on the range and every variable that both boards have, unless it sets it itself."""
    reach = "from=${__data.fields.from_ms}&to=${__data.fields.to_ms}" if link.pad else "${__url_time_range}"
    there = boards()[link.board]
    only_here = _all_of(board) - _all_of(there)  # All is no value there
    kept = [name for name in there.variables if {name} <= {*board.variables} - {*link.variables} - only_here]
    clicked = {"time": "${__value.time}", "series": "${__field.labels.series}" if over_time else "${__series.name}"}
    parts = [reach, "${datasource:queryparam}", *(f"${{{name}:queryparam}}" for name in kept)]
    for name, column in link.variables.items():
        parts.append(f"var-{name}=" + clicked.get(column, f'${{__data.fields["{column}"]}}'))
    board_uid = f'${{__data.fields["{link.by}"]}}' if link.by else link.board
    return {"title": link.title, "url": f"/d/{board_uid}?{'&'.join(parts)}", "targetBlank": False}


_LIST = {"showLegend": True, "displayMode": "list", "placement": "bottom", "calcs": []}
_TABLE = {"showLegend": True, "displayMode": "table", "placement": "right", "calcs": ["mean", "max"]}
_BESIDE = {**_TABLE, "sortBy": "Mean", "sortDesc": True}
WIDE = 18
"""Columns from which a panel has room for a table beside its chart."""


_TILE = {"text": {"titleSize": 14, "valueSize": 28}, "wideLayout": False}
"""All figures of a row have one size and stand over their line; Grafana's own sizes follow the length of the text."""


def _options(chart: Drawing, width: int) -> Json:
    legend = _BESIDE if chart.open and width >= WIDE else _LIST
    match chart.shape:
        case "bars" | "area" | "lines":
            return {"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}}
        case "trend":
            return {"xField": AXIS, "legend": _LIST, "tooltip": {"mode": "multi", "sort": "none"}}
        case "ranking":
            bars = {"orientation": "horizontal", "stacking": "normal", "showValue": "never", "xField": "name"}
            bands = {"barWidth": 0.9, "groupWidth": 0.7, "xTickLabelMaxLength": 28, "xTickLabelRotation": 0}
            hover = {"fullHighlight": True, "tooltip": {"mode": "multi", "sort": "none"}}
            return {**bars, **bands, **hover, "legend": _LIST}
        case "states":
            rows = {"mergeValues": True, "showValue": "auto", "alignValue": "left", "rowHeight": 0.9}
            unseen = {
                **_LIST,
                "showLegend": False,
            }  # Grafana's legend would also list the text for no value; each bar shows its state
            return {**rows, "legend": unseen, "tooltip": {"mode": "single", "sort": "none"}}
        case "table":
            return {"showHeader": True, "cellHeight": "sm"}
        case _:
            total = isinstance(chart, Chart) and chart.total
            reduce = {"calcs": ["sum" if total else "lastNotNull"], "fields": "", "values": False}
            look = {"colorMode": "value", "graphMode": "area", "textMode": "value_and_name", "justifyMode": "auto"}
            return {"reduceOptions": reduce, **look, **_TILE, "orientation": "auto"}


def _datasources(board: Board) -> Iterator[Json]:
    yield _datasource("datasource", "Data source", SOURCE, provisioning.CLICKHOUSE)
    if board.queries_prometheus:
        yield _datasource("prometheus", "Prometheus", PROMETHEUS, provisioning.PROMETHEUS)


def _datasource(name: str, label: str, source: Mapping[str, str], provisioned: str) -> Json:
    """Return the hidden variable of a data source: the provisioned one, or the one of `var-datasource`."""
    return {
        "type": "datasource",
        "name": name,
        "label": label,
        "query": source["type"],
        "refresh": 1,
        "hide": 2,
        "current": {"text": provisioned, "value": provisioning.UIDS[provisioned]},
        "options": [],
        "regex": "",
    }


def _variable(name: str, board: Board) -> Json:
    variable = variable_of(board, name)
    shared = {"name": name, "label": variable.label, "hide": 2 if variable.hidden else 0, "skipUrlSync": False}
    if variable.sql:
        queried = {"type": "query", "datasource": SOURCE, "query": variable.sql, "definition": variable.sql}
        several = {"multi": variable.multi, "includeAll": variable.multi and variable.all}
        how = {"refresh": 2, "sort": 0, "regex": "", **several}
        return {**shared, **queried, **how, "allValue": None, "current": {}, "options": []}
    if variable.values:
        texts = [value.replace("_", " ") for value in variable.values]
        options = [
            {"text": text, "value": value, "selected": not number}
            for number, (text, value) in enumerate(zip(texts, variable.values, strict=True))
        ]
        query = ",".join(f"{option['text']} : {option['value']}" for option in options)
        chosen = {"type": "custom", "query": query, "current": options[0], "options": options}
        return {**shared, **chosen, "multi": False, "includeAll": False}
    return {**shared, "type": "textbox", "query": "", "current": {"text": "", "value": ""}, "options": []}


def _menu(board: Board) -> Json:
    """Return the menu of all boards, which keeps the time, and the variables unless one of them can be All.

    Most boards show one system: All from the address would draw one line over the systems.
    """
    shared = {"type": "dashboards", "title": "Boards", "tags": [TAG], "icon": "external link", "asDropdown": True}
    kept = {"includeVars": not _all_of(board), "keepTime": True, "targetBlank": False, "tooltip": "", "url": ""}
    return {**shared, **kept}


def _all_of(board: Board) -> set[str]:
    """Return the variables of a board that can be All."""
    found = {name: variable_of(board, name) for name in board.variables}
    return {name for name, variable in found.items() if variable.sql and variable.multi and variable.all}


def _own_annotations() -> Json:
    source = {"type": "grafana", "uid": "-- Grafana --"}
    shown = {"builtIn": 1, "enable": True, "hide": True, "iconColor": "rgba(0, 211, 255, 1)"}
    return {**shown, "datasource": source, "name": "Annotations & Alerts", "type": "dashboard"}


def _annotations(board: Board) -> Iterator[Json]:
    for name, one in drawn_over(board).items():
        target = {"refId": "Anno", "editorType": "sql", "format": 1, "queryType": "table", "pluginVersion": "4.0.0"}
        shown = {"name": name, "enable": True, "hide": True, "iconColor": looks().colours[one.colour]}
        yield {**shown, "datasource": SOURCE, "mappings": {}, "target": {**target, "rawSql": one.sql}}
