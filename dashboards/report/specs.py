"""Charts as Vega-Lite specifications: plain data, the same for the page and for pictures.

A row's value belongs to the interval that ends at its time, so a bar reaches from the interval's begin (`x`) to its end
(`x2`), and a line steps before its points. Names from data occur only as values of rows and of a scale's domain.
Source: Vega-Lite 6 documentation; grafana.md, section 10.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from counterflow.dashboards.definition import Chart
from counterflow.dashboards.frames import Result
from counterflow.dashboards.looks import looks
from counterflow.dashboards.macros import Range
from counterflow.dashboards.report.series import Drawn, DrawnSeries, palette, unbroken
from counterflow.dashboards.report.words import mentions, ms, number, plain

Json = dict[str, Any]

HEIGHT = 240
ROW = 22
PICTURE_WIDTH = 900
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
"""Names the language; nothing is fetched from there."""

_PICKED = {"name": "picked", "value": []}
_ONLY_PICKED = {"filter": "!length(picked) || indexof(picked, datum.series) >= 0"}
"""The page's legend sets `picked`; the stack then consists of the picked series."""

_INK, _FAINT, _GRID = "#1b1f24", "#57606a", "#d0d7de"

CONFIG: Json = {
    "font": "Helvetica, Arial, sans-serif",
    "aria": False,
    "background": None,
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelColor": _FAINT,
        "titleColor": _FAINT,
        "gridColor": _GRID,
        "domainColor": _FAINT,
        "tickColor": _FAINT,
    },
    "legend": {"labelFontSize": 12, "labelColor": _INK, "labelLimit": 260, "symbolType": "square"},
    "title": {"anchor": "start", "fontSize": 16, "color": _INK, "subtitleColor": _FAINT, "subtitleFontSize": 12},
}


class ShadedSpell(NamedTuple):
    """A stretch of time to shade, milliseconds since 1970, and its colour."""

    begin_ms: int
    end_ms: int
    colour: str


def over_time(chart: Chart, drawn: Drawn, shown: Range, bridge_ms: float, spell: ShadedSpell | None = None) -> Json:
    """Return bars, areas and lines over the whole range that is shown, with a spell shaded behind them.

    A line continues for `bridge_ms` without a point: see `bridge`.
    """
    left = [series for series in drawn.series if not series.right]
    right = [series for series in drawn.series if series.right]
    bucket_ms = 1000 * shown.bucket_s
    layers = [
        *([_shade(spell)] if spell else []),
        *_stack(chart, drawn, [series for series in left if series.stacked], bucket_ms),
        *_lines(chart, drawn, [series for series in left if not series.stacked], bucket_ms, bridge_ms),
        *(_threshold(at.at, at.text, looks().colours[at.colour]) for at in chart.thresholds),
    ]
    for layer in layers[1 if spell else 0 :]:
        layer["encoding"]["y"] = {**_axis(chart, left), **layer["encoding"].get("y", {})}
    against = _lines(chart, drawn, right, bucket_ms, bridge_ms)
    for layer in against:
        layer["encoding"]["y"] = {**_right_axis(right), **layer["encoding"]["y"]}
    for layer in (*layers, *against):
        if "x" in layer["encoding"]:
            layer["encoding"]["x"] |= {"type": "temporal", "scale": _TIMES, "axis": _TIME_AXIS}
    whole = _timed(_whole(chart, layers), shown)
    if against and layers:
        whole["layer"] = [{"layer": layers}, *against]
        whole["resolve"] = {"scale": {"y": "independent"}}
    elif against:
        whole["layer"] = against
    return _coloured(whole, [_key(series) for series in drawn.series])


