"""`account_cpu` on real Kafka and Flink, compared with a recomputation in plain Python."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

from counterflow.pipelines import submission
from counterflow.stack.settings import StackSettings
from tests.support.flink_line import Line, Record, Results, first_of_each, known, over, total
from tests.support.zos import (
    allowed,
    apart,
    cores,
    everything,
    figured,
    log_figures,
    mean_of,
    minutes,
    number,
    step,
    times,
    version,
)

# The recomputation. It shares nothing with the SQL but the wording of the definitions.


def accounts_of(row: Record) -> float | None:
    if not row.get("prev_ts"):
        return row.get("done_delta")
    done = step(row, "done")
    return done if done is not None and done >= 0 and allowed(row, False) else None


def account_cpu(published: Mapping[str, Sequence[Record]]) -> dict[tuple[str, ...], Record]:
    groups = defaultdict(list)
    rows = [{**row, "final": row.get("final")} for row in published["workload"]]
    for row in first_of_each(rows, "system", "workload", "run_id", "operation", "final", "ts"):
        groups[row["system"], row["workload"], row["ts"]].append(row)
    of_system: dict[str, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for row in first_of_each(published["system_cpu"], "system", "engine_type", "engine", "ts"):
        if row["engine"] == "all" and row["engine_type"] != "core":
            if row.get("busy_pct") is not None:
                used = row["busy_pct"] / 100 * row["logical_engines"]
                of_system[row["system"]][row["engine_type"]].append({**row, "used": used})
        elif row["engine"] == "all":
            of_system[row["system"]]["core"].append({**row, "used": cores(row)[0]})
    for row in first_of_each([row for row in published["db_log"] if figured(row)], "system", "subsystem", "ts"):
        figures = log_figures(row)
        rates = [over(figures["all_written_mb_s"], row.get("copies")), figures["created_mb_s"], figures["reported"]]
        rate = next((rate for rate in rates if rate is not None), None)
        of_system[row["system"]]["log"].append({**row, "interval_s": figures["interval_s"], "used": rate})
    for row in first_of_each(published["job"], "system", "job", "ts"):
        if row.get("gcp_ms") is not None:
            of_system[row["system"]]["space"].append(row)
    results: dict[tuple[str, ...], Record] = {}
    for (system, workload, ts), mine in groups.items():
        batch = version(published["config"], system, "batch", workload, "units_total", ts)
        beside = of_system[system]
        results[system, workload, "lpar", ts] = by_lpar(mine, beside, number(batch["value"]) if batch else None, batch)
        if captured := by_space(mine, beside):
            results[system, workload, "captured", ts] = captured
    return {
        (system, workload, basis, ts): {**row, "system": system, "workload": workload, "basis": basis, "ts": ts}
        for (system, workload, basis, ts), row in results.items()
    }


def work(rows: Sequence[Record]) -> tuple[Record, list[int], float]:
    """Return the work that was done, its minutes, and how many of their seconds must be known."""
    whole = [row for row in rows if row["operation"] == "" and not row.get("final")]
    runs = {row["run_id"] for row in whole}
    lengths = [between if (between := apart(row)) and between > 0 else row.get("interval_s") for row in whole]
    length = max(known(lengths), default=None)
    accounts = max(known([accounts_of(row) for row in whole]), default=None) if len(runs) == 1 else None
    reason = "accounts" if accounts is None else "no accounts done" if not accounts else None
    covered = [(minutes(row, one), int((one or 0) + 0.5)) for row, one in zip(whole, lengths, strict=True)]
    wanted = [minute for found, _ in covered for minute in found]
    summed = {
        "interval_s": length,
        "unit_of_work": max((row["unit_of_work"] for row in whole), default=None),
        "run_id": max(runs, default=None),
        "accounts": accounts,
        "accounts_per_hour": over(times(accounts, 3600), length),
        "missing": "several runs" if len(runs) > 1 else reason,
    }
    return summed, wanted, max((min(one, 60 * len(found)) for found, one in covered), default=0)


def by_lpar(
    rows: Sequence[Record], beside: Mapping[str, list[Record]], units: float | None, batch: Record | None
) -> Record:
    summed, wanted, need_s = work(rows)
    accounts, length = summed["accounts"], summed["interval_s"]
    used: dict[str, float | None] = {}
    other: Record = {}
    counted = 0
    for kind in ("gcp", "ziip", "core"):
        of_kind = beside.get(kind, [])
        counted += sum(wanted.count(minute) for row in of_kind for minute in minutes(row, row["interval_s"]))
        mean, covered = mean_of(of_kind, "used", wanted)
        used[kind] = mean if wanted and covered >= 0.95 * need_s else None
        if kind != "core":
            for column, name in (("busy_pct", "pct"), ("logical_engines", "engines")):
                other[f"{kind}_{name}"] = None if used[kind] is None else mean_of(of_kind, column, wanted)[0]
    logs = [row for row in beside.get("log", []) for minute in minutes(row, row["interval_s"]) if minute in wanted]
    counted += sum(wanted.count(minute) for row in beside.get("log", []) for minute in minutes(row, row["interval_s"]))
    log_s = sum(min(int(row["interval_s"] + 0.5), 60) for row in logs)
    log = None
    one_run = summed["missing"] != "several runs"
    if logs and one_run and None not in [row["used"] for row in logs] and len({row["source"] for row in logs}) == 1:
        whole_s = 60 * len(wanted)  # however short the interval: the logs are those of whole minutes
        whole_times = round(log_s / whole_s)
        if whole_times and abs(log_s - whole_times * whole_s) <= 0.05 * whole_s:
            log = sum(row["used"] * min(int(row["interval_s"] + 0.5), 60) for row in logs) / whole_s
    bases = {cores(row)[1] for row in beside.get("core", [])}
    missing = summed["missing"] or ("processors" if not known(list(used.values())) else None)

    def cost(rate: float | None) -> float | None:
        return over(times(times(rate, length or 0), 1000), accounts)

    return {
        **summed,
        **other,
        "n": len(rows) + counted + (batch is not None),
        "samples": len(rows),
        "gcp_ms_per_account": cost(used["gcp"]),
        "ziip_ms_per_account": cost(used["ziip"]),
        "core_ms_per_account": cost(used["core"]),
        "cores_used": used["core"],
        "core_base": None if used["core"] is None else max(bases),
        "log_mb_s": log,
        "log_bytes_per_account": times(cost(log), 1e3),
        "batch_units": units,
        "batch_h": over(units, summed["accounts_per_hour"]),
        "missing": missing,
    }


def by_space(rows: Sequence[Record], beside: Mapping[str, list[Record]]) -> Record | None:
    summed, wanted, need_s = work(rows)
    parts = [
        (row, min(int(row["interval_s"] + 0.5), 60))
        for row in beside.get("space", [])
        for minute in minutes(row, row["interval_s"])
        for _ in range(wanted.count(minute))
    ]
    if not parts:
        return None
    ends = {
        (row["ts"], minute): w for row, w in parts for minute in minutes(row, row["interval_s"]) if minute in wanted
    }
    one = len({row["source"] for row, _ in parts}) == 1
    is_known = one and sum(ends.values()) >= 0.95 * need_s

    def cost(column: str) -> float | None:
        ms = total([times(row.get(column), w / row["interval_s"]) for row, w in parts])
        share = summed["interval_s"] / sum(ends.values())
        return over(times(ms, share), summed["accounts"]) if is_known else None

    return {
        **summed,
        "n": len(parts),
        "samples": 0,
        "gcp_ms_per_account": cost("gcp_ms"),
        "ziip_ms_per_account": cost("ziip_ms"),
        "ziip_on_cp_ms_per_account": cost("ziip_on_cp_ms"),
        "missing": summed["missing"] or ("two sources" if not one else None if is_known else "processors"),
    }


def recompute(published: Mapping[str, Sequence[Record]]) -> Results:
    return {"account_cpu": account_cpu(published)}


def test_every_result_is_exact_whatever_the_order(flink: StackSettings) -> None:
    line = Line(flink, recompute, ["account_cpu"], parallelism=2)
    assert [found.what for found in line.submit()] == ["started"]
    rows = everything()
    for begin in range(0, len(rows), 600):
        line.publish(rows[begin : begin + 600])
        time.sleep(0.4)  # in all, longer than a mini-batch
    line.check()
    submission.cancel(line.cluster, line.jobs)  # its slots
