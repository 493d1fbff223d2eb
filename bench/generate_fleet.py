"""A generated fleet inside ClickHouse: rows of every table that panels read, made by the engine itself from numbers.

The values are generated, not measured: they drift in a plausible range and compress about as measured ones do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from bench.stack import running
from counterflow.base.clickhouse import ClickHouse
from counterflow.pipelines.landing.rollups import refresh
from counterflow.stack.settings import StackSettings

SYSTEMS, DAYS, INTERVAL_S = 50, 30, 15
_FRESH_PARTS = 8
"""Parts of the last day, each of a few hours of all systems, as they land; those of earlier days are merged by then."""


class Made(NamedTuple):
    """Rows of a table: one per system, thing and interval.

    Parameters
    ----------
    systems : the fleet's systems that have them: the first, and the one after the last.
    things : values of the key columns, in the order of the table's key.
    key : names of the key columns; names of further properties of a thing may follow.
    columns : expressions of the other columns, of `h` (a hash of the row), `a`, `b`, `c` (0 to 100, one decimal).
    """

    systems: tuple[int, int]
    things: Sequence[tuple[object, ...]]
    key: tuple[str, ...]
    columns: Mapping[str, str]


_ALL, _IBMI, _LINUX, _ZOS, _REPLICATING = (0, SYSTEMS), (0, 6), (10, 40), (40, 50), (30, 35)
_LOGICAL = {
    "split": "'four-way'", "logical_io": "c * 400", "reads": "c * 300", "read_only": "c * 200",
    "read_for_update": "c * 100", "inserts": "c * 40", "other": "c * 60", "exposure_pct": "50.",
    "commits": "c", "rollbacks": "0.",
}  # fmt: skip
_GROUPS = [
    *(("generic_job", f"QGEN{n}") for n in range(3)), *(("job", f"QJOB{n}") for n in range(4)),
    *(("job_type", name) for name in "BI"), ("partition", "*"),
    *(("subsystem", f"QSBS{n}") for n in range(2)), *(("user", f"USER{n}") for n in range(2)),
]  # fmt: skip
_WAITS = ("dispatched_cpu", "cpu_queueing", "disk", "journaling", "operating_system_contention", "lock_contention")
_RAW = {"source": "'generated'", "agent_id": "'bench'", "seq": "number", "collected_at": "ts"}

_TASKS = [f"{n:016X}" for n in range(5)]

TABLES: Mapping[str, Made] = {
    "system_cpu": Made(
        _ALL, [("logical", name) for name in ("0", "all")], ("engine_type", "engine"),
        {**_RAW, "user_pct": "a * 0.7", "sys_pct": "b * 0.2", "wait_pct": "c * 0.1", "steal_pct": "0.",
         "cpu_base": "'logical'", "logical_engines": "8."},
    ),
    "disk": Made(
        _ALL, [(f"hdisk{n}",) for n in range(2)], ("disk",),
        {**_RAW, "device_type": "'disk'", "leaf": "true", "busy_pct": "a", "reads": "b * 15", "writes": "c * 15",
         "read_kb": "b * 120", "written_kb": "c * 60", "service_ms": "a / 20", "wait_ms": "b / 100"},
    ),
    "disk_bucket": Made(
        _IBMI, [("0001", "any", n, edge) for n, edge in enumerate((500.0, 1e3, 4e3, 16e3, 64e3), 1)],
        ("disk", "operation", "bucket", "upper_us"),
        {**_RAW, "operations": "a", "response_ms": "a * 2", "service_ms": "a"},
    ),
    "manifest": Made(
        _ALL, [("disk",), ("job",)], ("counted",),
        {**_RAW, "source": "'nmon'", "interval_s": f"{INTERVAL_S}.", "row_count": "4", "collected_at": "now64(3)"},
    ),
    "link_load": Made(
        (0, 10), [("logical_port", "P1"), ("nrg", "N1"), ("rdma_link", "R1")], ("link_type", "link"),
        {"`group`": "if(thing.1 = 'logical_port', NULL, concat('PAIR', toString(intDiv(s, 2))))", "n": "2",
         "physical_port": "'C1'", "own_out_bytes_s": "a * 1e6", "own_in_bytes_s": "b * 1e6",
         "own_out_msgs_s": "a * 1e3", "own_in_msgs_s": "b * 1e3", "line_bits_s": "1e11", "out_line_pct": "a / 2",
         "in_line_pct": "b / 2", "capacity_pct": "10.", "out_capacity_pct": "a", "in_capacity_pct": "b",
         "phys_out_bytes_s": "2e8 + c * 1e6", "phys_in_bytes_s": "2e8", "phys_line_pct": "c",
         "adapter_share_pct": "a", "drops_s": "0.", "rnr_nak_s": "0."},
    ),
    "verdict": Made(
        (0, 10), [("roce_cap", "nrg", "N1"), ("roce_cap", "rdma_link", "R1")], ("rule", "entity_type", "entity"),
        {"n": "1", "state": "if(intDiv(toUnixTimestamp(ts), 7200) % 9 = s % 9, 'CAPPED', 'OK')", "stale": "false",
         "reason": "'share of the capacity'", "since": "toStartOfInterval(ts, INTERVAL 2 HOUR)", "evidence": "'{}'",
         "parameters": "'default'"},
    ),
    "io_mix": Made(_IBMI, _GROUPS, ("grouping", "name"), {"n": "9", **_LOGICAL}),
    "log_load": Made(
        _ZOS, [("DBP1",)], ("subsystem",),
        {"n": "2", "path": "'zhpf'", "rate_mb_s": "a * 2", "rate_basis": "'copies'", "written_mb_s": "a * 2",
         "ceiling_mb_s": "214.", "ceiling_pct": "a", "waits_delta": "0.", "waiting_threads": "b / 10",
         "active_threads": "b", "log_write_ms": "c / 100", "zhl_sync_pct": "99.", "gcp_pct": "a", "ziip_pct": "b"},
    ),
    "account_cpu": Made(
        _ZOS, [("ACCOUNTS", "captured"), ("ACCOUNTS", "lpar")], ("workload", "basis"),
        {"n": "4", "samples": "1", "unit_of_work": "'account'", "accounts": "a * 1000",
         "accounts_per_hour": "a * 240e3",
         "gcp_ms_per_account": "b / 200", "ziip_ms_per_account": "c / 200", "ziip_on_cp_ms_per_account": "0.",
         "log_bytes_per_account": "4096."},
    ),
    "pool": Made(
        _IBMI, [(f"{n:02}", f"*POOL{n}") for n in range(1, 5)], ("pool", "pool_name"),
        {**_RAW, "source": "'ibmi_tables'", "size_mb": "4096.", "reserved_mb": "409.", "faults": "a * 15",
         "active_to_ineligible": "0."},
    ),
    "wait": Made(
        _IBMI, [(task, n, f"bucket {n}", group) for task in ("*", *_TASKS) for n, group in enumerate(_WAITS, 1)],
        ("task", "bucket", "bucket_name", "wait_group"), {**_RAW, "waits": "a", "wait_ms": "b * 10"},
    ),
    "job": Made(
        _IBMI, [(task, task, f"QJOB{n}", f"USER{n % 3}", f"QSBS{n % 3}", f"{1 + n % 4:02}", "BI"[n % 2])
                for n, task in enumerate(_TASKS)],
        ("job", "task", "job_name", "job_user", "subsystem", "job_pool", "job_type"),
        {**_RAW, "source": "'ibmi_tables'", "cpu_ms": "a * 60", "sql_cpu_ms": "a * 20", "logical_reads": "b * 100",
         "logical_reads_for_update": "b * 30", "logical_writes": "c * 20", "logical_other": "c * 30",
         "sync_db_reads": "a", "sync_nondb_reads": "a", "async_db_writes": "b", "async_nondb_writes": "b",
         "page_faults": "c", "transactions": "a", "response_s": "a / 10"},
    ),
    "replication": Made(
        _REPLICATING, [("apply", "Q1"), ("apply", "Q2"), ("capture", "Q1")], ("component", "queue"),
        {**_RAW, "end_to_end_ms": "a * 30", "queue_ms": "a * 10", "apply_ms": "a * 10",
         "transactions_applied": "b * 10", "rows_applied": "b * 90",
         "current_log_at": "ts - toIntervalSecond(1)", "log_reader_sleep_ms": "0.",
         "queue_depth": "c * 3", "queue_full_pct": "c / 3"},
    ),
    "workload": Made(
        _REPLICATING, [("YCSB", "1", "operation", ""), ("YCSB", "1", "operation", "READ")],
        ("workload", "run_id", "unit_of_work", "operation"),
        {**_RAW, "done_delta": "a * 100", "response_ms": "b / 20", "response_max_ms": "b", "response_p50_ms": "b / 25",
         "response_p95_ms": "b / 8", "response_p99_ms": "b / 4"},
    ),
}  # fmt: skip
PROCESSES = Made(
    _REPLICATING,
    [(f"{n}", name) for n, name in enumerate(("amqzlaa0", "asnqapp", "asnqcap", "db2fmp", "db2sysc", "sshd"))],
    ("job", "command"),
    {**_RAW, "source": "'nmon'", "cpu_ms": "a * 30", "cpu_base": "'logical'", "resident_kb": "b * 10240",
     "shared_kb": "0.", "threads": "9."},
)  # fmt: skip
"""More rows of the table `job`: the processes of systems that replicate."""


class Engine(NamedTuple):
    """An engine with generated rows: its settings, the number of rows, and the midnight at which its days end."""

    settings: StackSettings
    made: int
    end: datetime

    def reader(self) -> ClickHouse:
        """Return a connection as Grafana's user."""
        return self.settings.clickhouse("reader")


