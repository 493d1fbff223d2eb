"""Views and stored questions over the z/OS and Q Replication results, on rows whose answers are plain to work out."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from counterflow.analysis.findings import findings
from counterflow.analysis.queries import queries, run_stored
from counterflow.analysis.whatif.log_path import read_stored, windows
from counterflow.base.clickhouse import ClickHouse
from counterflow.stack.account import wait_computed, wait_judged
from tests.support import tables
from tests.support.tables import given

TS = "2026-05-04T09:01:00Z"
NEXT = "2026-05-04T09:02:00Z"
AFTER = "2026-05-04T09:03:00Z"


insert = partial(tables.insert, ts=TS, interval_s=60, system="SYS1")


def cost(ts: str, accounts: float | None, basis: str = "lpar", **columns: Any) -> dict[str, Any]:
    missing = None if accounts else "accounts"
    work = {"workload": "SETTLE", "unit_of_work": "accounts", "samples": 1, "missing": missing}
    return given(ts=ts, basis=basis, accounts=accounts, **work, **columns)


def test_costs_are_weighted_by_accounts_and_bases_kept_apart(client: ClickHouse) -> None:
    insert(
        client,
        "account_cpu",
        cost(TS, 100.0, gcp_ms_per_account=0.3, log_bytes_per_account=1000.0, batch_units=24_000.0),
        cost(NEXT, 300.0, gcp_ms_per_account=0.5, log_bytes_per_account=2000.0, batch_units=24_000.0),
        cost("2026-05-04T09:03:00Z", None),
        cost(TS, 100.0, "captured", gcp_ms_per_account=0.2, ziip_on_cp_ms_per_account=0.1),
    )
    lpar, captured = run_stored(client, queries()["account_cost"], ["SYS1"])
    # 0.3 x 100 + 0.5 x 300 = 180 of 400 accounts in two minutes; 24,000 at 12,000 an hour
    assert (lpar["gcp_ms"], lpar["log_bytes"], lpar["units"], lpar["units_per_hour"]) == (0.45, 1750, 400, 12_000)
    assert (lpar["batch_h"], lpar["intervals_without"], lpar["ziip_ms"]) == (2, 1, None)
    assert (captured["basis"], captured["gcp_ms"], captured["ziip_on_cp_ms"]) == ("captured", 0.2, 0.1)


def test_costs_of_two_runs_are_not_mixed(client: ClickHouse) -> None:
    ends = {"before": TS, "after": NEXT}
    for name, end in ends.items():
        begin = {"before": "2026-05-04T09:00:00Z", "after": TS}[name]
        run = {"section": "run", "item": name, "ts": begin}
        insert(client, "config", *(given(**run, name=k, value=v) for k, v in (("begin", begin), ("end", end))))
    insert(
        client,
        "account_cpu",
        cost(TS, 100.0, gcp_ms_per_account=0.3),
        cost(NEXT, 300.0, gcp_ms_per_account=0.5),
        cost("2026-05-04T09:30:00Z", 100.0, gcp_ms_per_account=0.9),
    )
    found = {row["run"]: row["gcp_ms"] for row in run_stored(client, queries()["account_cost"], ["SYS1"])}
    assert found == {"before": 0.3, "after": 0.5, None: 0.9}


def test_latencies_are_weighted_by_transactions_and_idle_is_none(client: ClickHouse) -> None:
    def applied(ts: str, transactions: float, latency: float | None) -> dict[str, Any]:
        queue = {"component": "apply", "queue": "Q1", "idle": latency is None, "transactions": transactions}
        return given(ts=ts, **queue, end_to_end_ms=latency, capture_ms=latency, row_count=transactions * 18)

    idle = applied("2026-05-04T09:03:00Z", 0.0, None)
    insert(client, "replication_lag", applied(TS, 100.0, 1000.0), applied(NEXT, 300.0, 2000.0), idle)
    [row] = run_stored(client, queries()["replication_lag"], ["SYS1"])
    assert (row["end_to_end_s"], row["end_to_end_s_max"], row["idle_intervals"]) == (1.75, 2, 1)
    assert (row["rows_s"], row["queue_s"]) == (40, None)


def test_general_processors_are_not_averaged_with_ziips(client: ClickHouse) -> None:
    """A quarter of an hour at 100 % and 85 minutes at 50 %: (15 x 100 + 85 x 50) / 100 = 57.5 %."""
    minutes = [f"2026-05-04T{9 + minute // 60:02}:{minute % 60:02}:00Z" for minute in range(100)]
    engines = {"gcp": lambda minute: 100.0 if minute < 15 else 50.0, "ziip": lambda _: 2.0}
    insert(
        client,
        "system_cpu",
        *(
            given(engine_type=kind, engine="all", busy_pct=busy(minute), logical_engines=4, ts=ts)
            for kind, busy in engines.items()
            for minute, ts in enumerate(minutes)
        ),
    )
    [found] = [one for one in findings(client, ["SYS1"]) if one.name == "processors"]
    assert found.severity == "limit"
    assert found.finding == "processors 57.5 % busy on average, 100 % at most; at least 90 % for 15 % of the time"
    answers = {row["engine_type"]: row for row in run_stored(client, queries()["cpu"], ["SYS1"])}
    assert {kind: (row["cpu_pct_avg"], row["cpu_pct_max"]) for kind, row in answers.items()} == {
        "gcp": (57.5, 100),
        "ziip": (2, 2),
    }


def test_log_path_reads_the_log_with_the_cost_of_the_only_workload(client: ClickHouse) -> None:
    log = {"subsystem": "DB1", "path": "zhpf", "rate_mb_s": 100.0, "waiting_threads": 40.0, "active_threads": 50.0}
    both = {"gcp_pct": 30.0, "ziip_pct": 20.0}
    insert(client, "log_load", given(**log, **both), given(ts=NEXT, **log, **both, ceiling_since=TS))
    entry = {"section": "log_ceiling", "item": "DB1/zhpf"}
    insert(client, "config", given(**entry, name="cec", value="z16"))
    insert(
        client,
        "account_cpu",
        cost(TS, 100.0, gcp_ms_per_account=0.4),
        cost(TS, 100.0, "captured", gcp_ms_per_account=0.2),
        cost(NEXT, 100.0, gcp_ms_per_account=0.4),
        cost(NEXT, 100.0, gcp_ms_per_account=0.4) | {"workload": "REPORT"},
    )
    period = {"param_since": "2026-05-04 09:00:00", "param_until": "2026-05-04 10:00:00", "param_systems": ["SYS1"]}
    one, two = read_stored(client, period)
    assert (one.waiting_threads, one.gcp_pct, one.accounts, one.gcp_ms_per_account) == (40, 30, 100, 0.4)
    assert (one.cec, two.cec, two.storage) == (None, "z16", None)
    assert (two.rate_mb_s, two.accounts, two.gcp_ms_per_account) == (100, None, None), "two workloads share the system"
    [window] = windows([one, two])
    found = {figure.name: figure for figure in window.figures if figure.change == "zHyperLink"}
    # 80 % of two minutes wait, of which between 2.09 / 5.78 and 3.26 / 5.85 are left
    assert found["elapsed_h"].low == pytest.approx(120 * (0.2 + 0.8 * 2.09 / 5.78) / 3600)
    assert found["elapsed_h"].high == pytest.approx(120 * (0.2 + 0.8 * 3.26 / 5.85) / 3600)


def test_components_cost_what_they_used_while_units_were_counted(client: ClickHouse) -> None:
    def used(ts: str, command: str, cpu_ms: float, memory_mb: float) -> dict[str, Any]:
        figures = {"cpu_ms": cpu_ms, "cpu_cores": cpu_ms / 60_000, "cpu_base": "physical", "memory_mb": memory_mb}
        return given(ts=ts, command=command, **figures)

    insert(client, "manifest", *(given(counted="job", row_count=4, ts=ts) for ts in (TS, NEXT, AFTER)))
    insert(
        client,
        "footprint",
        used(TS, "asnqcap", 15_120.0, 82.0),  # 6.3 % of 4 cores for a minute
        used(TS, "amqzlaa0", 3_000.0, 10.0),
        used(TS, "amqrmppa", 1_800.0, 5.0),
        used(TS, "db2sysc", 60_000.0, 75.0),
        used(TS, "db2fmp64", 6_000.0, 160.0),
        used(TS, "java", 600.0, 1.0),
        used(NEXT, "asnqcap", 1e9, 1e9),  # units are not known then
        used(AFTER, "asnqcap", 15_120.0, 82.0),
    )
    insert(client, "account_cpu", cost(TS, 35_940.0), cost(NEXT, None), cost(AFTER, 35_940.0))  # 599 a second
    insert(client, "account_cpu", cost("2026-05-04T09:04:00Z", 1e9))  # no processes were recorded then
    applied = {"component": "apply", "queue": "Q1", "transactions": 71_880.0}
    insert(client, "replication_lag", given(**applied))
    found = run_stored(client, queries()["component_cost"], ["SYS1"])
    costs = {(row["per"], row["component"]): row["cpu_ms_a_unit"] for row in found}
    assert costs["accounts of SETTLE", "Q Capture"] == 0.4207
    assert costs["transactions applied", "Q Capture"] == 0.2104
    assert costs["accounts of SETTLE", "MQ"] == 0.0668  # none of it ran in the last minute
    assert {component for _, component in costs} == {"Q Capture", "MQ", "Db2", "Db2 fenced", "other"}
    [capture] = [row for row in found if row["per"][:1] == "a" and row["component"] == "Q Capture"]
    assert (capture["processors_avg"], capture["memory_mb_when_present"]) == (0.252, 82)


def test_rates_of_a_log_on_different_bases_have_no_mean(client: ClickHouse) -> None:
    written, created = (given(rate_basis=basis, rate_mb_s=rate) for basis, rate in (("written", 240), ("created", 110)))
    insert(client, "log_load", written, {**created, "ts": NEXT}, subsystem="DBP1")
    insert(client, "log_load", written, {**written, "ts": NEXT, "rate_mb_s": 260}, subsystem="DBP2")
    for name in ("log_path", "log_ceiling_share"):
        found = {row["subsystem"]: (row["basis"], row["mb_s_avg"]) for row in run_stored(client, queries()[name])}
        assert found == {"DBP1": ("several", None), "DBP2": ("written", 250)}
    rows = run_stored(client, queries()["log_waits_by_rate"])
    assert [(row["subsystem"], row["basis"], row["from_mb_s"]) for row in rows] == [
        ("DBP1", "created", 100),
        ("DBP1", "written", 200),
        ("DBP2", "written", 200),
        ("DBP2", "written", 250),
    ]


def test_results_are_provisional_until_they_count_what_was_published(client: ClickHouse) -> None:
    counted = {"db_log": 2, "workload": 3}
    insert(client, "manifest", *(given(counted=name, row_count=rows) for name, rows in counted.items()))
    lacking = "SELECT dataset, n, row_count FROM counterflow.provisional ORDER BY dataset"
    expected = {"account_cpu": 3, "log_load": 2}
    assert client.rows(lacking) == [{"dataset": name, "n": 0, "row_count": n} for name, n in expected.items()]
    assert wait_computed(client, "test", timeout_s=0) == 2
    # two workloads, one with a single operation of its own; the captured basis counts none of them again
    insert(
        client,
        "account_cpu",
        cost(TS, 1.0) | {"samples": 2},
        cost(TS, 1.0) | {"workload": "OTHER"},
        cost(TS, 1.0, "captured") | {"samples": 0},
    )
    insert(client, "log_load", *(given(n=4, subsystem=name) for name in ("DBP1", "DBP2")))
    assert client.rows(lacking) == []


def test_a_log_is_judged_with_processors_and_ceiling_where_there_are_any(client: ClickHouse) -> None:
    insert(client, "db_log", *(given(subsystem=name, log_path="zhl") for name in ("DBP1", "DBP2")))
    cpu = {"engine_type": "gcp", "engine": "all", "busy_pct": 50.0}
    insert(client, "system_cpu", given(**cpu))
    ceiling = {"section": "log_ceiling", "item": "DBP1/zhl", "name": "ceiling_mb_s", "value": "594"}
    insert(client, "config", given(**ceiling, ts="2026-01-01T00:00:00Z"))

    def judged(subsystem: str, n: int) -> None:
        insert(client, "log_load", given(n=n, subsystem=subsystem, rate_mb_s=300.0))
        text = {"reason": "because", "evidence": "{}", "parameters": "p", "stale": False, "signal": "OK", "since": TS}
        entity = {"rule": "log_ceiling", "entity_type": "log", "entity": subsystem, "state": "OK"}
        insert(client, "verdict", given(n=n, **entity, **text))

    assert wait_judged(client, "test", timeout_s=0) == 2
    judged("DBP1", 2)
    judged("DBP2", 2)  # its processors; it has no ceiling
    assert wait_judged(client, "test", timeout_s=0) == 1
    judged("DBP1", 3)
    assert wait_judged(client, "test", timeout_s=0) == 0
