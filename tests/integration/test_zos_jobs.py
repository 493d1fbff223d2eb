"""The jobs over z/OS counters on real Kafka and Flink: by hand, and recomputed in plain Python.

All jobs share one stack and one input, which has the shapes of that of test_jobs.py.
"""

from __future__ import annotations

import math
import random
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from counterflow.pipelines import submission
from counterflow.pipelines.rules.log_ceiling import RULE
from counterflow.stack.settings import StackSettings
from tests.support.flink_line import (
    Line,
    Record,
    Results,
    Running,
    first_of_each,
    known,
    over,
    seconds,
    stamp,
    total,
    verdicts,
)

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
JOBS = ("account_cpu", "log_ceiling", "log_load")


# The recomputation. It shares nothing with the SQL but the wording of the definitions.


def apart(row: Record) -> float | None:
    return seconds(row["ts"]) - seconds(row["prev_ts"]) if row.get("prev_ts") else None


def allowed(row: Record, fell: bool) -> float | None:
    """Return the seconds by which running counts may be divided."""
    between, usual = apart(row), row.get("interval_s")
    return None if between is None or between <= 0 or fell or (usual and between > 2 * usual) else between


def step(row: Record, name: str) -> float | None:
    return None if None in (row.get(name), row.get(f"prev_{name}")) else row[name] - row[f"prev_{name}"]


