"""Alerts: their texts, their receivers, and that some part exports each metric that they name."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import ValidationError

from counterflow.base.errors import CounterflowError
from counterflow.cli import cli
from counterflow.cli._metrics import published
from counterflow.dashboards import alerting
from counterflow.pipelines.exporter import metrics
from counterflow.pipelines.exporter.jobs import Jobs
from counterflow.pipelines.exporter.metrics import ResultMetrics
from counterflow.pipelines.exporter.newest import Newest
from counterflow.pipelines.exporter.watched import EVIDENCE, watched
from counterflow.pipelines.jobs import all_jobs
from counterflow.pipelines.rules import link_notices, rules
from counterflow.schemas.definition import Watched, datasets
from tests.support.frames import frame
from tests.support.prometheus import REPOSITORY

TESTS = sorted((REPOSITORY / "tests/alerts").glob("*.yml"))
RUNBOOKS = REPOSITORY / "docs/runbooks"
ROUTING = REPOSITORY / "dashboards/prometheus/alertmanager.example.yml"
NOW = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
OF_METRICS = [alert for alert in alerting.alerts().values() if alert.expr]


def stated() -> dict[str, dict[str, Any]]:
    """Return every rule of Prometheus by its name."""
    groups = yaml.safe_load(alerting.files()[alerting.PROMETHEUS])["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def test_each_alert_of_a_metric_is_a_rule() -> None:
    assert set(stated()) == {alert.title for alert in OF_METRICS}


def test_each_alert_is_seen_to_fire_and_to_stay_silent() -> None:
    checks = [
        check
        for path in TESTS
        for test in yaml.safe_load(path.read_text())["tests"]
        for check in test["alert_rule_test"]
    ]
    for alert in OF_METRICS:
        of = [check["exp_alerts"] for check in checks if check["alertname"] == alert.title]
        assert any(of), f"{alert.name} is never seen to fire"
        if alert.expr != "vector(1)":
            assert of.count([]) >= 2, f"{alert.name} is not seen to wait and to clear"


@pytest.mark.parametrize("alert", alerting.alerts().values(), ids=lambda alert: alert.name)
def test_each_alert_has_one_runbook(alert: alerting.Alert) -> None:
    text = (RUNBOOKS / f"{alert.slug}.md").read_text()
    assert text.startswith(f"# {alert.title}\n")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings == ["What it means", "How to confirm", "What to do", "What the documents say"]
    assert "```sql" in text or "```\n" in text, "the way to confirm is a statement or a command"


def test_the_page_of_alerts_names_each_with_its_severity() -> None:
    text = (REPOSITORY / "docs/alerts.md").read_text()
    for alert in alerting.alerts().values():
        assert f"| [{alert.title}](runbooks/{alert.slug}.md) | {alert.severity} |" in text


def test_every_runbook_has_its_alert() -> None:
    pages = {path.stem for path in RUNBOOKS.glob("*.md")} - {"index"}
    assert pages == {alert.slug for alert in alerting.alerts().values()}


@pytest.mark.parametrize("alert", OF_METRICS, ids=lambda alert: alert.name)
def test_a_rule_has_one_label_and_every_annotation(alert: alerting.Alert) -> None:
    rule = stated()[alert.title]
    assert set(rule["labels"]) == {"severity"}
    assert set(rule["annotations"]) == {"summary", "description", "dashboard_url", "runbook_url"}
    assert all(rule["annotations"].values())
    assert "[[" not in rule["annotations"]["description"]
    assert set(re.findall(r"\[\[(\w+)\]\]", alert.description or "")) <= {f for of in EVIDENCE.values() for f in of}
    assert "$value" not in alert.summary, "the summary is Grafana's too, which has no $value"


@pytest.mark.parametrize("alert", alerting.alerts().values(), ids=lambda alert: alert.name)
def test_each_alert_leads_to_its_board_and_its_page(alert: alerting.Alert) -> None:
    of_grafana = {
        rule["title"]: rule["annotations"]
        for group in yaml.safe_load(alerting.files()[alerting.GRAFANA])["groups"]
        for rule in group["rules"]
    }
    rules_of = [stated()[alert.title]["annotations"]] if alert.expr else []
    for links in [*rules_of, *([of_grafana[alert.title]] if alert.grafana else [])]:
        url = links["dashboard_url"]
        if alert.aix_board:
            url = url.replace(f'{{{{ if eq $labels.platform "AIX" }}}}{alert.aix_board}{{{{ else }}}}', "", 1)
            url = url.replace("{{ end }}", "", 1)
        assert url.startswith(f"http://127.0.0.1:13000/d/{alert.board}?from=")
        assert links["runbook_url"].startswith("file:///")
        assert Path(url2pathname(urlsplit(links["runbook_url"]).path)).is_file()
    if alert.grafana:
        texts = alert.summary + alert.grafana.description
        perhaps = set(re.findall(r"{{ with \$labels\.(\w+) }}", texts))
        labels = {label for of in alert.variables.values() for label in of} | set(re.findall(r"\$labels\.(\w+)", texts))
        assert labels - perhaps <= set(re.findall(r"\w+", alert.grafana.sql)), (
            "Grafana writes `[no value]` for the rest"
        )


def test_a_site_puts_its_own_addresses() -> None:
    site = alerting.Site("https://grafana.example/", "https://docs.example/runbooks/{alert}/")
    made = alerting.files(site)
    for text in (made[alerting.PROMETHEUS], made[alerting.GRAFANA]):
        assert "127.0.0.1" not in text
        assert text.count("https://grafana.example/d/cf-mirror?") >= 2
        assert text.count("https://docs.example/runbooks/link-capped/") == 1


def test_limits_are_those_of_the_notices() -> None:
    full, greater = link_notices.DEFAULTS.full_adapter, 1 / (1 - link_notices.DEFAULTS.skew_tolerance)
    exprs = {alert.name: alert.expr or "" for alert in OF_METRICS}
    assert f"counterflow_link_port_used_ratio >= {full:g}" in exprs["link_headroom"]
    assert f"counterflow_link_port_used_ratio >= {full:g}" in exprs["link_adapter_full"]
    assert f"> {greater:g}\n" in exprs["node_skew"]


@pytest.fixture(scope="module")
def flink() -> Iterator[str]:
    """A JobManager that runs one of the jobs."""
    answers = {
        "/jobs/overview": {"jobs": [{"name": "log_load", "jid": "1", "state": "RUNNING"}]},
        "/jobs/1/checkpoints": {
            "counts": {"failed": 2},
            "latest": {"completed": {"latest_ack_timestamp": 1_700_000_000_000}},
        },
    }

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the library's name
            body = json.dumps(answers[self.path]).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def families(*collectors: Any) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Return what collectors export: by name of the metric, the value by labels."""
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(generate_latest(registry).decode()):
        found.setdefault(family.name, {})
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_jobs_are_exported_as_running_or_not(flink: str) -> None:
    found = families(Jobs(flink))
    assert found["counterflow_flink_up"] == {(): 1}
    running = found["counterflow_job_running"]
    assert running == {(("flink_job", name),): float(name == "log_load") for name in all_jobs()}
    of = (("flink_job", "log_load"),)
    assert found["counterflow_job_failed_checkpoints_total"] == {of: 2}
    assert found["counterflow_job_checkpoint_timestamp_seconds"] == {of: 1_700_000_000}


