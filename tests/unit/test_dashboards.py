"""What Grafana's dashboards are made of: a panel of each shape as it must be, and the types of Grafana's own SDK."""

from __future__ import annotations

import copy
import json
import re
import shutil
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from counterflow.base.clickhouse import ClickHouse, ClickHouseError, Settings
from counterflow.base.errors import CounterflowError
from counterflow.dashboards import alerting, definition
from counterflow.dashboards.alerting import alerts
from counterflow.dashboards.build import IMPORTS, _link, dashboard, files, panel, path_of
from counterflow.dashboards.definition import Board, Chart, Link, PrometheusChart, boards, prometheus_charts
from counterflow.dashboards.looks import looks
from counterflow.dashboards.mistakes import mistakes, promql_mistakes, unbounded, unknown_names
from tests.support.board_check import check
from tests.support.metrics import published

PANELS = Path(__file__).parent / "panels"
BOARD = Board(
    uid="cf-test",
    title="Test",
    description="Of the tests.",
    step="interval",
    variables=("system", "grouping"),
    one=False,
    rows=({"title": "Over time", "text": "What it is.", "panels": [{"chart": "logical_io"}]},),
)


def drawing(path: Path) -> Chart | PrometheusChart:
    """Return the chart of a file of `panels`: its first document."""
    written, _ = yaml.safe_load_all(path.read_text())
    written["name"] = path.stem
    return (PrometheusChart if "promql" in written else Chart).model_validate(written)


def at(value: Any, path: str) -> Any:
    """Return what stands at a dotted path; None where nothing does. The longest key that is there is taken."""
    if not path or value is None:
        return value
    if isinstance(value, list):
        number, _, rest = path.partition(".")
        return at(value[int(number)], rest)
    for key in sorted(value, key=len, reverse=True):
        if path == key or path.startswith(f"{key}."):
            return at(value[key], path[len(key) + 1 :])
    return None


@pytest.mark.parametrize("path", sorted(PANELS.iterdir()), ids=lambda path: path.stem)
def test_a_panel_of_each_shape(path: Path) -> None:
    """The second document has what the first decides, by its place in the panel; `series` has the overrides of each."""
    made = panel(drawing(path), BOARD)
    _, expected = yaml.safe_load_all(path.read_text())
    series: dict[str, dict[str, Any]] = {}
    for override in made["fieldConfig"]["overrides"]:
        properties = {one["id"]: one["value"] for one in override["properties"]}
        series.setdefault(override["matcher"]["options"], {}).update(properties)
    of_series = expected.pop("series", {})
    assert {place: at(made, place) for place in expected} == expected
    assert {name: {place: at(series[name], place) for place in of_series[name]} for name in of_series} == of_series


def test_grafana_knows_every_key() -> None:
    """A key that Grafana's own types do not know is lost when they read and write a generated board."""
    made = {path: json.loads(text) for path, text in files().items() if path.endswith(".json")}
    shapes = {
        **dashboard(BOARD),
        "panels": [{"id": 1, **panel(drawing(path), BOARD)} for path in PANELS.iterdir()],
    }
    for name, written in {**made, "shapes": shapes}.items():
        lost = [
            path
            for path in _lost(written, _by_sdk(written))
            if not (path.startswith("/panels") and "rawSql" in path) and not path.startswith("/__")
        ]
        assert lost == [], name


