"""`counterflow agent run` with a real broker: killed, fenced, and what it measures of itself."""

from __future__ import annotations

import collections
import itertools
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import psutil
from confluent_kafka import Producer

from counterflow.collectors.agent.checkpoint import messages
from counterflow.collectors.reading import unrecognised
from counterflow.collectors.records import Item
from counterflow.schemas.definition import CHECKPOINTS
from counterflow.stack.settings import StackSettings
from tests.support.agents import Agent, assert_exactly_once, committed, published, scrape
from tests.support.ports import free_ports
from tests.support.reading import read_file
from tests.support.waiting import PATIENCE_S, until


class Recording:
    """An nmon recording of a small Linux machine that is being written, with values that differ in every row.

    With `network` it has an interface, of which a Flink job computes results.
    """

    def __init__(self, path: Path, host: str = "lpar1", disks: int = 8, *, network: bool = False) -> None:
        self.path, self.disks, self.network, self.written = path, disks, network, 0
        self.start = datetime(2026, 11, 20, 10, tzinfo=UTC)
        names = ",".join(f"sd{chr(97 + d)}" for d in range(disks))
        path.write_text(
            f"AAA,progname,nmon\nAAA,version,16n\nAAA,OS,Linux,6.1,#1,x86_64\nAAA,host,{host}\nAAA,runname,{path.name}\n"
            "AAA,interval,1\nAAA,time,10:00.00\nAAA,date,20-NOV-2026\nAAA,cpus,2\n"
            f"CPU_ALL,CPU Total {host},User%,Sys%,Wait%,Idle%,Steal%,Busy,CPUs\n"
            f"DISKREAD,Disk Read KB/s {host},{names}\nDISKWRITE,Disk Write KB/s {host},{names}\n"
            + f"NET,Network I/O {host},eth0-read-KB/s,eth0-write-KB/s\n"
            * network
        )

    def snapshot(self) -> str:
        self.written += 1
        n, at = self.written, self.start + timedelta(seconds=self.written)
        values = ",".join(f"{(n * 7 + d) % 101}.5" for d in range(self.disks))
        stamp = f"{at:%H:%M:%S,%d-%b-%Y}".upper()
        return (
            f"ZZZZ,T{n:04d},{stamp}\nCPU_ALL,T{n:04d},{n % 50}.5,10.0,0.0,{89 - n % 50}.5,0.0,,2\n"
            f"DISKREAD,T{n:04d},{values}\nDISKWRITE,T{n:04d},{values}\n"
            + f"NET,T{n:04d},{n % 90}.5,{n % 70}.5\n"
            * self.network
        )

    def append(self, snapshots: int = 1) -> None:
        with self.path.open("a") as out:
            for _ in range(snapshots):
                out.write(self.snapshot())


def follow(folder: Path, broker: StackSettings, name: str, **options: Any) -> Agent:
    """Start an agent that follows the recordings in a folder."""
    source = {"name": "s", "paths": [str(folder / "*.nmon")], "zone": "UTC", "settle_s": 0.5}
    return Agent(folder, broker, name, source, **options)


def items(*files: Path) -> Iterator[Item]:
    """Yield what a plain parse of the files gives."""
    return itertools.chain.from_iterable(read_file(file, ZoneInfo("UTC")) for file in files)


def is_read(broker: StackSettings, name: str, *files: Path) -> Callable[[], bool]:
    """Return a predicate: whether the checkpoints cover the files to their end."""

    def read() -> bool:
        found = committed(broker, name).files.values()
        ends = {checkpoint.inode: checkpoint.size for checkpoint in found}
        return all(ends.get(file.stat().st_ino) == file.stat().st_size for file in files)

    return read


def test_killed_at_any_moment_it_goes_on_with_no_record_lost_or_duplicated(
    broker: StackSettings, name: str, tmp_path: Path
) -> None:
    recording, chance = Recording(tmp_path / "live.nmon"), random.Random(7)
    done = threading.Event()

    def record() -> None:
        with recording.path.open("a") as out:
            while not done.wait(0.02):
                text = recording.snapshot()
                cut = chance.randrange(len(text))
                out.write(text[:cut])
                out.flush()  # half a line is on disk now
                out.write(text[cut:])

    writer = threading.Thread(target=record)
    writer.start()
    try:
        for _ in range(3):
            with follow(tmp_path, broker, name) as agent:
                time.sleep(chance.uniform(0.6, 2.5))
                agent.process.kill()
    finally:
        done.set()
        writer.join()
    with follow(tmp_path, broker, name) as agent:
        until(is_read(broker, name, recording.path), agent.log)
        agent.stop()
    rows = published(broker, name)
    assert_exactly_once(rows, items(recording.path))
    assert len({row["ts"] for row in rows if row["dataset"] == "disk"}) == recording.written