def test_a_job_that_is_not_to_run_is_not_missed(flink: str) -> None:
    running = families(Jobs(flink, names=["log_load", "io_mix"]))["counterflow_job_running"]
    assert running == {(("flink_job", "log_load"),): 1, (("flink_job", "io_mix"),): 0}


def test_the_exporter_takes_no_job_that_does_not_exist_and_no_flink_beside_a_flink() -> None:
    ended = CliRunner().invoke(cli, ["verdicts", "export", "--job", "disk_lode"])
    assert isinstance(ended.exception, CounterflowError)
    assert ended.exception.message == "there is no job disk_lode"
    ended = CliRunner().invoke(cli, ["verdicts", "export", "--no-flink", "--flink-url", "http://127.0.0.1:9"])
    assert ended.exit_code == 2
    assert "give --flink-url or --no-flink, not both" in ended.output


def test_a_flink_that_is_gone_is_exported_as_down_without_jobs() -> None:
    assert families(Jobs("http://127.0.0.1:9")) == {"counterflow_flink_up": {(): 0}}


def test_jobs_are_looked_for_on_every_cluster(flink: str) -> None:
    assert families(Jobs("http://127.0.0.1:9", flink)) == families(Jobs(flink))


def test_each_metric_that_a_rule_names_is_exported_by_some_part() -> None:
    assert not any(alerting.unpublished(published()).values())
    without = published() - {"counterflow_lander_lag"}
    assert alerting.unpublished(without)["CounterflowLanderStuck"] == ["counterflow_lander_lag"]