def trend(chart: Chart, result: Result) -> Json:
    """Return a line per run over the minutes since it began; it ends where the next value is missing."""
    keys = [Key(name, looks().colours[known.colour or "unknown"], "line") for name, known in chart.series.items()]
    values = [
        {"at": row[0], "series": key.name, "value": number(row[place])}
        for place, key in enumerate(keys, start=1)
        for row in result.rows
    ]
    known = [value["value"] for value in values if value["value"] is not None]
    minutes = {"title": "Minutes from the beginning", "axis": {"grid": False, "tickCount": 10}}
    value_axis = {**_ON_TOP, **_ticks(max(known, default=0)), "domain": False, "ticks": False}
    layer = {
        "data": {"values": values},
        "transform": [_ONLY_PICKED, _value(chart, chart.unit, known)],
        "mark": {
            "type": "line",
            "strokeWidth": 2,
            "point": len(result.rows) < 2,
            "invalid": "break-paths-show-domains",
        },
        "encoding": {
            "x": {"field": "at", "type": "quantitative", **minutes},
            "y": {
                "field": "value",
                "type": "quantitative",
                "axis": value_axis,
                "title": _axis_title(chart, chart.unit),
                "scale": _scale(0, max(known, default=0)),
            },
            "tooltip": _tooltip(("series", "Run"), ("at", "Minutes"), ("text", "Value")),
        },
    }
    return _coloured(_whole(chart, [layer]), keys)


def ranking(chart: Chart, result: Result) -> Json:
    """Return horizontal stacked bars, a row per thing, in the order of the result."""
    names = [column.name for column in result.columns[1:]]
    found = dict(zip(names, palette(len(names)), strict=True))
    keys = [
        Key(
            plain(name), looks().colours[known.colour] if (known := chart.series.get(name)) and known.colour else colour
        )
        for order, (name, colour) in enumerate(found.items())
        if any(number(row[order + 1]) is not None for row in result.rows)
    ]
    values: list[Json] = [
        {"row": number_, "name": plain(row[0]), "series": plain(name), "order": order, "value": value}
        for number_, row in enumerate(result.rows)
        for order, name in enumerate(names)
        if (value := number(row[order + 1])) is not None
    ]
    greatest = max((sum(number(value) or 0 for value in row[1:]) for row in result.rows), default=0)
    layer = {
        "data": {"values": values},
        "transform": [_ONLY_PICKED, _stacked("row"), _value(chart, chart.unit, [v["value"] for v in values])],
        "mark": {"type": "bar", "height": {"band": 0.75}},
        "encoding": {
            "y": _names("name", {"field": "row", "op": "min"}, 220),
            "x": {
                "field": "from",
                "type": "quantitative",
                "title": _axis_title(chart, chart.unit),
                "scale": _scale(0, greatest),
                "axis": _ticks(greatest),
            },
            "x2": {"field": "until"},
            "tooltip": _tooltip(("name", "Name"), ("series", "Of it"), ("text", "Value")),
        },
    }
    height = max(1, len(result.rows)) * ROW
    return _coloured({**_whole(chart, [layer]), "height": height}, keys)


def states(chart: Chart, result: Result, shown: Range) -> Json:
    """Return a timeline per thing, in the colours of its states."""
    where = {column.name: at for at, column in enumerate(result.columns)}
    values: list[Json] = [
        {
            "entity": plain(row[where["entity"]]),
            "series": plain(chart.state(str(row[where["state"]])).text),
            "from": ms(row[where["time"]]),
            "until": ms(row[where["time_end"]]),
        }
        for row in result.rows
    ]
    entities = list(dict.fromkeys(value["entity"] for value in values))
    when = "utcFormat(datum.from, '%d %b %H:%M') + ' to ' + utcFormat(datum.until, '%d %b %H:%M')"
    layer = {
        "data": {"values": values},
        "transform": [_ONLY_PICKED, {"calculate": when, "as": "when"}],
        "mark": {"type": "bar", "height": {"band": 0.7}, "clip": True},
        "encoding": {
            "y": _names("entity", entities, 260),
            "x": {"field": "from", "type": "temporal", "title": None, "axis": _TIME_AXIS, "scale": _TIMES},
            "x2": {"field": "until"},
            "tooltip": _tooltip(("entity", "Of"), ("series", "State"), ("when", "UTC")),
        },
    }
    found = dict.fromkeys(str(row[where["state"]]) for row in result.rows)
    keys = [Key(plain(of.text), looks().colours[of.colour]) for of in map(chart.state, found)]
    return _coloured({**_timed(_whole(chart, [layer]), shown), "height": max(1, len(entities)) * (ROW + 8)}, keys)


