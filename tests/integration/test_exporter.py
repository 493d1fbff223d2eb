"""What the exporter queries from a real ClickHouse, and what it publishes while ClickHouse does not answer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from prometheus_client.metrics_core import Metric

from counterflow.base.clickhouse import ClickHouse
from counterflow.pipelines.exporter.metrics import Results
from counterflow.pipelines.exporter.remote_write import series
from counterflow.pipelines.exporter.watched import Listed, listed, watched
from counterflow.schemas.definition import datasets
from counterflow.stack.settings import StackSettings
from tests.support import tables

NOW_S = time.time()
DISK = {"disk": "D1", "device_type": "disk", "leaf": True, "transfers": 80, "service_ms": 12, "wait_ms": 0}
"""80 transfers a second, of 12 ms each."""


@pytest.fixture
def reader(client: ClickHouse, clickhouse: StackSettings) -> Iterator[ClickHouse]:
    """The user who may only read, of tables without rows."""
    with clickhouse.clickhouse("reader") as reader:
        yield reader


def insert(clickhouse: StackSettings, dataset: str, *rows: dict[str, Any]) -> None:
    with clickhouse.clickhouse("lander") as lander:
        every = {"ts": NOW_S, "system": "A"} | (
            {"interval_s": 1, "source": "ibmi_tables"} if datasets()[dataset].role == "counter" else {}
        )
        whole = [{**every, **row} for row in rows]
        for row in whole:
            row |= {name: datetime.fromtimestamp(row[name], UTC) for name in ("ts", "since") if name in row}
        tables.insert(lander, dataset, *whole)


def verdict(**columns: Any) -> dict[str, Any]:
    row = {"n": 2, "rule": "roce_cap", "entity_type": "nrg", "entity": "G1", "state": "CAPPED", "stale": False}
    return {**row, "since": NOW_S, "evidence": '{"figures": {"share": 0.7}}', "parameters": "0", **columns}


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


def test_results_are_exported_in_seconds_and_ratios_and_null_is_not_0(
    clickhouse: StackSettings, reader: ClickHouse
) -> None:
    insert(clickhouse, "disk", DISK)
    insert(
        clickhouse,
        "link_load",
        {"n": 1, "link": "G1", "link_type": "nrg", "group": "P", "out_capacity_pct": 140, "in_capacity_pct": 120},
        {"n": 1, "link": "G2", "link_type": "nrg", "out_capacity_pct": 140},
        {"n": 1, "system": "B", "link": "en0", "link_type": "ethernet", "own_out_bytes_s": 1},
    )
    insert(clickhouse, "pool", {"pool": "2", "faults": 250})  # of 12 ms: 3 of the 12 s that its transactions take
    insert(clickhouse, "job", {"job": "J", "job_pool": "2", "job_type": "I", "transactions": 10, "response_s": 12})
    lag = {"component": "apply", "queue": "Q", "transactions_applied": 1, "rows_applied": 1}
    insert(clickhouse, "replication", {**lag, "end_to_end_ms": 1500, "queue_full_pct": 40})
    insert(clickhouse, "log_load", {"n": 1, "subsystem": "DBP1"})
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
    assert found["result_timestamp_seconds"] == dict.fromkeys(of, pytest.approx(NOW_S, abs=0.001))


def test_only_the_newest_row_of_each_entity_counts_and_an_old_one_does_not(
    clickhouse: StackSettings, reader: ClickHouse
) -> None:
    insert(clickhouse, "verdict", verdict(state="OK", ts=NOW_S - 60), verdict(n=1, state="OK"))
    insert(clickhouse, "verdict", verdict())  # the interval, completed
    insert(clickhouse, "verdict", verdict(entity="G2", ts=NOW_S - 3700), verdict(entity="G3", ts=1_600_000_000))
    state = values(refreshed(reader))["verdict_state"]
    assert {labels for labels, is_in in state.items() if is_in} == {("roce_cap", "A", "nrg", "G1", "CAPPED")}
    assert {labels[3] for labels in state} == {"G1"}
    assert {labels[3] for labels in values(refreshed(reader, stale_s=7200))["verdict_state"]} == {"G1", "G2"}


def test_the_labels_are_those_of_the_newest_row(clickhouse: StackSettings, reader: ClickHouse) -> None:
    link = {"link": "G1", "link_type": "nrg", "own_out_bytes_s": 1e9}
    insert(clickhouse, "link_load", {**link, "n": 1})
    results = refreshed(reader)
    assert values(results)["link_out_bytes_per_second"] == {("A", "nrg", "G1", ""): 1e9}
    sent = [dict(one.labels) for one in series(results.families())]
    [labels] = [one for one in sent if "link_out_bytes" in one["__name__"]]
    assert "group" not in labels, "a label without a value is none"
    insert(clickhouse, "link_load", {**link, "n": 4003, "group": "A B"})
    assert values(refreshed(reader))["link_out_bytes_per_second"] == {("A", "nrg", "G1", "A B"): 1e9}


def test_the_counters_of_a_list_are_published_with_their_newest_values(
    clickhouse: StackSettings, reader: ClickHouse
) -> None:
    of = {"section": "mq", "counter": "depth", "kind": "gauge"}
    insert(clickhouse, "counter", {**of, "instance": 'queue="A"', "value": 3, "ts": NOW_S - 15})
    insert(clickhouse, "counter", {**of, "instance": 'queue="A"', "value": 17}, {**of, "instance": "B", "value": 0})
    insert(clickhouse, "counter", {**of, "instance": "old", "value": 1, "ts": NOW_S - 3700})
    insert(clickhouse, "counter", {**of, "instance": "", "section": "another", "value": 1})
    odd = {"section": "it's", "instance": "", "counter": "a/b", "unit": "ms", "value": 2}
    insert(clickhouse, "counter", odd)
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


def test_entities_are_bounded_and_the_rest_is_counted(clickhouse: StackSettings, reader: ClickHouse) -> None:
    insert(clickhouse, "disk", *({**DISK, "system": name} for name in "CADB"))
    found = values(refreshed(reader, most=3))
    assert set(found["disk_response_seconds"]) == {("A",), ("B",), ("C",)}
    assert found["exporter_refused_entities"][("disk_total",)] == 1


def test_while_clickhouse_does_not_answer_figures_stay_until_they_are_stale(
    clickhouse: StackSettings, reader: ClickHouse
) -> None:
    assert Results(3600, 10).problems(), "before the first query"
    insert(clickhouse, "disk", {**DISK, "ts": time.time() - 56})
    results = refreshed(reader, stale_s=60)
    assert values(results)["exporter_clickhouse_up"] == {(): 1}
    with ClickHouse("http://127.0.0.1:9", "reader", "wrong") as nobody:
        results.refresh(nobody)
    assert values(results)["exporter_clickhouse_up"] == {(): 0}
    assert [problem.partition(" (")[0] for problem in results.problems()] == ["ClickHouse does not answer"]
    assert values(results)["disk_response_seconds"] == {("A",): pytest.approx(0.012)}
    time.sleep(5)
    assert values(results)["disk_response_seconds"] == {}
    with ClickHouse(clickhouse.clickhouse_url, "reader", "wrong") as stranger:
        results.refresh(stranger)
    assert "Authentication failed" in results.problems()[0]
    results.refresh(reader)
    assert not results.problems()