def test_the_metrics_of_jobs_are_known_before_flink_answers(flink: str) -> None:
    assert [family.name for family in Jobs(flink).collect()] == [family.name for family in Jobs(flink).describe()]


def test_the_example_names_alerts_that_exist() -> None:
    assert set(re.findall(r"Counterflow\w+", ROUTING.read_text())) <= set(stated())


def test_grafana_takes_what_is_provisioned() -> None:
    groups = yaml.safe_load(alerting.files()[alerting.GRAFANA])["groups"]
    found = [rule for group in groups for rule in group["rules"]]
    assert {group["folder"] for group in groups} == {"Counterflow alerts"}
    for name in ("uid", "title"):
        assert len({rule[name] for rule in found}) == len(found)
    for rule in found:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", rule["uid"])
        assert not any("$" in value for value in rule["labels"].values())
        query, condition = rule["data"]
        assert (query["model"]["format"], condition["model"]["expression"], rule["condition"]) == (1, "A", "C")
        assert "${" not in query["model"]["rawSql"], "an alert knows no variables"
        assert " AS Value" in query["model"]["rawSql"]


@pytest.mark.parametrize(
    ("limit", "evaluator"),
    [({"above": 10}, {"type": "gt", "params": [10]}), ({"below": 0.5}, {"type": "lt", "params": [0.5]})],
)
def test_an_alert_fires_above_a_limit_or_below_one(limit: dict[str, float], evaluator: dict[str, Any]) -> None:
    assert alerting.Sql(sql="SELECT 1 AS Value", description="x", **limit).evaluator == evaluator


@pytest.mark.parametrize("limits", [{}, {"above": 1.0, "below": 0.0}])
def test_an_alert_has_one_limit(limits: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="expected one of `above` and `below`"):
        alerting.Sql(sql="SELECT 1 AS Value", description="x", **limits)


# Exported metrics.


def verdict(**columns: Any) -> bytes:
    evidence = {"inputs": {"capacity_pct": 3, "rows_s": 7}, "figures": {"share": 0.7, "util": None}}
    row = {
        "ts": NOW,
        "interval_s": 30,
        "system": "A",
        "n": 2,
        "rule": "roce_cap",
        "entity_type": "nrg",
        "entity": "G1",
        "state": "CAPPED",
        "signal": "CAPPED",
        "stale": False,
        "reason": "",
        "since": NOW,
        "evidence": json.dumps(evidence),
        "parameters": "0",
    }
    return json.dumps(row | columns).encode()


def of(system: str = "A", **more: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({"rule": "roce_cap", "system": system, "entity_type": "nrg", "entity": "G1", **more}.items()))


