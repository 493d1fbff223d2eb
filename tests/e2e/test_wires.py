"""A link finds its port from documented columns alone; without the HMC it is UNKNOWN, and the doctor names the hop."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from counterflow.base.clickhouse import ClickHouse
from tests.support.waiting import until

Run = Callable[..., "subprocess.CompletedProcess[str]"]
LONE = "LONE'A\""
DURING = "2026-03-02T08:15:00"


def states(reader: ClickHouse, system: str) -> dict[str, int]:
    rows = reader.rows(
        "SELECT toString(state) AS state, count() AS n FROM counterflow.verdict FINAL "
        "WHERE rule = 'roce_cap' AND entity = 'MIRROR_DATABASE' AND system = {system:String} GROUP BY state",
        {"param_system": system},
    )
    return {row["state"]: row["n"] for row in rows}


def findings(run: subprocess.CompletedProcess[str], subject: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    return [line for line in lines if line.get("subject") == subject]


def test_with_the_hmc_the_cap_is_raised_cleared_and_judgeable(
    counterflow: Run, reader: ClickHouse, published: Callable[[str], Any]
) -> None:
    published("sriov-story")
    found = states(reader, "SRIOVA")
    assert found["CAPPED"] > 0
    assert found["DEMAND_LIMITED"] > 0
    [wire] = reader.rows(
        "SELECT DISTINCT hops, missing, contradiction FROM counterflow.link_wire FINAL "
        "WHERE system = 'SRIOVA' AND link = 'MIRROR_DATABASE'"
    )
    assert (wire["missing"], wire["contradiction"]) == (None, None)
    assert wire["hops"].count("(") == 4
    run = counterflow("doctor", "SRIOVA", "--to", DURING, "--json")
    assert {one["status"] for one in findings(run, "roce_cap")} == {"pass"}


def test_without_the_hmc_the_link_is_unknown_and_the_doctor_names_the_hop(
    counterflow: Run, reader: ClickHouse, tmp_path: Path
) -> None:
    assert counterflow("study", "simulate", "sriov-story", "--out", tmp_path).returncode == 0
    (tmp_path / "SRIOVA" / "MIRROR_INFO.csv").unlink()  # it names the pair of the other story
    run = counterflow("publish", tmp_path / "SRIOVA", "--system", LONE)
    assert run.returncode == 0, run.stderr
    until(lambda: sum(states(reader, LONE).values()) >= 26, "every interval is judged", every_s=1)
    found = states(reader, LONE)
    assert sum(found.values()) == 26
    assert set(found) <= {"UNKNOWN", "SUSPECTED"}
    assert found["UNKNOWN"] > 0
    run = counterflow("doctor", LONE, "--to", DURING, "--json")
    assert run.returncode == 1, run.stderr
    [group] = [one for one in findings(run, "roce_cap") if one["entity"] == "MIRROR_DATABASE"]
    assert group["status"] == "unknown"
    assert "the HMC lists no logical port of the system" in group["why"]
    assert "hmc_lshwres" in group["remedy"]
    [alert] = [one for one in findings(run, "CounterflowLinkCapped") if one["kind"] == "alert"]
    assert alert["status"] == "unknown"
