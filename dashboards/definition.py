"""Charts and boards as they are written: `charts/<chart>.yaml`, `boards/<board>.yaml`.

The SQL of a chart is written once, with Grafana's macros (`dashboards/macros.py`); Grafana and the report both run it.
Charts below `charts/prometheus/` query Prometheus for the state of the parts; only Grafana draws them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import yaml
from pydantic import Field, TypeAdapter, ValidationError, field_validator, model_validator

from counterflow.base.errors import CounterflowError
from counterflow.base.strict import Strict
from counterflow.dashboards.buckets import bucketed, usual_s
from counterflow.dashboards.largest import largest
from counterflow.dashboards.looks import ColourName, StateLook, UnitName, looks
from counterflow.dashboards.query import with_sql
from counterflow.dashboards.runs import overlaid
from counterflow.schemas.thresholds import threshold, with_thresholds

FOLDER = Path(__file__).parent


_Model = TypeVar("_Model", bound=Strict)
_HINT = "see docs/dashboards.md"
CHOSEN_AT = "$__timeFilter(ts)"
"""Where the SQL of a family's chart takes the condition of the menu `figure`."""
Text = Annotated[str, Field(min_length=1)]
_OF_FOLDER = {"figures": {"shape": "stat"}}
"""What is the same in all charts of a folder."""
_INTERVAL = r"^\d+(s|m|h|d)$"
_GRAVITY = {"watch": "warning", "limit": "critical"}
"""The colour of each level of a threshold."""
_NAMED = TypeAdapter(dict[str, dict[Literal["watch", "limit"], str]])
"""Texts by figure and level."""


class Series(Strict):
    """A series known in advance; its name is the column's.

    `line` draws it over a stack, `right` against an axis of its own at the right, `dashed` as a limit.

    For a table's column: `state`, its words have the colours of verdict states; `spark`, an array drawn as a line;
    `levels`, the value from which on it has each colour, or a figure of `schemas/thresholds.yaml`; `chars`, the most
    characters in it, in place of the unit's; `fills`, it takes the width that is left over, and is cut off where that
    is too little. Where no column fills, the first does.
    """

    colour: ColourName | None = None
    unit: UnitName | None = None
    right: bool = False
    line: bool = False
    dashed: bool = False
    state: bool = False
    spark: bool = False
    levels: dict[ColourName, float] = {}
    chars: int | None = None
    fills: bool = False

    @field_validator("levels", mode="before")
    @classmethod
    def _of_thresholds(cls, written: object) -> object:
        if not isinstance(written, str):
            return written
        return {colour: threshold(written, level) for level, colour in _GRAVITY.items()}

    @property
    def unstacked(self) -> bool:
        """Whether it is drawn as a line of its own, however the others are drawn."""
        return self.line or self.right or self.dashed


class Threshold(Strict):
    """A line across the chart: a value that holds for all it shows. A limit that differs by thing is a series.

    `{disk_busy_pct: {watch: text, limit: text}}` stands for those of `schemas/thresholds.yaml`, in their colours.
    """

    at: float
    text: str
    colour: ColourName = "limit"


class Link(Strict):
    """Where a click on a point or row leads: a board, with the variables set from what was clicked.

    `variables` maps a variable of the board to a column of the row (`job`), to `time` (the instant clicked) or to
    `series` (the name of the series clicked). With `pad` the range is taken from the columns `from_ms` and `to_ms`.
    `by` names the column with the board's uid, where rows lead to different boards; each of them has the variables.
    """

    title: str
    board: str
    by: str = ""
    variables: dict[str, str] = {}
    pad: bool = False


