"""Prometheus and Alertmanager accept the rules and the example; each rule fires and clears as its case describes."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, urlsplit

import pytest
import yaml

from counterflow.analysis.queries import queries, run_stored
from counterflow.base.clickhouse import ClickHouse
from counterflow.dashboards import alerting, build
from counterflow.dashboards.alerting import Site
from counterflow.dashboards.definition import boards, charts, prometheus_charts
from counterflow.dashboards.frames import fetch
from counterflow.dashboards.macros import Range, expand
from counterflow.schemas.definition import datasets
from tests.support.prometheus import REPOSITORY, run
from tests.support.tables import insert

TESTS = sorted([*REPOSITORY.glob("tests/alerts/*.yml"), *REPOSITORY.glob("dashboards/alerts/*/*.yml")])
SITE = Site("https://grafana.example", "https://docs.example/runbooks/{alert}/")
ROUTING = REPOSITORY / "dashboards/prometheus/alertmanager.example.yml"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the files that Prometheus reads."""
    folder = tmp_path_factory.mktemp("made")
    build.write(folder, below="prometheus/", site=Site(runbooks=SITE.runbooks))
    return folder / "prometheus"


def test_prometheus_takes_the_rules_and_the_example(made: Path) -> None:
    checked = run("promtool", "check", "rules", "--lint-fatal", made / "rules.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    checked = run("promtool", "check", "config", made / "prometheus.example.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def sent(alert: alerting.Alert, minute: int, written: dict[str, Any]) -> dict[str, Any]:
    """Return an alert as promtool expects it; its board begins three hours before the hour, and ends with it."""
    labels = written["labels"]
    begin, end = (3_600_000 * (minute // 60 + hours) for hours in (-3, 1))
    chosen = (f"&var-{name}={quote_plus(' / '.join(labels[of] for of in by))}" for name, by in alert.variables.items())
    board = f"http://127.0.0.1:13000/d/{alert.board}?from={begin}&to={end}{''.join(chosen)}"
    links = {"dashboard_url": board, "runbook_url": f"https://docs.example/runbooks/{alert.name}/"}
    return {"exp_labels": labels, "exp_annotations": links | {key: written[key] for key in written.keys() - {"labels"}}}


@pytest.mark.parametrize("path", TESTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_alerts_wait_fire_and_clear(path: Path, made: Path) -> None:
    stories = [
        {
            "interval": "1m",
            "name": story["name"],
            "input_series": [{"series": series, "values": values} for series, values in story["series"].items()],
            "promql_expr_test": story.get("promql", []),
            "alert_rule_test": [
                {
                    "eval_time": time,
                    "alertname": alert.title,
                    "exp_alerts": [sent(alert, int(time.removesuffix("m")), one) for one in fired],
                }
                for alert, times in ((alerting.alerts()[name], times) for name, times in story["alerts"].items())
                for time, fired in times.items()
            ],
        }
        for story in yaml.safe_load(path.read_text())
    ]
    file = made / "stories.yml"
    file.write_text(yaml.safe_dump({"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": stories}))
    tested = run("promtool", "test", "rules", file)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_queries_of_panels_are_promql(tmp_path: Path) -> None:
    """Each expression becomes a recording rule, which Prometheus' own tool checks."""
    queries = [promql for one in prometheus_charts().values() for promql in one.promql.values()]
    rules = [
        {"record": f"panel:{place}", "expr": text.replace("$__rate_interval", "1m")}
        for place, text in enumerate(queries)
    ]
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    checked = run("promtool", "check", "rules", tmp_path / "rules.yml")
    assert checked.returncode == 0, checked.stderr
    assert f"{len(queries)} rules found" in checked.stdout


LABELS = (
    "system",
    "entity",
    "entity_type",
    "filesystem",
    "asp",
    "journal",
    "pool",
    "component",
    "queue",
    "dataset",
    "agent_id",
    "rule",
)


def rendered(folder: Path, *, rows: bool) -> dict[str, str]:
    """Return the texts of Grafana's rules by rule and annotation, rendered by Prometheus, whose templates Grafana uses.

    Grafana gives a template `$values`. Where a query has no rows, it is empty, and there are no labels.
    """
    labels = ", ".join(f'{label}="a {label}"' for label in LABELS)
    values = "{{ $values := args 12.3456789 }}" if rows else "{{ $values := args }}"
    templates = {
        rule["title"]: {
            name: values + text.replace("$values.A.Value", "$values.arg0") for name, text in rule["annotations"].items()
        }
        for group in alerting.grafana(SITE)["groups"]
        for rule in group["rules"]
    }
    rules = [
        {"alert": title, "expr": "given" if rows else "vector(1)", "annotations": texts}
        for title, texts in templates.items()
    ]
    (folder / "texts.yml").write_text(yaml.safe_dump({"groups": [{"name": "texts", "rules": rules}]}))
    wrong = [
        {"eval_time": "1m", "alertname": title, "exp_alerts": [{"exp_labels": {"none": "1"}}]} for title in templates
    ]
    series = [{"series": f"given{{{labels}}}", "values": "1x5"}]
    test = {"interval": "1m", "input_series": series, "alert_rule_test": wrong}
    (folder / "test.yml").write_text(yaml.safe_dump({"rule_files": ["texts.yml"], "tests": [test]}))
    outcome = run("promtool", "test", "rules", folder / "test.yml")
    got = r'got:\[\s*0:\s*Labels:\{[^}]*alertname="(\w+)"[^}]*\}\s*Annotations:\{(.*?)\}\s*\]'
    found = re.findall(got, outcome.stdout + outcome.stderr, re.DOTALL)
    assert {title for title, _ in found} == templates.keys(), outcome.stdout + outcome.stderr
    return {
        f"{title} {name}": json.loads(text)
        for title, annotations in found
        for name, text in re.findall(r'(\w+)=("(?:[^"\\]|\\.)*")', annotations)
    }


@pytest.mark.parametrize("rows", [True, False])
def test_each_text_of_grafana_is_whole_with_rows_and_without(tmp_path: Path, *, rows: bool) -> None:
    found = rendered(tmp_path, rows=rows)
    assert {name.split()[1] for name in found} == {"summary", "description", "dashboard_url", "runbook_url"}
    for name, text in found.items():
        assert text.strip() == text != "", name
        for fault in ("no value", "{{", "%!", "<error", "()", "a  "):
            assert fault not in text, f"{name}: {text}"
        if name.endswith("_url"):
            assert urlsplit(text).scheme == "https", name
    slow, url = found["CounterflowDiskResponse description"], found["CounterflowDiskResponse dashboard_url"]
    suspected = found["CounterflowLinkCapSuspected summary"]
    if rows:
        assert slow.startswith("A transfer takes 12.35 ms, ")
        assert suspected == "a system: link a entity may be capped by the hypervisor"
        assert url == "https://grafana.example/d/cf-disks?from=now-3h&to=now&var-system=a+system"
    else:
        assert slow == "Its query has no rows of the last hour."
        assert suspected == "CounterflowLinkCapSuspected: nothing was collected that it judges"
        assert url == "https://grafana.example/d/cf-disks?from=now-3h&to=now"


def fired(client: ClickHouse, alert: str, column: str = "system") -> dict[str, float]:
    """Return what is over the limit of an alert that Grafana evaluates, an hour back as it does."""
    sql, now = alerting.alerts()[alert].grafana, datetime.now(UTC)
    assert sql is not None
    found = fetch(client, expand(sql.sql, Range(now - timedelta(hours=1), now, 60), {}))
    names = [one.name for one in found.columns]
    values = {row[names.index(column)]: row[names.index("Value")] for row in found.rows}
    return {name: value for name, value in values.items() if sql.above is not None and value > sql.above}


def ago(minutes: int) -> str:
    return (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat(timespec="seconds")


CPU = {"engine_type": "core", "engine": "all", "entitled_cores": 2, "logical_engines": 4}
MEMORY = {"pool": "memory", "size_mb": 1000, "free_mb": 10}
IBMI = {"source": "ibmi_tables"}
QUEUE = {"component": "apply", "queue": "Q"}
RUNNABLE = {"section": "PROC", "instance": "", "counter": "Runnable"}
INODES, FREE, SPACE = (
    {"section": "filesystems", "instance": "/a", "counter": name}
    for name in ("fs_files", "fs_files_free", "fs_full_percent")
)
JUDGED: dict[str, tuple[float, str, dict[str, Any], dict[str, Any], *tuple[tuple[str, dict[str, Any]], ...]]] = {
    "disk-response": (20, "disk_total", {"transfers_per_s": 500, "response_ms": 20}, {"transfers_per_s": 0}),
    "replication-lag": (
        *(90, "replication_lag"),
        {**QUEUE, "transactions": 1, "end_to_end_ms": 90_000},
        {**QUEUE, "idle": True},
    ),
    "processor-at-entitlement": (
        *(100, "system_cpu"),
        {**CPU, "physical_consumed_cores": 2},
        {**CPU, "physical_consumed_cores": 1},
    ),
    "run-queue": (3, "counter", {**RUNNABLE, "value": 12}, {**RUNNABLE, "value": 6}, ("system_cpu", CPU)),
    "paging": (
        *(15, "pool"),
        {**MEMORY, "paging_space_pages_out": 15 * 300},
        {**MEMORY, "paging_space_pages_out": 7 * 300},
    ),
    "filesystem-full": (
        *(95, "counter", {**FREE, "value": 5}, {**FREE, "value": 53}),
        *(("counter", {**INODES, "value": 100}), ("counter", {**SPACE, "value": 10})),
    ),
    "memory-short": (
        *(100, "pool"),
        {**MEMORY, "process_pct": 80, "system_pct": 20},
        {**MEMORY, "process_pct": 45, "system_pct": 10},
    ),
    # a transaction of 1 s waits 40 times 10 ms for a page, or never
    "pool-faulting": (
        *(40, "pool", {**IBMI, "pool": "2", "faults": 40}, {**IBMI, "pool": "2", "faults": 0}),
        ("disk", {**IBMI, "disk": "D", "leaf": True, "transfers": 9, "service_ms": 10, "wait_ms": 0}),
        ("job", {**IBMI, "job": "A", "job_pool": "02", "job_type": "I", "transactions": 1, "response_s": 1}),
    ),
}
"""Alerts: the figure of an interval over the limit, its row, one below it, and what is recorded beside either."""


@pytest.mark.parametrize("alert", JUDGED)
def test_an_alert_judges_the_newest_interval_alone(client: ClickHouse, alert: str) -> None:
    figure, dataset, over, below, *beside = JUDGED[alert]
    for system, earlier, newest in (("over", below, over), ("was over", over, below), ("below", below, below)):
        for ts, row in ((ago(40), earlier), (ago(5), newest)):
            for table, columns in ((dataset, row), *beside):
                insert(client, table, columns, ts=ts, interval_s=300, system=system)
    assert fired(client, alert) == {"over": pytest.approx(figure)}


@pytest.mark.parametrize(
    ("alert", "unknown", "is_beside"),
    [
        ("disk-response", {"transfers_per_s": 500}, True),
        ("replication-lag", {**QUEUE, "transactions": 1}, True),
        ("pool-faulting", {**IBMI, "pool": "2", "size_mb": 100}, True),
        ("pool-faulting", {**IBMI, "pool": "2", "faults": 40}, False),
    ],
)
def test_an_alert_does_not_end_with_an_interval_whose_figure_is_missing(
    client: ClickHouse, alert: str, unknown: dict[str, Any], is_beside: bool
) -> None:
    figure, dataset, over, _, *beside = JUDGED[alert]
    for ts, rows in ((ago(40), [(dataset, over), *beside]), (ago(5), [(dataset, unknown), *beside * is_beside])):
        for table, row in rows:
            insert(client, table, row, ts=ts, interval_s=300, system="A")
    assert fired(client, alert) == {"A": pytest.approx(figure)}


def test_results_whose_rows_are_under_way_are_not_incomplete_yet(client: ClickHouse) -> None:
    counts = {"system": "A", "interval_s": 60, "counted": "link", "row_count": 2}
    insert(client, "manifest", {"ts": ago(1), **counts})
    assert fired(client, "results-provisional", "dataset") == {}
    insert(client, "manifest", {"ts": ago(20), **counts})
    of_links = [name for name, one in datasets().items() if one.counts and "link" in one.counts.manifests]
    assert fired(client, "results-provisional", "dataset") == dict.fromkeys(["link_load", *of_links], 1)


ODD = 'it\'s "A"'
NAMES = {"counter": ("instance", "counter"), "config": ("item", "name")}


def test_what_operators_look_at_is_judged_by_its_newest_sample(client: ClickHouse) -> None:
    """On one system all is beyond its limit; on the other it was, and a reply, a start and a save ended it."""
    before, newest = ago(40), ago(5)

    def sampled(system: str, ts: str, *key: str, value: Any, dataset: str = "counter") -> None:
        """Insert what the pack `operations` reads: the section, the thing and the name are its key."""
        named = dict(zip(("section", *NAMES[dataset]), key, strict=True))
        insert(client, dataset, {"system": system, "ts": ts, "interval_s": 60, **named, "value": value})

    figures = {
        "inquiry-message": ("MESSAGE_QUEUE_INFO", "QSYS/QSYSOPR 0A", "AGE", 1000),
        "job-queue-waiting": ("JOB_QUEUE_INFO", "QGPL/QBATCH", "LONGEST_WAIT", 7200),
        "asp-full": ("ASP_INFO", "1", "USED", 92.5),
        "receiver-detached": ("JOURNAL_RECEIVER_INFO", "APP/QSQJRN", "OLDEST_DETACHED", 8 * 86400),
    }
    for section, thing, name, value in figures.values():
        none = thing.replace(" 0A", " *NONE")
        sampled("ended", before, section, thing, name, value=value)
        sampled("ended", newest, section, none, name, value=0)
        sampled(ODD, newest, section, thing, name, value=value)
    sampled(ODD, newest, "MESSAGE_QUEUE_INFO", "QSYS/QSYSOPR 0B", "AGE", value=60)
    text = "(C 'G' \"R\")"
    sampled(ODD, newest, "MESSAGE_QUEUE_INFO", "QSYS/QSYSOPR 0A", "MESSAGE_TEXT", value=text, dataset="config")
    found = {alert: fired(client, alert) for alert in figures}
    expected = {"inquiry-message": 1000 / 60, "job-queue-waiting": 120, "asp-full": 92.5, "receiver-detached": 192}
    assert found == {alert: {ODD: pytest.approx(value)} for alert, value in expected.items()}

    rows = run_stored(client, queries()["unanswered_messages"])
    assert [(row["system"], row["age_min"], row["text"]) for row in rows] == [(ODD, 16.7, text), (ODD, 1, None)]
    now = datetime.now(UTC)

    def drawn(chart: str) -> list[dict[str, Any]]:
        hour = Range(now - timedelta(hours=1), now, 60)
        return client.rows(expand(charts()[chart].query, hour, {"system": (ODD, "ended")}))

    assert [(row["System"], row["Text"]) for row in drawn("operations_messages")] == [(ODD, text), (ODD, None)]
    newest_figures = {chart: drawn(chart)[-1]["Value"] for chart in boards()["cf-operations"].figures}
    assert newest_figures == dict(zip(newest_figures, (pytest.approx(1000 / 60), 120, 92.5, 192), strict=True))
    assert 92.5 in {row["Value"] for row in drawn("operations_storage")}


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        (["alertname=CounterflowWatchdog", "severity=none"], "dead-mans-switch"),
        (["alertname=CounterflowLinkCapped", "severity=critical", "system=A"], "pager"),
        (["alertname=CounterflowDiskResponse", "severity=warning"], "mail"),
        (["alertname=CounterflowLinkHeadroom", "severity=info"], "notices"),
    ],
)
def test_the_example_routes_by_severity(labels: list[str], receiver: str) -> None:
    routed = run(
        *("amtool", "config", "routes", "test", f"--config.file={ROUTING}", f"--verify.receivers={receiver}", *labels)
    )
    assert routed.returncode == 0, routed.stdout + routed.stderr