def state_colour(state: str) -> str:
    """Return the colour of a verdict state."""
    return looks().colours[looks().state(state).colour]


class Key(NamedTuple):
    """A series in the legend: its name, its colour, and how it is drawn."""

    name: str
    colour: str
    drawn: Literal["square", "line", "dashed"] = "square"


def picture(spec: Json, chart: Chart, width: int = PICTURE_WIDTH) -> Json:
    """Return a specification that stands alone: with its title, question and legend, on white."""
    keys = legend(spec)
    columns = max(1, min(len(keys), width // (40 + 7 * max((len(key.name) for key in keys), default=1))))
    shown = {"orient": "bottom", "columns": columns, "title": None}
    return {
        **spec,
        "width": width,
        "config": {**CONFIG, "background": "#ffffff", "padding": 16},
        "title": {"text": chart.title, "subtitle": chart.question},
        "encoding": {"color": {**spec["encoding"]["color"], "legend": shown}},
    }


def symbols(spec: Json) -> Json:
    """Return the property by which a legend of Vega draws lines as lines; Vega-Lite cannot express it."""
    lines = json.dumps([key.name for key in legend(spec) if key.drawn != "square"])
    shape = {"signal": f"indexof({lines}, datum.label) >= 0 ? 'stroke' : 'square'"}
    return {"symbols": {"update": {"shape": shape}}}


def legend(spec: Json) -> list[Key]:
    return [Key(*key) for key in spec["usermeta"]["legend"]]


def bridge(shown: Range, usual_s: float) -> float:
    """Return for how long a line continues without a point, milliseconds; `usual_s` is the interval of the data.

    A sample that comes late leaves no bucket empty that covers two intervals, and one that is shorter.
    """
    late = shown.bucket_s < 2 * usual_s
    return 1000 * (max(2 * shown.bucket_s, 2.5 * usual_s) if late else shown.bucket_s)


def _timed(spec: Json, shown: Range) -> Json:
    """Return a specification whose range the page can set, since all charts of one range show the same stretch."""
    begin, end = (1000 * int(moment.timestamp()) for moment in (shown.begin, shown.end))
    return {**spec, "params": [*spec["params"], {"name": "from", "value": begin}, {"name": "until", "value": end}]}


def _shade(spell: ShadedSpell) -> Json:
    row = {"from": spell.begin_ms, "until": spell.end_ms}
    mark = {"type": "rect", "clip": True, "opacity": 0.18}
    encoding = {"x": {"field": "from", "title": None}, "x2": {"field": "until"}, "color": {"value": spell.colour}}
    return {"data": {"values": [row]}, "mark": mark, "encoding": encoding}


def _whole(chart: Chart, layers: list[Json]) -> Json:
    about = {"$schema": SCHEMA, "name": chart.name, "description": f"{chart.title}. {chart.question}"}
    fitted = {"width": "container", "height": HEIGHT, "autosize": {"type": "fit-x", "contains": "padding"}}
    return {**about, **fitted, "config": CONFIG, "params": [_PICKED], "layer": layers}


def _coloured(spec: Json, keys: Sequence[Key]) -> Json:
    colour = {"field": "series", "type": "nominal", "scale": _scale_of(keys), "legend": None}
    return {**spec, "usermeta": {"legend": [list(key) for key in keys]}, "encoding": {"color": colour}}


def _scale_of(keys: Iterable[Key]) -> Json:
    """Return the scale of colours by series; without one, a channel of colour has Vega's own colours."""
    colours = {key.name: key.colour for key in keys}
    return {"domain": list(colours), "range": list(colours.values())}


def _key(series: DrawnSeries) -> Key:
    return Key(series.name, series.colour, "square" if series.stacked else "dashed" if series.dashed else "line")


def _stack(chart: Chart, drawn: Drawn, stack: Sequence[DrawnSeries], bucket_ms: int) -> list[Json]:
    if not stack:
        return []
    values: list[Json] = [
        {"end": time, "series": series.name, "order": order, "value": _short(value)}
        for order, series in enumerate(stack)
        for time, value in zip(drawn.times_ms, series.values, strict=True)
        if value is not None
    ]
    begin = {"calculate": f"datum.end - {bucket_ms}", "as": "begin"}
    mark: Json = {"type": "bar", "clip": True}
    if chart.shape == "area":  # no seams between the steps
        mark |= {"strokeWidth": 0.5, "strokeOpacity": 1}
    encoding: Json = {
        "x": {"field": "begin", "title": None},
        "x2": {"field": "end"},
        "y": {"field": "from", "type": "quantitative"},
        "y2": {"field": "until"},
    }
    if chart.shape == "area":
        encoding["stroke"] = {
            "field": "series",
            "type": "nominal",
            "scale": _scale_of(map(_key, stack)),
            "legend": None,
        }
    transform = [_ONLY_PICKED, _stacked("end"), begin]
    return [{"data": {"values": values}, "transform": transform, "mark": mark, "encoding": encoding}]


def _lines(chart: Chart, drawn: Drawn, lines: Sequence[DrawnSeries], bucket_ms: int, bridge_ms: float) -> list[Json]:
    made = []
    for series in lines:
        values: list[Json] = [
            {"at": at, "series": series.name, "run": run, "value": _short(value)}
            for run, points in enumerate(unbroken(drawn.times_ms, series.values, bridge_ms))
            for at, value in ((points[0][0] - bucket_ms, points[0][1]), *points)
        ]
        mark: Json = {"type": "line", "interpolate": "step-before", "strokeWidth": 2, "clip": True}
        mark["strokeCap"] = "butt" if series.dashed else "square"
        if series.dashed:
            mark["strokeDash"] = [6, 4]
        encoding: Json = {
            "x": {"field": "at", "title": None},
            "y": {"field": "value", "type": "quantitative"},
            "detail": {"field": "run"},
        }
        made.append({"data": {"values": values}, "transform": [_ONLY_PICKED], "mark": mark, "encoding": encoding})
    return made


def _names(field: str, order: Any, room_px: int) -> Json:
    """Return the axis that names the bars of a chart of things, one below the other."""
    axis = {"labelLimit": room_px, "ticks": False, "domain": False, "labelPadding": 6}
    return {"field": field, "type": "nominal", "sort": order, "title": None, "axis": axis}


def _threshold(at: float, text: str, colour: str) -> Json:
    rule = {"mark": {"type": "rule", "strokeDash": [6, 4], "strokeWidth": 1.5}, "encoding": {}}
    words = {"type": "text", "align": "right", "baseline": "bottom", "dx": -4, "dy": -3, "fontSize": 12, "text": text}
    above = {"mark": {**words, "x": {"expr": "width"}, "color": _FAINT}, "encoding": {"color": {"value": _FAINT}}}
    height = {"y": {"datum": at, "type": "quantitative"}}
    return {"data": {"values": [{}]}, "layer": [rule, above], "encoding": {**height, "color": {"value": colour}}}


def _axis(chart: Chart, series: Sequence[DrawnSeries]) -> Json:
    stacked = [
        sum(value or 0 for value in values) for values in zip(*(s.values for s in series if s.stacked), strict=True)
    ]
    single = [value for s in series if not s.stacked for value in s.values if value is not None]
    every = [*stacked, *single, *(threshold.at for threshold in chart.thresholds)]
    least, greatest = min(every, default=0), max(every, default=0)
    axis = {**_ON_TOP, **_ticks(greatest), "domain": False, "ticks": False, "labelPadding": 6}
    lowest = least if chart.signed else 0
    return {"axis": axis, "title": _axis_title(chart, chart.unit), "scale": _scale(lowest, greatest)}


def _right_axis(series: Sequence[DrawnSeries]) -> Json:
    greatest = max(value for one in series for value in one.values if value is not None)
    unit = looks().units[series[0].unit]
    top = max(100.0, greatest) if unit.grafana == "percent" else greatest
    title = ", ".join(one.name for one in series)
    axis = {**_ON_TOP, "titleAlign": "right", "orient": "right", "grid": False, **_ticks(top)}
    named = title if mentions(title, unit.text) else f"{title} ({unit.text})"
    return {
        "axis": {**axis, "domain": False, "ticks": False, "labelPadding": 6},
        "title": named,
        "scale": {"domain": [0, top or 1], "nice": True},  # it stays even where its series is not picked
    }


_ON_TOP = {"titleAngle": 0, "titleAlign": "left", "titleBaseline": "bottom", "titleX": 0, "titleY": -8}
"""An axis title above its axis, where it can be read without turning one's head."""

_TIMES: Json = {"type": "utc", "nice": False, "domainMin": {"expr": "from"}, "domainMax": {"expr": "until"}}

_TIME_AXIS = {
    "grid": False,
    "labelOverlap": True,
    "labelSeparation": 8,
    "labelExpr": "utchours(datum.value) || utcminutes(datum.value) || utcseconds(datum.value)"
    " ? utcFormat(datum.value, utcseconds(datum.value) ? '%H:%M:%S' : '%H:%M')"
    " : utcFormat(datum.value, utcdayofyear(datum.value) == 1 ? '%Y' : '%d %b')",
}


def _scale(least: float, greatest: float) -> Json:
    """Return a scale that begins at 0 or, signed, below; one of nothing but 0 still has a height."""
    if least == greatest == 0:
        return {"domain": [0, 1]}
    return {"zero": True, "nice": True} if least < 0 else {"domainMin": 0, "nice": True}


def _axis_title(chart: Chart, unit: str) -> str:
    text = looks().units[unit].text
    if not chart.axis:
        return text
    rate = text.endswith(("/s", "per second")) and chart.axis.lower().endswith("a second")
    hourly = text == "per hour" and chart.axis.endswith("an hour")
    return chart.axis if rate or hourly or mentions(chart.axis, text) else f"{chart.axis} ({text})"


def _ticks(greatest: float) -> Json:
    """Return the format of an axis' numbers: thousands as k, zero as 0, only the digits that distinguish its ticks."""
    steps = ((10_000, "~s"), (10, ",.1~f"), (1, ",.2~f"), (0.01, ",.4~f"))
    spelled = next((spelled for above, spelled in steps if (greatest or 1) >= above), "~e")
    return {"format": spelled, "labelExpr": "datum.value == 0 ? '0' : datum.label", "tickCount": 5}


def _value(chart: Chart, unit: str, values: Sequence[float]) -> Json:
    """Return the step that formats a value for the tooltip, with its significant digits."""
    greatest = max((abs(value) for value in values), default=0)
    spelled = ",.0f" if greatest >= 1000 else ",.2~f" if greatest >= 10 else ",.4~f"
    if chart.decimals is not None and greatest < 1000:
        spelled = f",.{chart.decimals}f"
    text = looks().units[unit].text
    suffix = json.dumps(f" {text}" if text else "")
    return {"calculate": f"format(datum.value, '{spelled}') + {suffix}", "as": "text"}


def _stacked(along: str) -> Json:
    return {"stack": "value", "groupby": [along], "as": ["from", "until"], "sort": [{"field": "order"}]}


def _tooltip(*fields: tuple[str, str]) -> list[Json]:
    return [{"field": field, "type": "nominal", "title": title} for field, title in fields]


def _short(value: float) -> float:
    return float(f"{value:.7g}")