@contextmanager
def engine() -> Iterator[Engine]:
    """Start an engine with the rows of the fleet, and stop it in the end."""
    with running("clickhouse") as (settings, _):
        with settings.clickhouse("admin", timeout_s=3600) as admin:
            fill(admin)
            made = rows(admin)
        yield Engine(settings, made, midnight())


def fill(client: ClickHouse) -> None:
    """Fill migrated, empty tables with the days before the last midnight."""
    _drop_rollup_views(client)
    end = midnight()
    _send(client, (_anomalies(end), _runs(end), _counters(end)))
    for day in (end - timedelta(days=back) for back in range(DAYS, 0, -1)):
        parts = _FRESH_PARTS if day + timedelta(days=1) == end else 1
        for table, made in (*TABLES.items(), ("job", PROCESSES)):
            _send(client, _day(table, made, day, parts))
    refresh(client)


def _drop_rollup_views(client: ClickHouse) -> None:
    """Drop the views behind ledger and metrics by hour: at this size they would take most of the time.

    Those that list systems stay, and those behind arrivals, processors and waits by hour.
    """
    for view in client.rows(
        "SELECT name FROM system.tables WHERE database = 'counterflow' AND match(name, '_to_(ledger|hour_touched)$')"
        " AND NOT match(name, '^(manifest|system_cpu|wait)_')"
    ):
        client.post(f"DROP VIEW counterflow.{view['name']}")