def test_a_second_agent_of_the_same_name_takes_over_and_the_first_reports_it(
    broker: StackSettings, name: str, tmp_path: Path
) -> None:
    recording = Recording(tmp_path / "live.nmon")
    recording.append(5)
    with follow(tmp_path, broker, name) as first:
        until(is_read(broker, name, recording.path), first.log)
        with follow(tmp_path, broker, name) as second:
            until(lambda: (found := committed(broker, name).agent) and found.pid == second.process.pid)
            recording.append(5)
            assert first.process.wait(PATIENCE_S) == 3
            assert f"another agent with agent_id `{name}` has taken over: process {second.process.pid}" in (
                first.log.read_text()
            )
            until(is_read(broker, name, recording.path), second.log)
            second.stop()
    assert_exactly_once(published(broker, name), items(recording.path))


def test_checkpoints_are_read_up_to_their_end_at_the_beginning(broker: StackSettings, name: str) -> None:
    """While others write without a pause, a reader that follows the end of the topic never reaches it."""
    client = {**broker.kafka("agent").client, "log_level": 0}
    other = Producer({**client, "transactional.id": name})
    other.init_transactions(PATIENCE_S)
    other.begin_transaction()
    other.produce(CHECKPOINTS, b"{}", f"{name}/held back")
    other.flush(30)

    def write() -> None:
        """Write a later record, which becomes readable together with the one held back."""
        later = Producer(client)
        later.produce(CHECKPOINTS, b"{}", f"{name}/later")
        later.flush(30)
        other.commit_transaction(PATIENCE_S)

    writer = threading.Timer(1, write)
    writer.start()
    keys = [key.decode() for key, _ in messages(client, f"counterflow-agent-{name}", 30)]
    writer.join()
    assert f"{name}/held back" in keys
    assert f"{name}/later" not in keys


def test_metrics_report_what_was_committed_and_memory_is_bounded(
    broker: StackSettings, name: str, tmp_path: Path
) -> None:
    [port] = free_ports(1)
    recording = Recording(tmp_path / "wide.nmon", disks=26)
    recording.append(1000)
    (tmp_path / "not.nmon").write_bytes(b"nothing known")
    with follow(tmp_path, broker, name, metrics_port=port) as agent:
        process, most = psutil.Process(agent.process.pid), 0
        read = is_read(broker, name, recording.path)
        while not read():
            most = max(most, process.memory_info().rss)
        text = until(lambda: scrape(port, 'source_lag_bytes{source="s"} 0.0'))
        health = httpx.get(f"http://127.0.0.1:{port}/healthz", trust_env=False)
        agent.stop()
    assert health.status_code == 503
    assert health.text == f"{tmp_path / 'not.nmon'}: {unrecognised(b'nothing known').detail}\n"
    assert most < 256 << 20
    rows = published(broker, name)
    counted = {m[1]: float(m[2]) for m in re.finditer(r'_records_total\{dataset="(\w+)",source="s"\} (\S+)', text)}
    assert counted == collections.Counter(row["dataset"] for row in rows)
    assert f"counterflow_agent_committed_seq {float(len(rows))}" in text
    assert 'counterflow_agent_rejects_total{reason="not_this_format",source="s"} 1.0' in text
    size = recording.path.stat().st_size + len("nothing known")
    assert float(re.search(r"counterflow_agent_read_bytes_total\S+ (\S+)", text)[1]) == size  # type: ignore[index]
    last = re.search(r"counterflow_agent_last_success_timestamp_seconds\S+ (\S+)", text)
    assert last
    assert time.time() - float(last[1]) < 30
    assert re.search(r"counterflow_agent_commit_duration_seconds_count [1-9]", text)