def test_a_verdict_exports_every_state_of_its_rule_and_the_figures_that_are_known() -> None:
    exported = ResultMetrics(3600, 10)
    exported.observe("verdict", verdict())
    found = families(exported)
    states = found["counterflow_verdict_state"]
    assert states == {of(state=state): float(state == "CAPPED") for state in rules()["roce_cap"].states}
    assert found["counterflow_verdict_figure"] == {of(figure="share"): 0.7, of(figure="capacity_pct"): 3}
    assert found["counterflow_verdict_stale"] == {of(): 0}
    assert found["counterflow_verdict_timestamp_seconds"][of()] == pytest.approx(
        datetime.fromisoformat(NOW).timestamp()
    )


def test_leaving_a_state_exports_0_for_it() -> None:
    exported = ResultMetrics(3600, 10)
    exported.observe("verdict", verdict())
    exported.observe("verdict", verdict(state="OK", n=3))  # the same interval, completed
    states = families(exported)["counterflow_verdict_state"]
    assert (states[of(state="CAPPED")], states[of(state="OK")]) == (0, 1)
    exported.observe("verdict", verdict())  # repeated, with fewer rows, by a job that started anew
    assert families(exported)["counterflow_verdict_state"] == states


def test_names_are_data() -> None:
    name = 'a"}\n# HELP x\n{b="<script>\x1b[31m\\'
    exported = ResultMetrics(3600, 10)
    exported.observe("verdict", verdict(system=name))
    assert len(families(exported)["counterflow_verdict_state"]) == 6
    assert families(exported)["counterflow_verdict_stale"] == {of(name): 0}


def test_what_is_no_result_is_counted_and_harms_nothing() -> None:
    exported = ResultMetrics(3600, 10)
    bad = [b"{", b"[]", b"7", b"{}", b"\xff", verdict(state="GONE"), verdict(rule="of_tomorrow"), verdict(ts="soon")]
    bad += [verdict(evidence="{"), verdict(evidence="[]"), verdict(system=None), verdict(n="x"), verdict(entity=7)]
    for record in bad:
        exported.observe("verdict", record)
    exported.observe("disk_total", json.dumps({"ts": NOW, "n": 1, "system": "A", "response_ms": "4"}).encode())
    exported.observe("verdict", None)
    found = families(exported)
    assert found["counterflow_exporter_unreadable_records_total"][("dataset", "verdict"),] == len(bad)
    assert found["counterflow_exporter_unreadable_records_total"][("dataset", "disk_total"),] == 1
    assert not any(found[name] for name in ("counterflow_verdict_state", "counterflow_disk_response_seconds"))


def test_a_recording_of_last_year_is_no_current_state() -> None:
    exported = ResultMetrics(3600, 10)
    exported.observe("verdict", verdict(ts="2020-01-01T00:00:00Z"))
    assert not families(exported)["counterflow_verdict_state"]


def test_results_are_exported_in_seconds_and_ratios_and_null_is_not_0() -> None:
    exported = ResultMetrics(3600, 10)
    rows = {
        "disk_total": [{"response_ms": 12, "transfers_per_s": 80}],
        "link_load": [
            {"link": "G1", "link_type": "nrg", "group": "P", "out_capacity_pct": 140, "in_capacity_pct": 120},
            {"link": "en0", "link_type": "ethernet", "own_out_bytes_s": 1},
        ],
        "pool_faulting": [{"pool": "2", "interactive_fault_pct": 25}],
        "replication_lag": [{"component": "apply", "queue": "Q", "end_to_end_ms": 1500, "queue_full_pct": 40}],
        "log_load": [{"subsystem": "DBP1"}],
    }
    assert rows.keys() == {name for name in watched() if datasets()[name].role == "result"}
    for dataset, of_dataset in rows.items():
        for row in of_dataset:
            exported.observe(dataset, json.dumps({"ts": NOW, "n": 1, "system": "A", **row}).encode())
    found = {name: list(values.values()) for name, values in families(exported).items()}
    assert found["counterflow_disk_response_seconds"] == [pytest.approx(0.012)]
    assert found["counterflow_link_capacity_used_ratio"] == [pytest.approx(1.3)]
    assert found["counterflow_link_port_used_ratio"] == []
    assert found["counterflow_link_out_bytes_per_second"] == []
    assert found["counterflow_pool_interactive_fault_ratio"] == [pytest.approx(0.25)]
    assert found["counterflow_pool_batch_fault_ratio"] == []
    assert found["counterflow_replication_delay_seconds"] == [pytest.approx(1.5)]
    assert found["counterflow_replication_queue_used_ratio"] == [pytest.approx(0.4)]
    assert len(found["counterflow_result_timestamp_seconds"]) == len(rows)
    assert not any(found["counterflow_exporter_unreadable_records_total"])


