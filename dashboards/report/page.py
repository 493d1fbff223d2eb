"""The report as one HTML file, and its charts as pictures. All that comes from data is text, never markup or script."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

import jinja2
import vl_convert
from markupsafe import Markup, escape

from counterflow.base.files import cached
from counterflow.dashboards.looks import looks
from counterflow.dashboards.report import specs
from counterflow.dashboards.report.collect import Report
from counterflow.dashboards.report.figures import ReportFigure
from counterflow.dashboards.report.words import moment, visible

FOLDER = Path(__file__).parent
LANGUAGE = "6.4"
"""Version of Vega-Lite in vl-convert and its bundle."""


def html(report: Report) -> str:
    """Return the report; it fetches nothing, and the same report gives the same bytes."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "sort_keys": True}
    environment.filters["marked"] = marked
    environment.filters["moment"] = lambda at: moment(at.timestamp() * 1000)
    return environment.get_template("page.html").render(
        report=report,
        charts={
            figure.place: {"spec": packed(figure.spec), "points": figure.points, "over": figure.over or {}}
            for figure in report.drawn
            if figure.spec is not None
        },
        bundle=_bundle(),
        findings={of: list(found) for of, found in groupby(report.findings, lambda one: one.system)},
        line=looks().colours["line"],
        version=version("counterflow"),
    )


def packed(spec: Any) -> Any:
    """Return a specification whose rows are `columns` and `rows`: the names beside each value are most of a page."""
    if isinstance(spec, list):
        return [packed(part) for part in spec]
    if not isinstance(spec, dict):
        return spec
    rows = spec.get("values")
    if isinstance(rows, list) and rows and all(isinstance(row, dict) and row.keys() == rows[0].keys() for row in rows):
        return {**spec, "values": {"columns": [*rows[0]], "rows": [[*row.values()] for row in rows]}}
    return {name: packed(part) for name, part in spec.items()}


def marked(text: str) -> Markup:
    """Return a sentence of a definition as HTML: text between backticks is code, all else is plain text."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704


@cache
def _bundle() -> Markup:
    """Return Vega, Vega-Lite and vega-embed as one script, which takes two seconds to put together."""
    name = f"vega-{version('vl-convert-python')}.js"
    script = cached(name, lambda: vl_convert.javascript_bundle().encode()).decode()  # type: ignore[call-arg]
    if "</script" in script.lower():
        raise ValueError("the bundle of vl-convert would end its own script element")
    return Markup(script)  # noqa: S704


def pictures(figure: ReportFigure) -> dict[str, bytes]:
    """Return a chart as SVG and PNG, by the ending of their names; none for a table or a stat."""
    if figure.spec is None:
        return {}
    text = json.dumps(specs.picture(figure.spec, figure.chart))
    vega = vl_convert.vegalite_to_vega(text, vl_version=LANGUAGE)
    for legend in vega["legends"]:
        legend["encode"] = specs.symbols(figure.spec)
    svg = vl_convert.vega_to_svg(vega)
    return {"svg": svg.encode(), "png": vl_convert.svg_to_png(svg, ppi=144)}
