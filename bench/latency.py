"""From a counter written to a file until a query returns it: agent, Kafka and lander at their defaults."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import yaml

from bench.figure import Figure
from counterflow.base.clickhouse import ClickHouse
from counterflow.stack import lifecycle
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings

SNAPSHOTS = 40
INTERVAL_S = 3


def main() -> None:
    """Write snapshots as nmon does, one burst each, and poll ClickHouse for each."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-latency-") as folder:
        settings = free_settings(Path(folder) / "home", parts)
        try:
            lifecycle.up(settings)
            delays = _measure(settings, Path(folder))
        finally:
            lifecycle.down(settings)
    delays.sort()
    p50, p95 = delays[len(delays) // 2], delays[int(len(delays) * 0.95)]
    print(f"p50 {p50:.2f} s, p95 {p95:.2f} s, max {delays[-1]:.2f} s of {len(delays)} snapshots")
    method = (
        f"{len(delays)} snapshots written {INTERVAL_S} s apart to a followed nmon file; from the write until "
        "`system_cpu` returns the row, polled every 50 ms, wall, stack otherwise idle, all settings at their defaults."
    )
    Figure("counter read to queryable, p95", round(p95, 2), "s", "<= 3", method).emit()


def _measure(settings: StackSettings, folder: Path) -> list[float]:
    recording = folder / "live.nmon"
    start = datetime.now(UTC).replace(microsecond=0)
    head = [
        "AAA,progname,nmon",
        "AAA,version,16n",
        "AAA,OS,Linux,6.1,#1,x86_64",
        "AAA,host,bench",
        f"AAA,interval,{INTERVAL_S}",
    ]
    head += [f"AAA,time,{start:%H:%M.%S}", f"AAA,date,{start:%d-%b-%Y}".upper(), "AAA,cpus,2"]
    head += ["CPU_ALL,CPU Total bench,User%,Sys%,Wait%,Idle%,Steal%,Busy,CPUs", "DISKREAD,Disk Read KB/s bench,sda"]
    recording.write_text("\n".join(head) + "\n")
    source = {"name": "bench", "paths": [str(recording)], "format": "nmon", "zone": "UTC", "follow": True}
    config = folder / "agent.yaml"
    config.write_text(
        yaml.safe_dump(
            {
                "agent_id": "bench",
                "kafka": settings.kafka("agent").described,
                "sources": [source],
            }
        )
    )
    arguments = [sys.executable, "-m", "counterflow", "agent", "run", "--config", str(config)]
    agent = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
    client = ClickHouse(settings.clickhouse_url, "reader", settings.clickhouse_password("reader"))
    delays = []
    try:
        time.sleep(5)
        for n in range(1, SNAPSHOTS + 1):
            ts = start + timedelta(seconds=n * INTERVAL_S)
            stamp = f"{ts:%H:%M:%S,%d-%b-%Y}".upper()
            with recording.open("a") as out:
                out.write(f"ZZZZ,T{n:04d},{stamp}\nCPU_ALL,T{n:04d},{n % 50}.5,10.0,0.0,39.5,0.0,,2\n")
                out.write(f"DISKREAD,T{n:04d},100.0\n")
            written = time.monotonic()
            query = f"SELECT count() AS n FROM counterflow.system_cpu WHERE ts = '{ts:%Y-%m-%d %H:%M:%S}'"
            while not client.rows(query)[0]["n"]:
                if time.monotonic() - written > 60:
                    raise TimeoutError(f"snapshot {n} is not queryable after 60 s")
                time.sleep(0.05)
            delays.append(time.monotonic() - written)
            time.sleep(max(0.0, INTERVAL_S - (time.monotonic() - written)))
    finally:
        agent.send_signal(signal.SIGTERM)
        agent.wait(30)
        client.close()
    return delays


if __name__ == "__main__":
    main()