def test_a_link_is_exported_once_with_the_labels_of_its_newest_row() -> None:
    """Before its wire is found it has no group; the row of an interval is written again when it is."""
    exported = ResultMetrics(3600, 10)
    link = {"ts": NOW, "system": "A", "link": "G1", "link_type": "nrg", "own_out_bytes_s": 1e9}
    labels = {"system": "A", "link": "G1", "link_type": "nrg"}
    for n, group in ((1, {}), (4003, {"group": "A B"})):
        exported.observe("link_load", json.dumps({**link, "n": n, **group}).encode())
        found = families(exported)["counterflow_link_out_bytes_per_second"]
        assert found == {tuple(sorted({**labels, "group": "", **group}.items())): 1e9}


def test_a_raw_counter_is_exported_of_each_row_of_its_frame_and_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system whose counters arrive, but whose results do not, still counts as silent."""
    figure = {"columns": ["faults"], "text": "Page faults in the interval."}
    pool = Watched.model_validate({"labels": ["system", "pool"], "figures": {"pool_faults": figure}})
    monkeypatch.setattr(metrics, "watched", lambda: {**watched(), "pool": pool})
    exported = ResultMetrics(3600, 10)
    record = {"ts": NOW, "system": "A", "source": "nmon", "agent_id": "a", "seq": 1, "collected_at": NOW}
    sent = frame("pool", [{**record, "pool": "1", "faults": 4}, {**record, "seq": 2, "pool": "2"}])
    exported.observe("pool", json.dumps(sent).encode())
    found = families(exported)
    assert found["counterflow_pool_faults"] == {(("pool", "1"), ("system", "A")): 4}
    assert not found["counterflow_result_timestamp_seconds"]
    assert not any(found["counterflow_exporter_unreadable_records_total"].values())


def test_what_is_too_old_is_forgotten_and_makes_room() -> None:
    now = 1_000.0
    newest: Newest[str] = Newest(60, 2, lambda: now)
    newest.keep(("a",), 990, 1, "A")
    newest.keep(("b",), 1_000, 1, "B")
    newest.keep(("c",), 1_000, 1, "C")
    assert ([entity for entity, _ in newest.items()], newest.refused) == ([("a",), ("b",)], 1)
    now = 1_055
    newest.keep(("c",), 1_050, 1, "C")
    assert ([entity for entity, _ in newest.items()], newest.refused) == ([("b",), ("c",)], 1)
    now = 2_000
    assert list(newest.items()) == []


RECORD = st.tuples(st.sampled_from("ab"), st.integers(0, 5), st.integers(1, 3))


@settings(max_examples=100)
@given(st.permutations(range(8)), st.lists(RECORD, min_size=8, max_size=8))
def test_the_order_in_which_records_come_does_not_matter(order: list[int], records: list[tuple[str, int, int]]) -> None:
    kept = []
    for numbers in (range(8), order):
        newest: Newest[tuple[str, int, int]] = Newest(100, 10, lambda: 50.0)
        for number in numbers:
            name, ts_s, n = records[number]
            newest.keep((name,), ts_s, n, (name, ts_s, n))
        kept.append(list(newest.items()))
    assert kept[0] == kept[1]