def rows(client: ClickHouse) -> int:
    """Return the number of rows of all tables, except the list of applied migrations."""
    counted = (
        "SELECT sum(rows) AS n FROM system.parts WHERE active AND database = 'counterflow' AND table != 'migration'"
    )
    return int(client.rows(counted)[0]["n"])


def _send(client: ClickHouse, statements: Iterable[str]) -> None:
    whole = {"max_insert_block_size": 10_000_000, "min_insert_block_size_rows": 10_000_000, "max_execution_time": 0}
    for statement in statements:
        client.post(statement, settings={**whole, "max_partitions_per_insert_block": 0})


def _system(number: str) -> str:
    """Return the SQL of a system's name, from the SQL of its number."""
    return f"concat('sys', leftPad(toString({number}), 3, '0'))"


def midnight() -> datetime:
    """Return the last midnight, UTC, at which the generated days end."""
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _day(table: str, made: Made, day: datetime, parts: int) -> Iterator[str]:
    """Yield the statements of one day; each makes one part."""
    first, behind = made.systems
    intervals = 86_400 // INTERVAL_S // parts
    columns = {"ts": "ts", "interval_s": f"{INTERVAL_S}.", "system": _system("s")}
    columns |= {name: f"thing.{place}" for place, name in enumerate(made.key, 1)}
    columns |= made.columns
    things = ", ".join(f"({', '.join(map(_literal, thing))},)" for thing in made.things)
    for part in range(parts):
        begin = int(day.timestamp()) + part * intervals * INTERVAL_S
        yield (
            f"INSERT INTO counterflow.{table} ({', '.join(columns)})\n"
            f"WITH [{things}] AS things\n"
            f"SELECT {', '.join(columns.values())} FROM (SELECT number,\n"
            f"  toDateTime64({begin} + number % {intervals} * {INTERVAL_S}, 3, 'UTC') AS ts,\n"
            f"  things[intDiv(number, {intervals}) % {len(made.things)} + 1] AS thing,\n"
            f"  intDiv(number, {intervals * len(made.things)}) + {first} AS s,\n"
            f"  cityHash64(number, {begin}) AS h, h % 1000 / 10 AS a, bitShiftRight(h, 16) % 1000 / 10 AS b,\n"
            f"  bitShiftRight(h, 32) % 1000 / 10 AS c\n"
            f"  FROM numbers({intervals * len(made.things) * (behind - first)}))"
        )


