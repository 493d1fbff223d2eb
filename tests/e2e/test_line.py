"""Recordings through the whole line: ClickHouse returns what a calculation on the file gives."""

from __future__ import annotations

import itertools
import json
import shutil
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.stack.account import account, wait_computed, wait_landed
from tests.e2e.conftest import Run
from tests.support.recordings import RECORDINGS


def plain_totals(path: Path) -> dict[str, float]:
    """Calculate from the text alone: MB read and written by whole disks, CPU seconds of commands, mean CPU."""
    stamps: dict[str, datetime] = {}
    disks: dict[str, list[str]] = {}
    kb: dict[str, float] = defaultdict(float)
    commands: dict[str, float] = defaultdict(float)
    cpu, seconds = 0.0, 0.0
    lines = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
    for fields in lines:
        if fields[0] == "ZZZZ":
            stamps[fields[1]] = datetime.strptime(f"{fields[2]} {fields[3]}", "%H:%M:%S %d-%b-%Y")  # noqa: DTZ007
    order = list(stamps)
    length = {order[0]: 1.0}  # the first snapshot covers the second for which nmon sleeps
    length |= {b: (stamps[b] - stamps[a]).total_seconds() for a, b in itertools.pairwise(order)}
    for fields in lines:
        section, tag = fields[0].rstrip("0123456789"), fields[1] if len(fields) > 1 else ""
        if section in ("DISKREAD", "DISKWRITE"):
            if tag not in length:
                disks[fields[0]] = fields[2:]
            else:
                for disk, value in zip(disks[fields[0]], fields[2:], strict=True):
                    if disk == "vda":
                        kb[section] += float(value) * length[tag]
        elif fields[0] == "CPU_ALL" and tag in length:
            cpu += (float(fields[2]) + float(fields[3])) * length[tag]
            seconds += length[tag]
        elif fields[0] == "TOP" and len(fields) > 12 and fields[2] in length:
            commands[fields[13]] += float(fields[3]) / 100 * length[fields[2]]
    totals = {"read_mb": kb["DISKREAD"] / 1024, "written_mb": kb["DISKWRITE"] / 1024, "cpu_pct": cpu / seconds}
    return {**totals, **{f"cpu_s:{command}": total for command, total in commands.items()}}


def publish(counterflow: Run, *arguments: object) -> dict[str, object]:
    run = counterflow("publish", "--json", *arguments)
    assert run.returncode == 0, run.stderr
    return dict(json.loads(run.stdout))


@pytest.mark.parametrize("recording", ["linux_16n_full", "linux_16n_l4_continuation"])
def test_answers_are_those_of_a_plain_calculation(counterflow: Run, reader: ClickHouse, recording: str) -> None:
    path, agent = RECORDINGS / f"{recording}.nmon", f"line-{recording}"
    published = publish(counterflow, path, "--agent-id", agent, "--system", recording)
    count = sum(published["records"].values())  # type: ignore[attr-defined]
    landed = wait_landed(reader, agent, count)
    assert (landed.lost, landed.deadletter) == (0, 0)
    assert wait_computed(reader, agent) == 0

    expected = plain_totals(path)
    where = f"WHERE system = '{recording}'"
    disks = reader.rows(
        f"SELECT sum(read_mb) AS r, sum(written_mb) AS w FROM counterflow.disk_load {where} AND disk = 'vda'"
    )
    assert disks[0]["r"] == pytest.approx(expected["read_mb"], rel=1e-6)
    assert disks[0]["w"] == pytest.approx(expected["written_mb"], rel=1e-6)
    everything = reader.rows(f"SELECT sum(read_mb) AS r FROM counterflow.disk_total {where}")
    assert everything[0]["r"] == pytest.approx(expected["read_mb"], rel=1e-6), "loops and groups are counted again"
    cpu = "sum((user_pct + sys_pct) * interval_s) / sum(interval_s)"
    mean = reader.rows(f"SELECT {cpu} AS pct FROM counterflow.system_cpu FINAL {where} AND engine = 'all'")
    assert mean[0]["pct"] == pytest.approx(expected["cpu_pct"], rel=1e-6)
    used = reader.rows(f"SELECT command, sum(cpu_ms) / 1000 AS s FROM counterflow.footprint {where} GROUP BY command")
    commands = {name.removeprefix("cpu_s:"): s for name, s in expected.items() if name.startswith("cpu_s:")}
    assert {row["command"]: row["s"] for row in used} == pytest.approx(commands, rel=1e-6)


def test_what_cannot_be_read_does_not_hold_up_the_rest(counterflow: Run, reader: ClickHouse, tmp_path: Path) -> None:
    (tmp_path / "empty.nmon").write_bytes(b"")
    (tmp_path / "binary.nmon").write_bytes(bytes(range(256)) * 500)
    good = tmp_path / 'it\'s "good"; DROP TABLE disk.nmon'
    shutil.copy(RECORDINGS / "linux_16n_plain.nmon", good)
    system = 'it\'s "quoted"; --'
    run = counterflow("publish", "--json", tmp_path, tmp_path / "missing.nmon", "--agent-id", "bad", "--system", system)
    assert run.returncode == 1
    for name in ("empty.nmon", "binary.nmon", "missing.nmon"):
        assert name in run.stderr + run.stdout
    published = json.loads(run.stdout.splitlines()[-1])
    landed = wait_landed(reader, "bad", sum(published["records"].values()))
    assert landed.lost == 0
    rows = reader.rows(
        "SELECT count() AS n FROM counterflow.system_cpu FINAL WHERE engine = 'all' AND system = {s:String}",
        {"param_s": system},
    )
    assert rows[0]["n"] == 30
    kept = reader.rows("SELECT reason FROM counterflow.deadletter FINAL WHERE agent_id = 'bad'")
    assert "not_this_format" in {row["reason"] for row in kept}
    query = counterflow("sql", "cpu", "--json", "--system", system)
    assert json.loads(query.stdout)["system"] == system


def test_the_account_sees_what_is_missing(reader: ClickHouse) -> None:
    missing = account(reader, "no-such-agent", 7)
    assert (missing.landed, missing.lost) == (0, 7)