def times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def minutes(row: Record, length_s: float | None) -> list[int]:
    """Return the minutes to which an interval belongs, each by the number of its beginning."""
    length, end = int((length_s or 0) + 0.5), math.floor(seconds(row["ts"]))
    if length <= 0:
        return []
    if length < 60:
        return [math.ceil((end - length / 2) / 60) - 1]
    return [m for m in range((end - length) // 60 - 1, end // 60 + 1) if end - length < 60 * m + 30 <= end]


def mean_of(rows: Iterable[Record], column: str, wanted: Sequence[int]) -> tuple[float | None, float]:
    """Return the mean, by time, of a column in these minutes, and the seconds that have it."""
    parts = [
        (row[column], min(int(row["interval_s"] + 0.5), 60))
        for row in rows
        for minute in minutes(row, row["interval_s"])
        for _ in range(wanted.count(minute))
    ]
    weight = float(sum(w for _, w in parts))
    return over(total([value * w for value, w in parts]), weight), weight


def version(published: Sequence[Record], system: str, section: str, item: str, name: str, ts: str) -> Record | None:
    found = [
        row
        for row in published
        if (row["system"], row["section"], row["item"], row["name"]) == (system, section, item, name)
        and seconds(row["ts"]) <= seconds(ts)
    ]
    return max(found, key=lambda row: (seconds(row["ts"]), seconds(row["collected_at"]), row["value"]), default=None)


def number(text: str) -> float | None:
    return float(text) if text else None


LOG_COUNTS = ("ci_written", "ci_created", "write_ios", "buffer_waits", "zhl_log_writes", "zhl_log_write_fail_sync")
LOG_COUNTS += ("log_write_wait_us", "log_write_waits")


def log_figures(row: Record) -> Record:
    """Return the figures of a row of db_log by itself."""
    steps = {name: step(row, name) for name in LOG_COUNTS}
    fell = any(value < 0 for value in known(list(steps.values())))
    counted = allowed(row, fell)
    steps = {name: value if counted else None for name, value in steps.items()}
    usual, between = row.get("interval_s"), apart(row)

    def a_second(name: str) -> float | None:
        by_count = over(steps[name], counted)
        return over(row.get(f"{name}_delta"), usual) if by_count is None else by_count

    failed = over(steps["zhl_log_write_fail_sync"], steps["zhl_log_writes"])
    synchronous_pct = None if failed is None else 100 * (1 - failed)
    ci_per_io = over(steps["ci_written"], steps["write_ios"])
    if not counted:
        ci_per_io = over(row.get("ci_written_delta"), row.get("write_ios_delta"))
    return {
        "interval_s": between if between and between > 0 else usual,
        "member": row.get("member"),
        "path": row.get("log_path"),
        "copies": row.get("copies"),
        "active_threads": row.get("active_threads"),
        "all_written_mb_s": times(a_second("ci_written"), 4096 / 1e6),
        "created_mb_s": times(a_second("ci_created"), 4096 / 1e6),
        "reported": row.get("log_rate_mb_s"),
        "waits_delta": steps["buffer_waits"] if counted else row.get("buffer_waits_delta"),
        "waiting_threads": over(times(steps["log_write_wait_us"], 1e-6), counted),
        "log_write_ms": over(times(steps["log_write_wait_us"], 1e-3), steps["log_write_waits"]),
        "ci_per_io": ci_per_io,
        "zhl_sync_pct": synchronous_pct if row.get("zhl_sync_pct") is None else row["zhl_sync_pct"],
        "reset": None if between is None else fell,
    }


def figured(row: Record) -> bool:
    names = ("ci_written", "ci_created", "ci_written_delta", "ci_created_delta", "log_rate_mb_s")
    return any(row.get(name) is not None for name in names)


def reported_for(rows: Sequence[Record], wanted: Sequence[int]) -> tuple[Record, int]:
    """Return the newest path, copies and share reported for these minutes, and how often one is covered."""
    found: Record = {"path": None, "copies": None, "zhl_sync_pct": None}
    count = 0
    for row in sorted(rows, key=lambda row: seconds(row["ts"])):
        ages = [minute - math.floor(seconds(row["ts"]) / 60) for minute in wanted]
        reach = 5 if row.get("log_path") is None and row.get("copies") is None else 60
        inside = [age for age in ages if 0 <= age < reach]
        count += len(inside)
        if inside:
            found["path"] = row.get("log_path") or found["path"]
            found["copies"] = row.get("copies") or found["copies"]
            if row.get("zhl_sync_pct") is not None and min(inside) < 5:
                found["zhl_sync_pct"] = row["zhl_sync_pct"]
    return found, count


def log_load(published: Mapping[str, Sequence[Record]]) -> dict[tuple[str, ...], Record]:
    groups = defaultdict(list)
    for row in published["db_log"]:
        groups[row["system"], row["subsystem"], row["ts"]].append(row)
    busy = [
        row
        for row in first_of_each(published["system_cpu"], "system", "engine_type", "engine", "ts")
        if row["engine"] == "all" and row.get("busy_pct") is not None
    ]
    reports = [row for row in first_of_each(published["db_log"], "system", "subsystem", "ts") if not figured(row)]
    results: dict[tuple[str, ...], Record] = {}
    for (system, subsystem, ts), rows in groups.items():
        figures = [log_figures(row) for row in rows]
        best = {name: max((f[name] for f in figures if f[name] is not None), default=None) for name in figures[0]}
        reported, written = best.pop("reported"), best.pop("all_written_mb_s")
        wanted = minutes(rows[0], figures[0]["interval_s"])  # of the first to arrive
        stated = [row for row in reports if (row["system"], row["subsystem"]) == (system, subsystem)]
        known_of, beside = reported_for(stated, wanted)
        best |= {name: known_of[name] for name in known_of if best[name] is None}
        best["written_mb_s"] = over(written, best["copies"])
        bases = {"written": best["written_mb_s"], "created": best["created_mb_s"], "reported": reported}
        basis = next((name for name, rate in bases.items() if rate is not None), None)
        rate = bases[basis] if basis else None
        percent = {
            kind: mean_of(
                [cpu for cpu in busy if (cpu["system"], cpu["engine_type"]) == (system, kind)], "busy_pct", wanted
            )[0]
            for kind in ("gcp", "ziip")
        }
        mine = [cpu for cpu in busy if cpu["system"] == system and cpu["engine_type"] in percent]
        beside += sum(minute in wanted for cpu in mine for minute in minutes(cpu, cpu["interval_s"]))
        item = f"{subsystem}/{best['path']}"
        newest = version(published["config"], system, "log_ceiling", item, "ceiling_mb_s", ts)
        ceiling = number(newest["value"]) if newest else None
        results[system, subsystem, ts] = {
            **best,
            "system": system,
            "subsystem": subsystem,
            "ts": ts,
            "n": 1 + beside + (newest is not None),
            "rate_mb_s": rate,
            "rate_basis": basis,
            "ceiling_mb_s": ceiling,
            "ceiling_since": newest["ts"] if newest else None,
            "ceiling_pct": over(times(rate, 100), ceiling),
            "gcp_pct": percent["gcp"],
            "ziip_pct": percent["ziip"],
        }
    return results


def cores(row: Record) -> tuple[float | None, str]:
    if row.get("physical_consumed_cores") is not None:
        return row["physical_consumed_cores"], "physical"
    if row.get("cpu_ms") is not None:
        return row["cpu_ms"] / 1000 / row["interval_s"], "physical"
    return (row["user_pct"] + row["sys_pct"]) / 100 * row["logical_engines"], "logical"


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
    loads = log_load(published)
    judged = [row for row in loads.values() if any(row[n] is not None for n in ("rate_mb_s", "waits_delta", "reset"))]
    return {
        "log_load": loads,
        "verdict": verdicts(RULE, judged, lambda load: (load["system"], "log", load["subsystem"])),
        "account_cpu": account_cpu(published),
    }


# The input.

Rows = list[tuple[str, Record]]


def configured(system: str, section: str, item: str, name: str, since: datetime, value: str, read_s: int = 0) -> Record:
    collected = {"collected_at": stamp(NOW + timedelta(seconds=read_s)), "source": "site"}
    named = {"section": section, "item": item, "name": name, "value": value}
    return {"ts": stamp(since), "system": system, **named, **collected}


def member(system: str, name: str, begin: datetime, seed: int, count: int, path: str) -> Iterator[tuple[str, Record]]:
    """Yield a log that is at its ceiling for a while, restarts, has a gap, and loses its number of copies."""
    chance = random.Random(seed)
    log = Running(**dict.fromkeys(LOG_COUNTS, 1e9))
    for each in range(count):
        ts = begin + each * timedelta(minutes=1)
        if each in (8, 17, 18, 19):  # one sample is missing, and then a gap
            continue
        full = 0 < each < 8 or each > 26
        rate = (214 if full else 100) * chance.uniform(0.99, 1.01)
        elapsed = (ts - log.before).total_seconds() if log.before else 60
        cis = rate * 1e6 / 4096 * elapsed
        counts = log.sample(
            ts,
            restart=each == 12,
            ci_written=2 * cis,
            ci_created=cis / 1.1,
            write_ios=cis / 2,
            buffer_waits=5 * full,
            zhl_log_writes=0 if path == "zhpf" else cis / 2,
            zhl_log_write_fail_sync=0 if path == "zhpf" else cis / 2 * (0.02 if each < 20 else 0.4),
            log_write_wait_us=elapsed * 1e6 * (100 if full else 2),
            log_write_waits=0 if each == 5 else cis,
        )
        fixed: Record = {"subsystem": name, "member": name, "log_path": path, "active_threads": 256.0}
        fixed |= {"copies": None if each == 6 else 2.0, "source": "db2_log_csv"}
        yield "db_log", {"ts": stamp(ts), "interval_s": 60.0, **fixed, **counts}


def reported(ts: datetime, **columns: Any) -> Record:
    """Return an OMEGAMON block: deltas, and a rate."""
    deltas = {"ci_created_delta": 861.0, "ci_written_delta": 2004.0}
    deltas |= {"write_ios_delta": 554.0, "buffer_waits_delta": 3.0}
    block = {"ts": stamp(ts), "interval_s": 181.0, "log_rate_mb_s": 0.02, "source": "omegamon_log_activity"}
    return {**block, **deltas, **columns}


def settled(begin: datetime, seed: int, count: int) -> Iterator[tuple[str, Record]]:
    """Yield accounts of two runs: none yet, none done, a missing sample, a count going backwards, two runs at once."""
    chance = random.Random(seed)
    run, done = "run 1", Running(done=0.0)
    for each in range(count):
        ts = begin + each * timedelta(minutes=1)
        if each == 20:
            run, done = "run 2", Running(done=0.0)
        if each == 9:
            continue
        elapsed = (ts - done.before).total_seconds() if done.before else 60
        steps = done.sample(ts, restart=each == 14, done=0 if each == 4 else elapsed * chance.uniform(4000, 5000))
        row = {"ts": stamp(ts), "interval_s": 60.0, "workload": "SETTLE", "unit_of_work": "accounts", "operation": ""}
        yield "workload", {**row, "run_id": run, **steps, "source": "workload_csv"}
        if each == 25:  # another run that ends at the same time
            yield "workload", {**row, "run_id": "run 9", "done": 5.0, "source": "workload_csv"}
        if each % 5 == 0:
            single = {**row, "run_id": run, "operation": "READ", "done_delta": 7.0}
            yield "workload", {**single, "source": "ycsb"}
    whole = {**row, "run_id": "run 2", "operation": "", "final": True, "done": 1e9, "workload": "WHOLE"}
    yield "workload", {**whole, "source": "ycsb"}
    yield "workload", {**row, "run_id": run, "final": True, "done": 1e9, "source": "ycsb"}
    yield "workload", {**row, "run_id": "", "interval_s": 300.0, "workload": "FIVE", "done_delta": 1e6, "source": "x"}
    yield "workload", {**row, "run_id": "", "interval_s": 20.0, "workload": "SHORT", "done_delta": 1e5, "source": "x"}


def machine(begin: datetime, seed: int, count: int, interval_s: int, phase_s: int = 0) -> Iterator[tuple[str, Record]]:
    """Yield processors and address spaces of an LPAR, at a cadence of their own; one interval is missing."""
    chance = random.Random(seed)
    for each in range(count * 60 // interval_s + 2):
        ts = begin - timedelta(minutes=1) + timedelta(seconds=phase_s) + each * timedelta(seconds=interval_s)
        envelope = {"ts": stamp(ts), "interval_s": float(interval_s), "source": "rmf_dds"}
        if each == 11:
            continue
        for kind, engines in (("gcp", 6.0), ("ziip", 10.0)):
            figures: Record = {"busy_pct": None if (kind, each) == ("ziip", 7) else chance.uniform(20, 80)}
            figures |= {"engine_type": kind, "engine": "all", "logical_engines": engines}
            yield "system_cpu", {**envelope, **figures}
        yield "system_cpu", {**envelope, "engine_type": "gcp", "engine": "CP00", "busy_pct": 99.0}
        for space in ("DBP1DIST", "DBP1DBM1", "SETTLE01"):
            used = {"gcp_ms": chance.uniform(0, 9e4), "ziip_ms": chance.uniform(0, 9e4), "ziip_on_cp_ms": 10.0}
            if space == "SETTLE01":
                used |= {"ziip_ms": None}
            source = "omegamon_jsonl" if each == 15 and space == "DBP1DBM1" else "rmf_dds"
            yield "job", {**envelope, "source": source, "job": space, "command": space, **used}


def power(begin: datetime) -> Iterator[tuple[str, Record]]:
    """Yield an AIX partition every 15 s, and its transactions a minute; then IBM i and Linux."""
    for each in range(5 * 4):
        ts = begin + each * timedelta(seconds=15) - timedelta(seconds=45)
        row = {"ts": stamp(ts), "interval_s": 15.0, "engine_type": "core", "engine": "all", "source": "nmon"}
        yield "system_cpu", {**row, "cpu_base": "floating", "user_pct": 50.0, "physical_consumed_cores": 2.0 + each / 7}
    for each in range(5):
        ts = begin + each * timedelta(minutes=1)
        done = {"workload": "OLTP", "run_id": "a", "unit_of_work": "transactions", "operation": ""}
        done["source"] = "workload_csv"
        yield "workload", {"ts": stamp(ts), "interval_s": 60.0, **done, "done_delta": 37_800.0}
        name = "other" if each % 2 else "i"
        row = {"ts": stamp(ts), "interval_s": 60.0, "engine_type": "core", "engine": "all"}
        figures = {"cpu_ms": 9e4} if name == "i" else {"user_pct": 30.0, "sys_pct": 10.0, "cpu_base": "logical"}
        yield "system_cpu", {**row, **figures, "logical_engines": 8.0, "source": "nmon", "system": f"power-{name}"}
        yield "workload", {"ts": stamp(ts), "interval_s": 60.0, **done, "done_delta": 60.0, "system": f"power-{name}"}


def lpar(system: str, begin: datetime, seed: int) -> Rows:
    """Return a system with two subsystems whose ceiling changes in the middle; one ceiling is withdrawn."""
    every, phase = {1: (60, 0), 2: (100, 10), 3: (30, 0), 4: (60, 7)}[seed]
    rows: Rows = [
        *member(system, "DBP1", begin, seed, 34, "zhpf" if seed % 2 else "zhl"),
        *member(system, "DBP2", begin, seed + 10, 34, "zhl"),
        *settled(begin, seed + 20, 34),
        *machine(begin, seed + 30, 34, every, phase),
        ("db_log", reported(begin + timedelta(minutes=40), subsystem="DBP3")),
        ("db_log", reported(begin + timedelta(minutes=41), subsystem="DBP4", copies=2.0)),
        ("db_log", reported(begin + timedelta(minutes=10), subsystem="DBP1", log_path="zhpf" if seed % 2 else "zhl")),
    ]
    rate = {"ts": stamp(begin + timedelta(minutes=50)), "subsystem": "DBP3", "source": "x", "log_rate_mb_s": 1.0}
    rows.append(("db_log", rate))
    path: Record = {"log_path": "zhl", "copies": 2.0}
    for each, figures in ((38, path), (39, {"zhl_sync_pct": 4.36}), (59, {"copies": 1.0})):
        envelope = {"ts": stamp(begin + timedelta(minutes=each, seconds=-40)), "subsystem": "DBP3", "source": "stated"}
        rows.append(("db_log", {**envelope, **figures}))
    rows.append(("db_log", reported(begin + timedelta(minutes=43), subsystem="DBP3", ci_created_delta=None)))
    rows.append(("db_log", reported(begin + timedelta(minutes=52), subsystem="DBP3", interval_s=60.0)))
    old = begin - timedelta(days=400)
    for item, mb_s in (("DBP1/zhpf", "214"), ("DBP1/zhl", "594"), ("DBP2/zhl", "220.5"), ("DBP3/zhl", "9")):
        rows.append(("config", configured(system, "log_ceiling", item, "ceiling_mb_s", old, mb_s)))
        rows.append(("config", configured(system, "log_ceiling", item, "ceiling_mb_s", old, "1000", read_s=60)))
        rows.append(("config", configured(system, "log_ceiling", item, "ceiling_mb_s", old, mb_s, read_s=120)))
        rows.append(("config", configured(system, "log_ceiling", item, "cec", old, "z17")))
    change = begin + timedelta(minutes=15)
    rows.append(("config", configured(system, "log_ceiling", "DBP1/zhpf", "ceiling_mb_s", change, "300")))
    rows.append(("config", configured(system, "log_ceiling", "DBP2/zhl", "ceiling_mb_s", change, "")))
    rows.append(("config", configured(system, "batch", "SETTLE", "units_total", old, "100000000")))
    rows.append(("config", configured("another", "log_ceiling", "DBP1/zhpf", "ceiling_mb_s", old, "1")))
    return completed(system, rows)


def completed(system: str, rows: Iterable[tuple[str, Record]]) -> Rows:
    envelope = {"agent_id": "test", "collected_at": stamp(NOW)}
    return [(dataset, {"system": system, **envelope, "seq": seq, **row}) for seq, (dataset, row) in enumerate(rows)]


def everything() -> Rows:
    """Return a live system, one three days late, one a day ahead, a member delivered twice: shuffled."""
    twice = lpar("twice", NOW - timedelta(hours=2), seed=3)
    rows = [
        *lpar("live", NOW, seed=1),
        *lpar("late", NOW - timedelta(days=3), seed=2),
        *lpar("ahead", NOW + timedelta(days=1), seed=4),
        *twice,
        *[(dataset, {**record, "seq": record["seq"] + 10_000}) for dataset, record in twice],
        *completed("power", power(NOW)),
    ]
    random.Random(5).shuffle(rows)
    return rows


@pytest.fixture(scope="module")
def line(flink: StackSettings) -> Iterator[Line]:
    line = Line(flink, 60, recompute, JOBS, parallelism=2)
    assert [found.what for found in line.submit()] == ["started"] * len(JOBS)
    rows = everything()
    for begin in range(0, len(rows), 600):
        line.publish(rows[begin : begin + 600])
        time.sleep(0.4)  # in all, longer than a mini-batch
    yield line
    submission.cancel(line.cluster, line.jobs)  # its slots


def test_every_result_is_exact_whatever_the_order(line: Line) -> None:
    line.check()


def test_a_ceiling_that_is_configured_afterwards_judges_history(line: Line) -> None:
    since = NOW + timedelta(minutes=1)
    late = configured("live", "log_ceiling", "DBP2/zhl", "ceiling_mb_s", since, "215", read_s=900)
    line.publish(completed("live", [("config", late)]))
    line.check()