def _literal(value: object) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else f"{value}"


def _anomalies(end: datetime) -> str:
    """Return the statement that makes the rare rows: an anomaly of each system every ten minutes."""
    return (
        "INSERT INTO counterflow.quality (ts, system, source, agent_id, seq, collected_at, file, line, byte_offset,"
        " reason, kept, detail)\n"
        f"SELECT toDateTime64({int(end.timestamp())} - intDiv(number, {SYSTEMS}) * 600, 3, 'UTC'),"
        f" {_system(f'number % {SYSTEMS}')}, 'generated', 'bench', number, now64(3),"
        " 'host.nmon', number, number * 80, ['gap', 'doubled', 'short'][number % 3 + 1], 'row', 'generated'"
        f" FROM numbers({SYSTEMS * DAYS * 144})"
    )


def _runs(end: datetime) -> str:
    """Return the statement that makes two runs of two hours, as the site file names them."""
    begun = {"with": end - timedelta(hours=6), "without": end - timedelta(hours=3)}
    rows = ", ".join(
        f"({int(begin.timestamp())}, {number}, '{run}', '{begin + timedelta(hours=2):%Y-%m-%dT%H:%M:%SZ}')"
        for run, begin in begun.items()
        for number in range(*_REPLICATING)
    )
    return (
        "INSERT INTO counterflow.config (ts, system, source, agent_id, seq, collected_at, section, item, name, value)\n"
        f"SELECT toDateTime64(at, 3, 'UTC'), {_system('number')}, 'site', 'bench', 0, now64(3), 'run', run, 'end', ends"
        f" FROM values('at UInt32, number UInt32, run String, ends String', {rows})"
    )


def _counters(end: datetime) -> str:
    """Return the statement that records which systems have which counters, as manifests of all datasets would."""
    has = {"wait": _IBMI, "pool": _IBMI, "link": (0, 10), "db_log": _ZOS}
    has |= dict.fromkeys(("workload", "replication"), _REPLICATING)
    there = [(dataset, number) for dataset, systems in has.items() for number in range(*systems)]
    listed = ", ".join(f"('{dataset}', {number})" for dataset, number in there)
    return (
        "INSERT INTO counterflow.system_dataset (day, dataset, source, system, first_ts, last_ts, by_manifest)\n"
        f"SELECT toDate({int(end.timestamp())}) - 1 AS of_day, dataset, 'generated', {_system('number')},"
        " of_day, of_day + INTERVAL 1 DAY, 1"
        f" FROM values('dataset String, number UInt32', {listed})"
    )
