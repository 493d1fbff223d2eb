"""Rules that a dashboard's JSON keeps: Grafana's own, those of the public dashboard linter that apply, and ours.

Source: grafana/dashboard-linter, lint/*.go (its rules for Prometheus apply to the panels that query it, except those
that require the variables `job` and `instance`: a stack has one of each job); the classic schema of Grafana 11.6 to 13.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from counterflow.dashboards.definition import variables_of

Json = Mapping[str, Any]

_PANELS = {"timeseries", "stat", "table", "barchart", "state-timeline", "trend", "text", "row"}
_SOURCES = {"grafana-clickhouse-datasource": "${datasource}", "prometheus": "${prometheus}"}
_UNITS = frozenset(  # those of Grafana that counters have
    {"short", "none", "string", "bool", "percent", "percentunit", "ns", "µs", "ms", "s", "m", "h", "d", "dtdurations"}
    | {"dateTimeAsIso", "bytes", "kbytes", "mbytes", "gbytes", "decbytes", "deckbytes", "decmbytes", "decgbytes"}
    | {"binBps", "Bps", "binbps", "bps", "KiBs", "KBs", "MiBs", "MBs", "GBs", "Mbits", "Gbits", "watt", "celsius"}
    | {"iops", "rps", "wps", "ops", "reqps", "cps", "mps", "pps", "cpm", "opm"}
)


def lint(boards: Sequence[Json]) -> Iterator[tuple[str, str]]:
    """Yield each breach of a rule: the uid of the board, and the problem with its place and remedy."""
    for key in ("uid", "title"):
        for value, times in Counter(board[key] for board in boards).items():
            if times > 1:
                yield str(value), f"{times} boards have the {key} `{value}`: rename one of the files"
    defined = {board["uid"]: _variables(board) for board in boards}
    for board in boards:
        for problem in _board(board, defined):
            yield board["uid"], problem


def _board(board: Json, defined: Mapping[str, set[str]]) -> Iterator[str]:
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", board["uid"]):
        yield f"the uid is longer than 40 or has other characters than letters, digits, - and _: {board['uid']}"
    if board["editable"]:
        yield "uneditable-dashboard: what is provisioned cannot be saved; write `editable: false`"
    if board["schemaVersion"] < 39 or not isinstance(board["refresh"], str) or "__inputs" in board:
        yield "the JSON is not what Grafana 11.6 and later take as it is"
    if not board["description"]:
        yield "there is no `description`"
    yield from _templating(board)
    shown = [panel for panel in board["panels"] for panel in (panel, *panel.get("panels", ()))]
    for number, times in Counter(panel["id"] for panel in shown).items():
        if times > 1:
            yield f"{times} panels have the id {number}"
    yield from _grid(shown)
    for panel in shown:
        if panel["type"] not in _PANELS:
            yield f"`{panel['title']}`: {panel['type']} is no panel of every Grafana from 11.6"
        if panel["type"] not in ("row", "text"):
            for problem in _panel(panel, board, defined):
                yield f"`{panel['title']}`: {problem}"


def _templating(board: Json) -> Iterator[str]:
    variables = board["templating"]["list"]
    if [v["label"] for v in variables if (v["type"], v["name"]) == ("datasource", "datasource")] != ["Data source"]:
        yield "template-datasource-rule: there is no variable `datasource`, labelled `Data source`"
    for variable in variables:
        if variable["type"] == "query" and variable["refresh"] != 2:
            yield f"template-on-time-change-reload-rule: `{variable['name']}` is not refreshed for another range"
        for name in variables_of(variable.get("query", "")) - _variables(board):
            yield f"the variable `{variable['name']}` uses `{name}`, which the board has not"


def _grid(panels: Sequence[Json]) -> Iterator[str]:
    taken: dict[tuple[int, int], str] = {}
    for panel in panels:
        grid = panel["gridPos"]
        cells = [
            (x, y) for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])
        ]
        if grid["x"] < 0 or grid["x"] + grid["w"] > 24:
            yield f"`{panel['title']}` is wider than the 24 columns"
        if over := {taken[cell] for cell in cells if cell in taken}:
            yield f"`{panel['title']}` lies over {', '.join(sorted(over))}"
        taken.update(dict.fromkeys(cells, str(panel["title"] or panel["type"])))


def _panel(panel: Json, board: Json, defined: Mapping[str, set[str]]) -> Iterator[str]:
    if not (panel["title"] and panel["description"].strip()):
        yield "panel-title-description-rule: title or description is empty"
    sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
    if any(source["uid"] != _SOURCES.get(source["type"]) for source in sources):
        yield "panel-datasource-rule: the data source is not the variable `datasource`, nor `prometheus` for Prometheus"
    if not panel["targets"] or not all(_query(target).strip() for target in panel["targets"]):
        yield "panel-no-targets-rule: there is no query"
    field = panel["fieldConfig"]
    properties = [p for override in field["overrides"] for p in override["properties"]]
    units = [field["defaults"].get("unit"), *(p["value"] for p in properties if p["id"] == "unit")]
    if wrong := [unit for unit in units if unit not in _UNITS and not re.match(r"(count|si|suffix):", str(unit))]:
        yield f"panel-units-rule: {', '.join(map(str, wrong))} is no unit of Grafana; see looks.yaml"
    steps = [step["value"] for step in field["defaults"]["thresholds"]["steps"]]
    if steps[:1] != [None] or steps[1:] != sorted(steps[1:]):
        yield "thresholds do not ascend from the first, which has none"
    custom = field["defaults"].get("custom", {})
    if custom.get("stacking", {}).get("mode") == "normal" and 0 not in (
        field["defaults"].get("min"),
        custom.get("axisSoftMin"),
    ):
        yield "a stack begins at 0: `min` or `axisSoftMin`"
    for target in panel["targets"]:
        for name in variables_of(_query(target)) - defined[board["uid"]]:
            yield f"the query uses the variable `{name}`, which the board has not"
        yield from _sql(target, panel["type"]) if "rawSql" in target else _promql(target["expr"])
    links = [*field["defaults"]["links"], *(one for p in properties if p["id"] == "links" for one in p["value"])]
    for link in links:
        yield from _link(link["url"], board, defined)


def _query(target: Json) -> str:
    return str(target["rawSql"] if "rawSql" in target else target["expr"])


def _sql(target: Json, shape: str) -> Iterator[str]:
    of_runs = "${baseline:singlequote}" in target["rawSql"]  # the runs bound what is read
    if not of_runs and not re.search(r"\$__(timeFilter|fromTime|toTime)\b", target["rawSql"]):
        yield "the query reads all of time: $__timeFilter(ts)"
    if shape == "timeseries" and "$__interval_s" not in target["rawSql"]:
        yield "the query gives every sample of any range: $__timeInterval(ts - 1) + $__interval_s AS time"


def _promql(expression: str) -> Iterator[str]:
    if ranges := [found for found in re.findall(r"\[([^]]*)\]", expression) if found != "$__rate_interval"]:
        yield f"target-rate-interval-rule: [{ranges[0]}] is as long at any range: [$__rate_interval]"
    counters = re.sub(r"\b(rate|irate|increase)\(\w+(\{[^}]*\})?\[", "", expression)
    if bare := re.search(r"\b\w+_total\b", counters):
        yield f"target-counter-agg-rule: {bare[0]} only grows: rate(...) or increase(...)"


def _link(url: str, board: Json, defined: Mapping[str, set[str]]) -> Iterator[str]:
    path, _, query = url.partition("?")
    uid = path.removeprefix("/d/")
    if uid.startswith("${__data.fields"):
        return  # `dashboards check` judges boards that rows name
    if uid not in defined:
        yield f"a link leads to `{uid}`, which is no board"
        return
    for name in re.findall(r"(?:^|&)var-(\w+)=", query):
        if name not in defined[uid]:
            yield f"a link sets `{name}`, which is no variable of `{uid}`"
    for name in re.findall(r"\$\{(\w+):queryparam\}", query):
        if name not in defined[board["uid"]] or name not in defined[uid]:
            yield f"a link hands on `{name}`, which is not a variable of both boards"


def _variables(board: Json) -> set[str]:
    return {variable["name"] for variable in board["templating"]["list"]}
