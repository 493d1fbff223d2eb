"""What the exporter queries from a real ClickHouse, and what it publishes while ClickHouse does not answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from prometheus_client.metrics_core import Metric

from counterflow.base.clickhouse import ClickHouse
from counterflow.pipelines.exporter.metrics import Results
from counterflow.pipelines.exporter.remote_write import series
from counterflow.pipelines.exporter.watched import Listed, listed, watched
from counterflow.stack.settings import StackSettings
from tests.support import tables

NOW = datetime.now(UTC)
OLD, LONG_AGO = NOW - timedelta(seconds=3700), NOW - timedelta(days=2000)
DISK = {"disk": "D1", "device_type": "disk", "leaf": True, "transfers": 80, "service_ms": 12, "wait_ms": 0}
"""80 transfers a second, of 12 ms each."""
insert = partial(tables.insert, ts=NOW, system="A", interval_s=1, source="ibmi_tables")


def verdict(**columns: Any) -> dict[str, Any]:
    row = {"n": 2, "rule": "roce_cap", "entity_type": "nrg", "entity": "G1", "state": "CAPPED", "stale": False}
    return {**row, "since": NOW, "evidence": '{"figures": {"share": 0.7}}', "parameters": "0", **columns}


def values(found: list[Metric] | Results) -> dict[str, dict[tuple[str, ...], float]]:
    families = found.collect() if isinstance(found, Results) else found
    return {
        family.name.removeprefix("counterflow_"): {tuple(s.labels.values()): s.value for s in family.samples}
        for family in families
    }


def refreshed(reader: ClickHouse, stale_s: float = 3600, most: int = 10, counters: Sequence[Listed] = ()) -> Results:
    results = Results(stale_s, most, counters)
    results.refresh(reader)
    assert not results.problems()
    return results


def test_results_are_exported_in_seconds_and_ratios_and_null_is_not_0(client: ClickHouse, reader: ClickHouse) -> None:
    insert(client, "disk", DISK)
    insert(
        client,
        "link_load",
        {"link": "G1", "link_type": "nrg", "group": "P", "out_capacity_pct": 140, "in_capacity_pct": 120},
        {"link": "G2", "link_type": "nrg", "out_capacity_pct": 140},
        {"system": "B", "link": "en0", "link_type": "ethernet", "own_out_bytes_s": 1},
    )
    insert(client, "pool", {"pool": "2", "faults": 250})  # of 12 ms: 3 of the 12 s that its transactions take
    insert(client, "job", {"job": "J", "job_pool": "2", "job_type": "I", "transactions": 10, "response_s": 12})
    lag = {"component": "apply", "queue": "Q", "transactions_applied": 1, "rows_applied": 1}
    insert(client, "replication", {**lag, "end_to_end_ms": 1500, "queue_full_pct": 40})
    insert(client, "log_load", {"subsystem": "DBP1"})
    found = values(refreshed(reader))
    assert found["disk_response_seconds"] == {("A",): pytest.approx(0.012)}
    assert found["disk_transfers_per_second"] == {("A",): 80}
    assert found["link_capacity_used_ratio"] == {("A", "nrg", "G1", "P"): pytest.approx(1.3)}
    assert found["link_port_used_ratio"] == found["link_out_bytes_per_second"] == {}
    assert found["pool_interactive_fault_ratio"] == {("A", "2"): pytest.approx(0.25)}
    assert found["pool_batch_fault_ratio"] == {}
    assert found["replication_delay_seconds"] == {("A", "apply", "", "Q"): pytest.approx(1.5)}
    assert found["replication_queue_used_ratio"] == {("A", "apply", "", "Q"): pytest.approx(0.4)}
    of = {*((name, "A") for name in watched()), ("link_load", "B")}
    assert found["result_timestamp_seconds"] == dict.fromkeys(of, pytest.approx(NOW.timestamp(), abs=0.001))


def test_only_the_newest_row_of_each_entity_counts_and_an_old_one_does_not(
    client: ClickHouse, reader: ClickHouse
) -> None:
    insert(client, "verdict", verdict(state="OK", ts=NOW - timedelta(seconds=60)), verdict(n=1, state="OK"))
    insert(client, "verdict", verdict())  # the interval, completed
    insert(
        client,
        "verdict",
        verdict(entity="G2", ts=OLD),
        verdict(entity="G3", ts=LONG_AGO),
    )
    state = values(refreshed(reader))["verdict_state"]
    assert {labels for labels, is_in in state.items() if is_in} == {("roce_cap", "A", "nrg", "G1", "CAPPED")}
    assert {labels[3] for labels in state} == {"G1"}
    assert {labels[3] for labels in values(refreshed(reader, stale_s=7200))["verdict_state"]} == {"G1", "G2"}


def test_the_labels_are_those_of_the_newest_row(client: ClickHouse, reader: ClickHouse) -> None:
    link = {"link": "G1", "link_type": "nrg", "own_out_bytes_s": 1e9}
    insert(client, "link_load", link)
    results = refreshed(reader)
    assert values(results)["link_out_bytes_per_second"] == {("A", "nrg", "G1", ""): 1e9}
    sent = [dict(one.labels) for one in series(results.families())]
    [labels] = [one for one in sent if "link_out_bytes" in one["__name__"]]
    assert "group" not in labels, "a label without a value is none"
    insert(client, "link_load", {**link, "n": 4003, "group": "A B"})
    assert values(refreshed(reader))["link_out_bytes_per_second"] == {("A", "nrg", "G1", "A B"): 1e9}


def test_the_counters_of_a_list_are_published_with_their_newest_values(client: ClickHouse, reader: ClickHouse) -> None:
    of = {"section": "mq", "counter": "depth", "kind": "gauge"}
    insert(client, "counter", {**of, "instance": 'queue="A"', "value": 3, "ts": NOW - timedelta(seconds=15)})
    insert(client, "counter", {**of, "instance": 'queue="A"', "value": 17}, {**of, "instance": "B", "value": 0})
    insert(client, "counter", {**of, "instance": "old", "value": 1, "ts": OLD})
    insert(client, "counter", {**of, "instance": "", "section": "another", "value": 1})
    odd = {"section": "it's", "instance": "", "counter": "a/b", "unit": "ms", "value": 2}
    insert(client, "counter", odd)
    results = refreshed(reader, most=2, counters=listed("# of MQ\nmq/depth\n\nit's/a/b\n"))
    assert values(results)["counter_value"] == {
        ("A", "it's", "", "a/b", "ms", ""): 2,
        ("A", "mq", "B", "depth", "", "gauge"): 0,
    }
    assert values(results)["exporter_refused_entities"][("counter",)] == 1
    found = values(refreshed(reader, counters=listed("mq/depth")))["counter_value"]
    assert found[("A", "mq", 'queue="A"', "depth", "", "gauge")] == 17
    assert values(refreshed(reader))["counter_value"] == {}, "without a list there is none"


def test_a_list_of_counters_with_a_wrong_line_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2: expected SECTION/COUNTER, found depth"):
        listed("mq/depth\ndepth\n")


def test_entities_are_bounded_and_the_rest_is_counted(client: ClickHouse, reader: ClickHouse) -> None:
    insert(client, "disk", *({**DISK, "system": name} for name in "CADB"))
    found = values(refreshed(reader, most=3))
    assert set(found["disk_response_seconds"]) == {("A",), ("B",), ("C",)}
    assert found["exporter_refused_entities"][("disk_total",)] == 1


def test_while_clickhouse_does_not_answer_figures_stay_until_they_are_stale(
    client: ClickHouse, reader: ClickHouse, clickhouse: StackSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Results(3600, 10).problems(), "before the first query"
    insert(client, "disk", DISK)
    results = refreshed(reader)
    assert values(results)["exporter_clickhouse_up"] == {(): 1}
    with ClickHouse("http://127.0.0.1:9", "reader", "wrong") as nobody:
        results.refresh(nobody)
    assert values(results)["exporter_clickhouse_up"] == {(): 0}
    assert [problem.partition(" (")[0] for problem in results.problems()] == ["ClickHouse does not answer"]
    assert values(results)["disk_response_seconds"] == {("A",): pytest.approx(0.012)}
    later = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: later)
    assert values(results)["disk_response_seconds"] == {}
    with ClickHouse(clickhouse.clickhouse_url, "reader", "wrong") as stranger:
        results.refresh(stranger)
    assert "Authentication failed" in results.problems()[0]
    results.refresh(reader)
    assert not results.problems()
