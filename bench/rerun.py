"""A year of 200 Db2 members computed again: `counterflow jobs rerun` over days of it, scaled up."""

from __future__ import annotations

import os
import resource
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.figure import Figure
from counterflow.base.clickhouse import ClickHouse
from counterflow.base.embedded import Embedded
from counterflow.pipelines import batch
from counterflow.pipelines.jobs import chosen
from counterflow.schemas.definition import datasets
from counterflow.schemas.mapping import mappings
from counterflow.schemas.migrations import migrate

SYSTEMS, MEMBERS, DAYS = 100, 2, 4
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_FILL = {"max_execution_time": 0}
_LOG_COUNTS = [name for name in mappings()["db2_log_csv"]["db_log"] if f"prev_{name}" in datasets()["db_log"].columns]


def main() -> None:
    """Fill a database with days, compute `log_load` over all but the first and the last, and scale up."""
    with tempfile.TemporaryDirectory(prefix="bench-rerun-") as folder, closing(Embedded(Path(folder))) as client:
        migrate(client)
        configure(client)
        for day in range(DAYS):
            fill_day(client, day)
        begin, cpu = time.monotonic(), time.process_time()
        period = (BEGIN + timedelta(days=1), BEGIN + timedelta(days=DAYS - 1))
        [results] = batch.run(client, chosen(["log_load"]), *period).values()
        seconds, cpu_s = time.monotonic() - begin, time.process_time() - cpu
    days = DAYS - 2
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    method = (
        f"{results:,} results of {days} days in {seconds:.1f} s, {cpu_s:.1f} CPU s; at most {peak:,.0f} MB; {SYSTEMS} "
        f"systems with {MEMBERS} Db2 members each, every 60 s; scaled up to 365 days; the engine in the process, "
        f"{os.cpu_count()} cores; a query covers a day at most, with at most 1.5 GB."
    )
    minutes = round(seconds / days * 365 / 60, 1)
    Figure("log_load, a year of 200 Db2 members", minutes, "minutes", "<= 10", method).emit()


def fill_day(client: ClickHouse, number: int) -> None:
    """Insert the rows of a day: of each minute two rows of processors and one of each member's log."""
    at = int((BEGIN + timedelta(days=number)).timestamp())
    envelope = "interval_s, system, agent_id, seq, collected_at, ts"

    def insert(dataset: str, columns: str, values: str, each: int) -> None:
        rows = 1440 * SYSTEMS * each
        client.post(
            f"INSERT INTO counterflow.{dataset} ({envelope}, source, {columns}) WITH "
            f"intDiv(number, {SYSTEMS * each}) AS minute, intDiv(number, {each}) % {SYSTEMS} AS of, "
            f"toDateTime64({at} + 60 * (minute + 1), 3, 'UTC') AS ended, {number} * 1440 + minute AS since "
            f"SELECT 60., concat('SYS', leftPad(toString(of), 3, '0')), 'bench', number, ended, ended, {values} "
            f"FROM numbers({rows})",
            settings=_FILL,
        )

    load = "20 + (since * 7 + of * 13) % 600 / 10"
    insert(
        "system_cpu",
        "engine_type, engine, busy_pct, logical_engines",
        f"'rmf_dds', if(number % 2 = 0, 'gcp', 'ziip'), 'all', {load}, if(number % 2 = 0, 6., 10.)",
        2,
    )
    counts = ", ".join(f"6000000. * (since + 1) + {at}, 6000000. * since + {at}" for at in range(len(_LOG_COUNTS)))
    names = ", ".join(f"{name}, prev_{name}" for name in _LOG_COUNTS)
    insert(
        "db_log",
        f"subsystem, log_path, copies, active_threads, prev_ts, {names}",
        f"'db2_log_csv', concat('DB', leftPad(toString(of), 2, '0'), toString(number % {MEMBERS})), 'zhl', 2., 256., "
        f"ended - 60, {counts}",
        MEMBERS,
    )


def configure(client: ClickHouse) -> None:
    """Insert a ceiling per member."""
    client.post(
        "INSERT INTO counterflow.config (ts, system, source, agent_id, seq, collected_at, section, item, name, value) "
        f"WITH intDiv(number, {MEMBERS}) AS of, toDateTime64('2025-01-01', 3, 'UTC') AS since "
        "SELECT since, concat('SYS', leftPad(toString(of), 3, '0')), 'site', 'bench', number, since, 'log_ceiling', "
        f"concat('DB', leftPad(toString(of), 2, '0'), toString(number % {MEMBERS}), '/zhl'), 'ceiling_mb_s', '594' "
        f"FROM numbers({SYSTEMS * MEMBERS})"
    )


if __name__ == "__main__":
    main()