class Drawing(Strict):
    """What the definitions of all charts have in common, whichever server they query.

    Parameters
    ----------
    name : of its file.
    title : on top of it.
    question : that it answers.
    reading : one sentence on how to read it.
    shape : `bars` stacked, one per interval; `area` stacked; `lines`; `trend`, lines of two runs over the minutes since
        each began; `ranking`, horizontal and stacked, a row per thing;
        `states` over time; `table`; `stat`, the newest value with its line behind it and the change to the day before,
        or to the value that it is compared `against`.
    unit, axis : the unit of the values, by default `count` of a table and `text` of states, and the label of the axis,
        by default that of the unit.
    open : the series are not known in advance; 30 at most, the rest as `others`.
    ordered : an open chart's series have an order, that of their names: buckets.
    series : those known in advance, in the order of the stack, first at the bottom; of a table, columns with units; of
        `states`, those that are no states of verdicts.
    thresholds, links : see `Threshold` and `Link`.
    interval : usual distance of the points, in Grafana's spelling (`15m`), and the shortest bucket, where the data does
        not provide the usual interval (`Chart.usual_s`). `lines` and `area` end where more than one point is missing.
    signed : values may be below 0; otherwise the axis begins at 0.
    decimals : of the values, where the usual number of digits is too many.
    empty : the text shown where there is no data.
    """

    name: str
    title: Text
    question: Text
    reading: Text
    shape: Literal["bars", "area", "lines", "trend", "ranking", "states", "table", "stat"]
    unit: UnitName
    axis: str = ""
    open: bool = False
    ordered: bool = False
    series: dict[str, Series] = {}
    thresholds: tuple[Threshold, ...] = ()
    links: tuple[Link, ...] = ()
    interval: str = Field("1m", pattern=_INTERVAL)
    signed: bool = False
    decimals: int | None = None
    empty: str = "Nothing was measured in this range."

    @model_validator(mode="before")
    @classmethod
    def _filled_in(cls, written: dict[str, Any]) -> dict[str, Any]:
        units = {"table": {"unit": "count"}, "states": {"unit": "text"}}
        written = {**units.get(str(written.get("shape")), {}), **written}
        if unit := looks().units.get(str(written.get("unit"))):
            written.setdefault("axis", unit.axis)
        if isinstance(named := written.get("thresholds"), dict):
            written["thresholds"] = [
                {"at": threshold(figure, level), "text": text, "colour": _GRAVITY[level]}
                for figure, levels in _NAMED.validate_python(named).items()
                for level, text in levels.items()
            ]
        return written

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.open and self.series and not all(series.line for series in self.series.values()):
            raise ValueError("`open` and `series`: either the series are known in advance, or not")
        if self.shape in ("bars", "area", "lines", "trend", "ranking") and not self.open and not self.series:
            raise ValueError("name the series, or write `open: true`")
        return self

    @property
    def over_time(self) -> bool:
        """Whether it draws series over time, rather than rows in some shape."""
        return self.shape in ("bars", "area", "lines")

    @property
    def for_links(self) -> set[str]:
        """The columns that serve links alone: instants, `<name>_ms`, ends of ranges, and boards."""
        columns = {column for link in self.links for column in link.variables.values() if column.endswith("_ms")}
        padded = {"from_ms", "to_ms"} if any(link.pad for link in self.links) else set()
        return columns | padded | {link.by for link in self.links if link.by}

    @property
    def interval_s(self) -> int:
        """Return `interval` in seconds."""
        return int(self.interval[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[self.interval[-1]]


class Chart(Drawing):
    """A chart of what ClickHouse holds.

    Parameters
    ----------
    sql : with macros. Over time: `time` (interval end) first and ascending; then one column per series, or, where the
        series are not known in advance (`open`), `Value` and one text column that names them. `ranking`: one row per
        thing, its `name` first. `table`: the links are on the first of `series`. `states`: `time`, `time_end`,
        `entity` and `state`. `stat`: `time` and `Value`, between `$__fromTime` and `$__toTime`, and `Against`
        where it is compared with something other than the day before. `trend`: samples, with `ts`, `system` and
        `interval_s`, which `value` aggregates to one per bucket. With `most`: `time`, `system`, `thing` and `figure`.
        Where the rows of one table suffice, `from`, `where` and values stand in its place: see `with_sql`.
    most, across : draw so many things, those with the highest figures in the range, which makes it `open`; `across`
        adds those of one name over systems, without `system` (see `largest`).
    value, each : of a trend, an aggregate over a bucket's samples, and the columns of things whose values are added.
    total : a stat is the sum over the range, not its newest value.
    against : the name of what a stat's value is compared with (column `Against`); empty for the day before.
    counted : SQL of the dataset that is drawn, where the tables it reads hold many (`Any counter`).
    quiet : an empty result is good news (nothing was refused) or usual (recorded only on request), and
        the check of boards accepts it.
    figure : the word in the menu `figure` that chooses this chart, where its family is one panel.
    family, of : the name of that family, that of its file, and its title.
    """

    sql: Text
    figure: str = ""
    family: str = ""
    of: str = ""
    most: int | None = None
    across: bool = False
    value: str = ""
    each: tuple[str, ...] = ()
    total: bool = False
    against: str = ""
    counted: str | None = None
    quiet: bool = False

    @model_validator(mode="before")
    @classmethod
    def _with_sql(cls, written: dict[str, Any]) -> dict[str, Any]:
        return {"open": "most" in written, **with_sql(written)}

    @model_validator(mode="after")
    def _valued(self) -> Self:
        if (self.shape == "trend") != bool(self.value):
            raise ValueError("`value`: a trend has one, and nothing else")
        if self.most and not self.over_time:
            raise ValueError("`most`: only a chart over time has things to choose from")
        return self

    @property
    def usual_s(self) -> str | None:
        """The SQL of the usual interval of the data that is drawn, seconds, 0 where it is not known.

        None where buckets do not depend on it.
        """
        if "system" not in variables_of(self.sql) or not re.search(r"\$__(timeInterval|interval_s)\b", self.sql):
            return None
        return usual_s(tables_of(self.sql), self.counted)

    @property
    def query(self) -> str:
        """The SQL to run, with its macros not yet expanded; over time, `time` is the end of a bucket."""
        return self.plain if self.shape == "trend" else self.bucketed(self.plain)

    @property
    def plain(self) -> str:
        """The same over buckets of the length that the macros state: for callers that know the usual interval."""
        return overlaid(self.sql, self.value, self.each) if self.shape == "trend" else self._filled()

    @property
    def middles(self) -> str:
        """The SQL over time with the middle of each bucket as its `time`, still to be `bucketed`.

        For the tooltip and for links Grafana picks the point nearest to the cursor: with points in the middle of their
        bars, that is the bar below the cursor.
        """
        middle = "toDateTime64(time, 3, 'UTC') - toIntervalMillisecond(500 * $__interval_s)"
        return f"SELECT {middle} AS time, * EXCEPT (time)\nFROM (\n{self._filled()}\n)\nORDER BY time"

    def bucketed(self, sql: str) -> str:
        """Return a statement over the chart's rows in buckets that follow the data, where its interval is known."""
        return bucketed(sql, self.usual_s) if self.usual_s else sql

    def state(self, state: str) -> StateLook:
        """Return how one of its states is shown: as `series` has it, else as a state of verdicts."""
        known = self.series.get(state)
        return StateLook(colour=known.colour, text=state) if known and known.colour else looks().state(state)

    def _filled(self) -> str:
        """Return the SQL with the ends of lines in it.

        Where a line or an area has no point in a bucket, a row of nulls is inserted: the line must end there, whatever
        range is shown, and Grafana would draw on to the next point. Missing bars are a gap already.
        """
        inner = self.sql.strip()
        if self.most:
            inner = largest(self.sql, self.most, self.shape == "bars", self.across)
        bars_alone = self.shape == "bars" and not any(series.unstacked for series in self.series.values())
        if bars_alone or not self.over_time:
            return inner
        fill = "time WITH FILL STEP toIntervalSecond($__interval_s)"
        if self.open:
            columns = "time, toNullable(Value) AS Value, * EXCEPT (time, Value)"
            filled = f"SELECT {columns} FROM (\n{inner}\n)\nORDER BY * EXCEPT (time, Value), {fill}"
            return f"SELECT * FROM (\n{filled}\n)\nORDER BY time"
        columns = ", ".join(["time", *(f'toNullable("{name}") AS "{name}"' for name in self.series)])
        return f"SELECT {columns} FROM (\n{inner}\n)\nORDER BY {fill}"

    @property
    def reads(self) -> set[str]:
        return tables_of(self.sql)

    @property
    def variables(self) -> set[str]:
        return variables_of(self.query)


class PrometheusChart(Drawing):
    """A chart of the metrics that the parts publish to Prometheus.

    Parameters
    ----------
    promql : expressions, each by the name of its series, or by Grafana's pattern of names (`{{topic}}`). `states`: 1
        where the thing is up, 0 where it is down.
    """

    shape: Literal["bars", "lines", "states"]
    interval: str = Field("15s", pattern=_INTERVAL)
    promql: Annotated[dict[str, Text], Field(min_length=1)]
    empty: str = "Prometheus has nothing of it in this range."

    @property
    def metrics(self) -> set[str]:
        """The product's own metrics in the expressions."""
        return metrics_of(" ".join(self.promql.values()))


def tables_of(sql: str) -> set[str]:
    return set(re.findall(r"\bcounterflow\.(\w+)", sql))


def metrics_of(text: str) -> set[str]:
    """Return the product's own metrics in PromQL, or in a template of Prometheus."""
    return set(re.findall(r"\bcounterflow_\w+", text))


def variables_of(sql: str) -> set[str]:
    """Return the dashboard variables in a statement; names that begin with two underscores are Grafana's own."""
    return set(re.findall(r"\$\{?([a-zA-Z]\w*)", sql))


class Panel(Strict):
    """A chart's place on a board: `width` of 24 columns, `height` of about 38 pixels. A name alone has the defaults.

    The name of a family places all its figures: as one panel in Grafana, whose figure the menu `figure` chooses, and
    each as a chart in the report.
    """

    chart: str
    width: int = Field(12, ge=2, le=24)
    height: int = Field(9, ge=2, le=30)

    @model_validator(mode="before")
    @classmethod
    def _named(cls, written: object) -> object:
        return {"chart": written} if isinstance(written, str) else written


class ChartRow(Strict):
    """Panels under a heading, or with an empty title under none; `text` is Markdown above them."""

    title: str
    panels: tuple[Panel, ...] = ()
    text: str = ""
    collapsed: bool = False


class Board(Strict):
    """A Grafana dashboard.

    Parameters
    ----------
    uid : `cf-` and the name of its file.
    title, description : as Grafana shows them.
    step : its place in the order of work, from the fleet to one job; the menus on top of every board follow it.
    tags : in addition to `counterflow` and the step.
    variables : names from `variables.yaml`, in order; the data source is always there.
    one : it opens with one system, not with all; several can be chosen. Of those that it has counters of, the one with
        the gravest verdict in the range is the first.
    counters : datasets that it shows, some as `<dataset>/<format>`; systems that have them are listed first.
    platform : systems whose recordings name this operating system are listed before those.
    time : default range, back from now (`24h`).
    verdicts : verdicts are drawn over its charts as annotations.
    figures : charts of one figure each, side by side on top.
    rows : from top to bottom.
    """

    uid: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,40}$")  # as Grafana takes it
    title: Text
    description: Text
    step: Literal["fleet", "system", "interval", "rank", "job", "study", "line"]
    tags: tuple[str, ...] = ()
    variables: tuple[str, ...] = ("system",)
    one: bool = True
    counters: tuple[str, ...] = ()
    platform: Literal["AIX", "Linux"] | None = None
    time: str = Field("24h", pattern=r"^\d+(m|h|d)$")
    verdicts: bool = True
    figures: tuple[str, ...] = Field((), max_length=6)
    rows: tuple[ChartRow, ...]

    @property
    def drawings(self) -> list[str]:
        """Names of the charts on it, each once, from top to bottom."""
        placed = [*self.figures, *(place.chart for row in self.rows for place in row.panels)]
        return list(dict.fromkeys(name for place in placed for name in members(place)))

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of the menu `figure`: the figures of its families."""
        placed = {place.chart for row in self.rows for place in row.panels}
        drawn = (charts()[name] for name in self.drawings if name in charts())
        return tuple(dict.fromkeys(one.figure for one in drawn if one.family in placed))

    @property
    def charts(self) -> list[str]:
        """Names of the charts in its rows that query ClickHouse."""
        return [name for name in self.drawings if name in charts() and name not in self.figures]

    @property
    def queries_prometheus(self) -> bool:
        """Whether one of its charts queries Prometheus."""
        return any(name in prometheus_charts() for name in self.drawings)


class Variable(Strict):
    """A variable of boards: a query of ClickHouse (`sql`), fixed `values`, or, with neither, a hidden text.

    `sql` returns one column, or two: value, text. With `multi` several values can be chosen, with `all` also all.
    """

    label: str
    sql: str | None = None
    values: tuple[str, ...] = ()
    multi: bool = False
    all: bool = True
    hidden: bool = False


_DAYS = "day >= toDate($__fromTime, 'UTC') AND day <= toDate($__toTime, 'UTC')"
_ONE = f"""\
SELECT system FROM (SELECT DISTINCT system FROM counterflow.system_day WHERE {_DAYS}) AS present
LEFT JOIN
(
  SELECT system, max(indexOf([{{states}}], toString(state))) AS gravest FROM counterflow.verdict FINAL
  WHERE ts > $__fromTime AND ts <= $__toTime GROUP BY system
) AS judged USING (system)
ORDER BY {{first}}gravest DESC, system"""
_OF_COUNTERS = f"""\
system NOT IN
(
  SELECT system FROM counterflow.system_dataset
  WHERE {_DAYS} AND hasAny([toString(dataset), concat(dataset, '/', splitByChar('.', source)[1])], [{{counters}}])
), """
_OF_PLATFORM = """\
system NOT IN
(
  SELECT system FROM counterflow.config WHERE item = '' AND ({named})
), """
PLATFORMS = {
    "AIX": "section = 'AAA' AND name = 'AIX'",
    "Linux": "section = 'AAA' AND name = 'OS' AND value LIKE 'Linux%' OR section = 'lscpu' AND name = 'cpus'",
}
"""Settings, in `config`, by which a recording names its operating system."""


def variable_of(board: Board, name: str) -> Variable:
    variable = variables()[name]
    if name == "figure":
        return variable.model_copy(update={"values": board.choices})
    if name != "system" or not board.one:
        return variable
    first = _OF_PLATFORM.replace("{named}", PLATFORMS[board.platform]) if board.platform else ""
    first += _OF_COUNTERS.replace("{counters}", _listed(board.counters)) if board.counters else ""
    sql = _ONE.replace("{states}", _listed(looks().states)).replace("{first}", first)
    return variable.model_copy(update={"sql": sql, "all": False})


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(f"'{text}'" for text in texts)


@cache
def charts() -> dict[str, Chart]:
    """Return all charts that query ClickHouse, by name.

    Raises
    ------
    CounterflowError : names every file that is wrong, and every mistake in it (so does that of `boards`).
    """
    paths = [path for below in ("*.yaml", "figures/*.yaml") for path in sorted((FOLDER / "charts").glob(below))]
    return read_models(Chart, {path.stem: path for path in paths}, key="name")


@cache
def verdict_charts() -> dict[str, Chart]:
    """Return the charts that the report draws of a spell, by the name of the rule; no board has them."""
    return read_models(
        Chart, {path.stem: path for path in sorted((FOLDER / "report/verdicts").glob("*.yaml"))}, key="name"
    )


@cache
def prometheus_charts() -> dict[str, PrometheusChart]:
    paths = sorted((FOLDER / "charts" / "prometheus").glob("*.yaml"))
    return read_models(PrometheusChart, {path.stem: path for path in paths}, key="name")


def members(name: str) -> list[str]:
    """Return the names of a family's charts; of a chart, or of what does not exist, the name itself."""
    return [one for one, chart in charts().items() if chart.family == name] or [name]


def drawings() -> dict[str, Chart | PrometheusChart]:
    return {**charts(), **prometheus_charts()}


@cache
def boards() -> dict[str, Board]:
    paths = sorted((FOLDER / "boards").glob("*.yaml"))
    return read_models(Board, {f"cf-{path.stem.replace('_', '-')}": path for path in paths}, key="uid")


@cache
def variables() -> dict[str, Variable]:
    return {name: Variable.model_validate(fields) for name, fields in _yaml(FOLDER / "variables.yaml").items()}


def read_models(model: type[_Model], paths: Mapping[str, Path], key: str, hint: str = _HINT) -> dict[str, _Model]:
    """Return the model of each file, by name; `key` is the field that takes the name.

    Raises
    ------
    CounterflowError : names every file that is wrong, and every mistake in it.
    """
    found: dict[str, _Model] = {}
    wrong: list[str] = []
    for name, path in paths.items():
        file = "/".join(path.parts[-3:])
        try:
            each = dict(_each(name, {**_OF_FOLDER.get(path.parent.name, {}), **_yaml(path)}))
        except (ValueError, TypeError, yaml.YAMLError) as error:
            wrong.append(f"{file}: {error}")
            continue
        for one, fields in each.items():
            try:
                found[one] = model.model_validate({key: one, **fields})
            except ValidationError as error:
                where = file if one == name else f"{file}: {one}"
                what = (f"{'.'.join(map(str, mistake['loc']))}: {mistake['msg']}" for mistake in error.errors())
                wrong += (f"{where}: {text.removeprefix(': ')}" for text in what)
    if wrong:
        raise CounterflowError("\n".join(wrong), hint=hint, exit_code=2)
    return found


def _each(name: str, written: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the charts of a file, each with its name: that of the file, or a family's `charts`.

    Each of a family has the fields of the family, except those that it has itself; its `put` has a text for each
    `{word}` of the SQL.

    Raises
    ------
    ValueError : a word of `put` is not in the SQL, or the SQL of a figure has no place for the condition of the menu.
    """
    if "charts" not in written:
        yield name, written
        return
    shared = {field: value for field, value in written.items() if field != "charts"}
    for one, own in written["charts"].items():
        fields = {**shared, **own}
        for word, text in fields.pop("put", {}).items():
            if f"{{{word}}}" not in fields["sql"]:
                raise ValueError(
                    f"{one}: put: the SQL has no `{{{word}}}`; write it there, or remove the word from `put`"
                )
            fields["sql"] = _put(fields["sql"], word, text)
        if "figure" in own:
            if CHOSEN_AT not in fields.get("sql", CHOSEN_AT):
                raise ValueError(
                    f"{one}: sql: write `{CHOSEN_AT}` among the conditions; the menu chooses there, and without it"
                    " the panel draws all figures at once"
                )
            fields |= {"family": name, "of": shared["title"]}
        yield one, fields


def _put(sql: str, word: str, text: str) -> str:
    """Return SQL with a text in place of a word; further lines of the text begin where the line of the word does."""
    lines = []
    for line in sql.splitlines():
        begin = line[: len(line) - len(line.lstrip())]
        lines.append(line.replace(f"{{{word}}}", text.replace("\n", f"\n{begin}")))
    return "\n".join(lines) + "\n"


def _yaml(path: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(with_thresholds(path.read_text(encoding="utf-8"))))