def _by_sdk(written: dict[str, Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the SDK recommends the second version, which no Grafana before 13 reads
        from grafana_foundation_sdk.cog.encoder import JSONEncoder
        from grafana_foundation_sdk.cog.plugins import register_default_plugins
        from grafana_foundation_sdk.models.dashboard import Dashboard

        register_default_plugins()
        return json.loads(json.dumps(Dashboard.from_json(copy.deepcopy(written)), cls=JSONEncoder))


def _lost(before: Any, after: Any, path: str = "") -> Iterator[str]:
    if isinstance(before, dict):
        for key, value in before.items():
            if value is None:
                continue
            if not isinstance(after, dict) or key not in after:
                yield f"{path}/{key}"
            else:
                yield from _lost(value, after[key], f"{path}/{key}")
    elif isinstance(before, list):
        for number, value in enumerate(before):
            yield from _lost(value, after[number], f"{path}/{number}")
    elif before != after:
        yield f"{path}: {before} became {after}"


def test_boards_keep_the_rules() -> None:
    assert mistakes() == []


def test_each_metric_that_a_panel_names_is_exported_by_some_part() -> None:
    named = {metric for chart in prometheus_charts().values() for metric in chart.metrics}
    assert named - published() == set()


class _Refusing(ClickHouse):
    """A server that has no data yet, and refuses every statement about other tables of the product."""

    def __init__(self) -> None:
        """Connect to nothing."""

    def post(self, sql: str, body: bytes | Sequence[bytes] = b"", settings: Settings | None = None) -> bytes:
        if "FROM counterflow." in sql and "FROM counterflow.manifest GROUP BY toDate(" not in sql:
            raise ClickHouseError(47, 404, "no such column")
        return b'{"meta": [], "data": []}'


def test_the_sql_of_each_alert_is_checked() -> None:
    wrong = {one.name for one in check(_Refusing()) if one.thing == "alert" and one.state == "error"}
    assert wrong == {f"cf-{alert.name}" for alert in alerts().values() if alert.grafana}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT max(ts) AS time", "the query reads all of time"),
        ("SELECT ts AS time WHERE $__timeFilter(ts)", "the query gives every sample"),
    ],
)
def test_a_query_without_a_range_or_with_every_sample_is_named(sql: str, expected: str) -> None:
    assert any(expected in one for one in unbounded(drawing(PANELS / "lines.yaml").model_copy(update={"sql": sql})))


@pytest.mark.parametrize(
    ("promql", "expected"),
    [("rate(a_total[5m])", "[5m] is as long at any range"), ("sum(a_total)", "a_total only grows")],
)
def test_promql_that_ignores_the_range_or_draws_a_counter_is_named(promql: str, expected: str) -> None:
    assert any(expected in one for one in promql_mistakes(promql))
    assert list(promql_mistakes("sum by (topic) (rate(a_total{topic='b'}[$__rate_interval]))")) == []


