"""Counters of z/OS, and of Power, for the jobs over logs and accounts; and how minutes and settings of these meet.

The input has the shapes of that of io_mix. The calculation shares nothing with the SQL but the wording of the
definitions.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.flink_line import Record, Running, known, over, seconds, stamp, total

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


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


def cores(row: Record) -> tuple[float | None, str]:
    if row.get("physical_consumed_cores") is not None:
        return row["physical_consumed_cores"], "physical"
    if row.get("cpu_ms") is not None:
        return row["cpu_ms"] / 1000 / row["interval_s"], "physical"
    return (row["user_pct"] + row["sys_pct"]) / 100 * row["logical_engines"], "logical"


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
