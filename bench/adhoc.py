"""Ad-hoc questions in SQL: ClickHouse with the tables of the lander, beside DuckDB over Parquet files."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from bench.audit import AGENTS, day
from bench.figure import Figure
from bench.generate_fleet import midnight
from counterflow.base.clickhouse import ClickHouse
from counterflow.schemas.migrations import migrate
from counterflow.stack import lifecycle
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings

DAYS, ROUNDS = 3, 5
PEER = ["uv", "run", "--quiet", "--no-project", "--with", "duckdb==2.0.0", "--with", "pytz", "python", "-c"]
ONE_DAY = "ts >= TIMESTAMP '{begin}' AND ts < TIMESTAMP '{end}'"
QUESTIONS = {
    "what one system's disks did in a day": "SELECT disk, sum(reads), sum(writes), max(busy_pct) FROM disk"
    f" WHERE system = 'sys0-3' AND {ONE_DAY} GROUP BY disk ORDER BY disk",
    "busiest hours of all systems": "SELECT date_trunc('hour', ts) AS hour, {p95}, sum(read_kb) FROM disk"
    " GROUP BY hour ORDER BY hour",
    "ten busiest disks": "SELECT system, disk, sum(transfers) AS moved FROM disk GROUP BY system, disk"
    " ORDER BY moved DESC, system, disk LIMIT 10",
    "intervals in which anything was slow": "SELECT count(*), max(service_ms) FROM disk WHERE service_ms > 4.9",
    "one disk, every sample of a day": "SELECT ts, reads, writes, service_ms FROM disk WHERE system = 'sys1-7'"
    f" AND disk = 'hdisk3' AND {ONE_DAY} ORDER BY ts",
}
_DUCKDB = """
import duckdb, json, sys, time
given = json.load(sys.stdin)
db = duckdb.connect()
db.execute("SET threads = %d" % given["threads"])
db.execute("SET TimeZone = 'UTC'")
db.execute("CREATE VIEW disk AS SELECT * FROM read_parquet('%s/*.parquet')" % given["folder"])
found = []
for sql in given["questions"]:
    took = []
    for _ in range(given["rounds"] + 1):
        begin = time.perf_counter()
        rows = db.execute(sql).fetchall()
        took.append(time.perf_counter() - begin)
    found.append({"took": took[1:], "rows": len(rows)})
print(json.dumps(found))
"""


class Answer(NamedTuple):
    """Median milliseconds of a question over some rounds, and the number of its rows."""

    ms: float
    rows: int


def main() -> None:
    """Run the same questions in both, on the same processors, one after the other."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-adhoc-") as name:
        settings = free_settings(Path(name) / "home", parts)
        parquet = Path(name) / "parquet"
        parquet.mkdir()
        try:
            lifecycle.start(settings, "clickhouse")
            with settings.clickhouse("admin", timeout_s=900) as client:
                migrate(client)
                _fill(client, parquet)
                rows = client.rows("SELECT count() AS n FROM counterflow.disk")[0]["n"]
                stored = _stored(client)
                ours = [_timed(client, sql) for sql in _questions("quantileExact(0.95)(busy_pct)")]
        finally:
            lifecycle.down(settings)
        if shutil.which(PEER[0]) is None:
            raise SystemExit(f"{PEER[0]} runs the peer and is not on PATH")
        theirs = _peer(parquet)
        files = sum(path.stat().st_size for path in parquet.iterdir())
    for question, mine, other in zip(QUESTIONS, ours, theirs, strict=True):
        if mine.rows != other.rows:
            raise AssertionError(f"{question}: {mine.rows} rows and {other.rows}")
        print(f"{question}: {mine.ms:.0f} ms, DuckDB {other.ms:.0f} ms, {mine.rows} rows")
    method = (
        f"{len(QUESTIONS)} questions of {rows:,} disk rows of {DAYS} days, answered over HTTP by the engine "
        f"({stored / 2**20:.0f} MiB), and by DuckDB 2.0.0 in its own process from a Parquet file a day "
        f"({files / 2**20:.0f} MiB): sum of the medians of {ROUNDS} runs after a first, wall, {os.cpu_count()} cores."
    )
    mine_ms, other_ms = (round(sum(one.ms for one in side)) for side in (ours, theirs))
    Figure("ad-hoc SQL", mine_ms, "ms", f"<= {other_ms}", method, "DuckDB over Parquet", other_ms).emit()


def _fill(client: ClickHouse, parquet: Path) -> None:
    for view in client.rows(
        "SELECT name FROM system.tables WHERE database = 'counterflow' AND match(name, '_to_(ledger|1h)$')"
    ):
        client.post(f"DROP VIEW counterflow.{view['name']}")
    begin = midnight() - timedelta(days=DAYS)
    for number in range(DAYS):
        for agent in range(AGENTS):
            client.post(day(agent, number, begin))
        first = begin + timedelta(days=number)
        period = ONE_DAY.format(begin=f"{first:%F %T}", end=f"{first + timedelta(days=1):%F %T}")
        rows = client.post(f"SELECT * FROM counterflow.disk WHERE {period} ORDER BY system, disk, ts FORMAT Parquet")
        (parquet / f"{first:%F}.parquet").write_bytes(rows)
    client.post("OPTIMIZE TABLE counterflow.disk FINAL")


def _questions(p95: str) -> list[str]:
    period = {"begin": f"{midnight() - timedelta(days=1):%F %T}", "end": f"{midnight():%F %T}"}
    return [question.format(p95=p95, **period) for question in QUESTIONS.values()]


def _timed(client: ClickHouse, sql: str) -> Answer:
    took = []
    for _ in range(ROUNDS + 1):
        begin = time.perf_counter()
        rows = client.rows(sql.replace("FROM disk", "FROM counterflow.disk"))
        took.append(time.perf_counter() - begin)
    return Answer(1000 * statistics.median(took[1:]), len(rows))


def _peer(parquet: Path) -> list[Answer]:
    questions = _questions("quantile_disc(busy_pct, 0.95)")
    given = {"folder": str(parquet), "threads": os.cpu_count(), "rounds": ROUNDS, "questions": questions}
    run = subprocess.run([*PEER, _DUCKDB], input=json.dumps(given), capture_output=True, text=True, check=False)
    if run.returncode:
        raise AssertionError(run.stderr)
    return [Answer(1000 * statistics.median(one["took"]), one["rows"]) for one in json.loads(run.stdout)]


def _stored(client: ClickHouse) -> int:
    parts = "system.parts WHERE active AND database = 'counterflow' AND table = 'disk'"
    return int(client.rows(f"SELECT sum(bytes_on_disk) AS n FROM {parts}")[0]["n"])


if __name__ == "__main__":
    main()