def test_each_unit_is_one_of_grafana() -> None:
    from grafana_foundation_sdk.models import units

    known = {value for value in vars(units).values() if isinstance(value, str)}
    named = {unit.grafana for unit in looks().units.values()}
    assert {name for name in named if not name.startswith(("count:", "si:", "suffix:"))} <= known


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Definitions of this test alone: one good chart and a board that shows it."""
    loaders = (definition.charts, definition.prometheus_charts, definition.boards, definition.variables, alerts)
    (tmp_path / "charts").mkdir()
    (tmp_path / "boards").mkdir()
    shutil.copy(definition.FOLDER / "variables.yaml", tmp_path)
    (tmp_path / "charts/busy.yaml").write_text((PANELS / "stat.yaml").read_text().partition("\n---\n")[0])
    rows = [{"title": "R", "panels": [{"chart": "busy"}]}]
    board = {"title": "T", "description": "D", "step": "system", "rows": rows}
    (tmp_path / "boards/load.yaml").write_text(yaml.safe_dump(board))
    monkeypatch.setattr(definition, "FOLDER", tmp_path)
    monkeypatch.setattr(alerting, "ALERTS", tmp_path / "alerts")
    for loader in loaders:
        loader.cache_clear()
    yield tmp_path
    for loader in loaders:
        loader.cache_clear()


def test_every_mistake_is_named_with_its_file(folder: Path) -> None:
    written = yaml.safe_load((folder / "charts/busy.yaml").read_text())
    (folder / "charts/one.yaml").write_text(yaml.safe_dump({**written, "unit": "parsec"}))
    (folder / "charts/two.yaml").write_text(yaml.safe_dump({**written, "shape": "lines", "colour": "red"}))
    (folder / "charts/three.yaml").write_text("title: [")
    with pytest.raises(CounterflowError) as refused:
        definition.charts()
    for part in (
        f"{folder.name}/charts/one.yaml: unit: ",
        "`parsec` is no unit",
        "charts/two.yaml: colour: ",
        "charts/three.yaml: ",
    ):
        assert part in refused.value.message


def test_what_a_board_names_must_be_there(folder: Path) -> None:
    assert mistakes() == []
    linked = next(yaml.safe_load_all((PANELS / "ranking.yaml").read_text()))
    linked["links"] = [{"title": "L", "board": "cf-load", "variables": {"nobody": "name"}}]
    linked["links"] += [{"title": "L", "board": "cf-nowhere"}]
    linked["sql"] += " -- ${grouping:singlequote}"
    (folder / "charts/linked.yaml").write_text(yaml.safe_dump(linked))
    rows = [{"title": "R", "panels": [{"chart": "linked"}, {"chart": "missing"}]}]
    board = {"title": "W", "description": "D", "step": "system", "variables": ["system", "strange"], "rows": rows}
    (folder / "boards/wrong.yaml").write_text(yaml.safe_dump(board))
    definition.charts.cache_clear()
    definition.boards.cache_clear()
    assert mistakes() == [
        "cf-wrong: there is no variable `strange` in variables.yaml",
        "cf-wrong: the chart `linked` uses the variable `grouping`, which is not among `variables`",
        "cf-wrong: the chart `linked` sets `nobody`, which is no variable of `cf-load`",
        "cf-wrong: the chart `linked` leads to `cf-nowhere`, which is no board",
        "cf-wrong: there is no chart `missing`",
    ]
    (folder / "boards/again.yaml").write_text((folder / "boards/load.yaml").read_text())
    definition.boards.cache_clear()
    assert "2 boards have the title `T`: rename one" in mistakes()
    (folder / "charts/nowhere.yaml").write_text((folder / "charts/busy.yaml").read_text())
    definition.charts.cache_clear()
    assert "the chart `nowhere` is on no board: put it on one, or remove it" in mistakes()
    (folder / "charts/nowhere.yaml").write_text(
        (folder / "charts/busy.yaml").read_text().replace("counterflow.", "counterflow.un")
    )
    definition.charts.cache_clear()
    assert [mistake for mistake in mistakes() if "the chart `nowhere`: there is no table or view `un" in mistake]


def test_the_mistakes_of_an_alert_are_named_with_its_file(folder: Path) -> None:
    (folder / "alerts/steal").mkdir(parents=True)
    (folder / "alerts/steal/alert.yaml").write_text("group: figures\nseverity: bad\npending: 10m\n")
    with pytest.raises(CounterflowError) as refused:
        mistakes()
    for part in ("alerts/steal/alert.yaml: severity: ", "steal/alert.yaml: pending: ", "steal/alert.yaml: board: "):
        assert part in refused.value.message


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        ({"unit": "parsec"}, r"charts/both\.yaml: a: unit: "),
        ({"put": {"nobody": "x"}}, r"charts/both\.yaml: a: put: the SQL has no `\{nobody\}`; write it there"),
        ({"figure": "a", "sql": "SELECT 1"}, r"charts/both\.yaml: a: sql: write `\$__timeFilter\(ts\)` among the"),
        ({"from": "disk_total", "mean": "busy_pct"}, r"charts/both\.yaml: a: .*one of `from`, `rows` and `sql`"),
        (
            {"thresholds": {"nobody": {"watch": "x"}}},
            r"charts/both\.yaml: a: .*<nobody\.watch>: thresholds\.yaml has",
        ),
        ({"thresholds": {"disk_busy_pct": {"warn": "x"}}}, r"(?s)charts/both\.yaml: a: .*should be 'watch' or 'limit'"),
    ],
)
def test_a_mistake_in_a_family_names_its_chart(folder: Path, one: dict[str, Any], expected: str) -> None:
    written = yaml.safe_load((folder / "charts/busy.yaml").read_text())
    (folder / "charts/both.yaml").write_text(yaml.safe_dump({**written, "charts": {"a": one}}))
    definition.charts.cache_clear()
    with pytest.raises(CounterflowError, match=expected):
        definition.charts()


@pytest.mark.parametrize("values", [{}, {"mean": "busy_pct", "value": "max(busy_pct)"}])
def test_a_chart_of_one_table_has_one_value(values: dict[str, str]) -> None:
    written, _ = yaml.safe_load_all((PANELS / "stat.yaml").read_text())
    del written["sql"]
    with pytest.raises(ValidationError, match="a value is one of `value`, `mean`, `rate`, `counter`, `peak`"):
        Chart.model_validate({**written, "name": "stat", "from": "disk_total", **values})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"most": 10}, "`thing`: with `most` it is the column"),
        ({"most": 10, "thing": {"mean": "busy_pct"}}, "`thing`: with `most` it is the column"),
        ({"most": 10, "thing": "system"}, "`thing: system` needs `across: true`"),
        ({"from": "counterflow.disk_total"}, "write the table without `counterflow.`"),
        ({}, "`open` with `from` needs `most` and `thing`"),
    ],
)
def test_an_open_chart_of_one_table_names_its_lines(fields: dict[str, Any], expected: str) -> None:
    chart = {"name": "busy", "title": "B", "question": "Q", "reading": "R", "shape": "lines", "unit": "percent"}
    with pytest.raises(ValidationError, match=expected):
        Chart.model_validate({**chart, "open": True, "from": "disk_total", "mean": "busy_pct", **fields})


def test_a_family_is_one_panel_and_each_query_has_its_own_unit() -> None:
    made = dashboard(boards()["cf-linux"])
    [menu] = [one for one in made["templating"]["list"] if one["name"] == "figure"]
    assert [one["value"] for one in menu["options"]][:5] == ["all paging", "paging space", "scans", "faults", "busy"]
    [gpus] = [one for row in made["panels"] for one in row.get("panels", ()) if one["title"] == "GPUs"]
    units = {
        override["matcher"]["options"]: {one["id"]: one["value"] for one in override["properties"]}["unit"]
        for override in gpus["fieldConfig"]["overrides"]
        if override["matcher"]["id"] == "byFrameRefID"
    }
    assert units == {"A": "percent", "B": "mbytes", "C": "watt", "D": "celsius", "E": "suffix:MHz"}


def test_a_board_with_a_family_needs_its_menu() -> None:
    board = boards()["cf-linux"].model_copy(update={"variables": ("system",)})
    assert "the family `linux_gpu` needs the variable `figure`" in unknown_names(board)


def test_the_menu_of_a_board_leads_to_every_board() -> None:
    """A link of Grafana leads to the boards that have all of its tags."""
    made = [dashboard(board) for board in boards().values()]
    for board in made:
        [menu] = board["links"]
        assert [one["uid"] for one in made if {*menu["tags"]} <= {*one["tags"]}] == [one["uid"] for one in made]


def test_all_systems_are_not_passed_on_to_a_board_of_one_system() -> None:
    kept = {uid: dashboard(board)["links"][0]["includeVars"] for uid, board in boards().items()}
    assert {uid for uid, variables in kept.items() if not variables} == {
        "cf-any-counter",
        "cf-operations",
        "cf-pipeline",
    }
    link = Link(title="There", board="cf-system")
    from_all, from_one = (_link(link, boards()[uid])["url"] for uid in ("cf-pipeline", "cf-disks"))
    assert "${system:queryparam}" not in from_all
    assert "${system:queryparam}" in from_one


@pytest.mark.parametrize("uid", ["cf-mirror", "cf-pipeline"])
def test_a_board_to_import_declares_its_data_sources(uid: str) -> None:
    provisioned, made = (json.loads(files()[path]) for path in (path_of(uid), f"{IMPORTS}/{uid}.json"))
    inputs = {one["name"]: one["pluginId"] for one in made["__inputs"]}
    assert inputs["DS_CLICKHOUSE"] == "grafana-clickhouse-datasource"
    assert ("DS_PROMETHEUS" in inputs) == (uid == "cf-pipeline")
    named = set(re.findall(r"\$\{(DS_\w+)\}", json.dumps(made)))
    assert named == set(inputs), "each input is used, and no other is named"
    assert {one["id"] for one in made["__requires"]} == {"grafana", *inputs.values()}
    text = json.dumps({key: value for key, value in made.items() if not key.startswith("__")})
    assert "${datasource" not in text
    assert "${prometheus" not in text
    assert "uid" not in made, "Grafana assigns one"
    assert "/d/" not in text, "nothing leads to a uid that another board has only where it is provisioned"
    assert len(made["panels"]) == len(provisioned["panels"])
    assert made["id"] is None
    assert made["editable"]
