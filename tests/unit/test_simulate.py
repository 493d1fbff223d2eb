"""Simulated counters by plain arithmetic over what the formats read.

The published figures: tests/e2e/test_case_studies.py and test_studies.py, through the whole line.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
import yaml
from click.testing import CliRunner

from counterflow.base.errors import CounterflowError
from counterflow.cli import cli
from counterflow.collectors.formats.ibmi_tables.description import tables
from counterflow.collectors.records import Reason, Record, Reject
from counterflow.simulate import Simulation, begin_of, cases, simulate
from counterflow.simulate.case import Placed
from counterflow.stack.settings import StackSettings
from tests.support.reading import read_file

Rows = list[dict[str, Any]]

NOTED = (Reason.READ_WITH_ANOTHER, Reason.COLUMN_MISSING, Reason.SAMPLE_MISSING)
"""A column without a figure is left out; between the runs of a study nothing is recorded."""
_folder = TemporaryDirectory(prefix="counterflow-simulated-")


@cache
def read(case: str) -> tuple[Simulation, dict[str, Rows]]:
    """Simulate a case; return it and the rows of each dataset, of the two files of IBM i about jobs as one."""
    rows: dict[str, Rows] = defaultdict(list)
    jobs: dict[object, dict[str, Any]] = {}
    simulation = simulate(case, Path(_folder.name) / case)
    for system, path in simulation.files:
        for item in read_file(path, ZoneInfo("UTC"), system):
            assert not isinstance(item, Reject) or item.reason in NOTED, f"{path}: {item}"
            if not isinstance(item, Record):
                continue
            if item.dataset == "job" and item.fields["source"] == "ibmi_tables":
                fields = item.fields
                jobs.setdefault((fields["system"], fields["ts"], fields["job"], fields["task"]), {}).update(fields)
            else:
                rows[item.dataset].append(item.fields)
    rows["job"] += jobs.values()
    return simulation, rows


def during(placed: Placed[Any], rows: Iterable[dict[str, Any]], system: str) -> Rows:
    """Return the rows of a system whose interval lies in a run."""
    return [r for r in rows if r["system"] == system and placed.begin < datetime.fromisoformat(r["ts"]) <= placed.end]


def total(rows: Rows, column: str) -> float:
    return float(sum(row.get(column, 0) for row in rows))


def in_pool(rows: Rows, pool: str) -> Rows:
    return [row for row in rows if row["job_pool"] == pool]


def test_memory_would_help_an_end_of_day_until_it_has_it() -> None:
    """By the guideline of the Capabilities Reference, 19.6: below 10 % of the time it would not, above 25 % it may."""
    simulation, rows = read("end-of-day-story")
    batch, interactive = [], []
    for placed in simulation.runs:
        disks, jobs, pools = (during(placed, rows[name], "BANKA") for name in ("disk", "job", "pool"))
        transfers = total(disks, "transfers")
        response_s = sum((row["service_ms"] + row["wait_ms"]) * row["transfers"] for row in disks) / transfers / 1000
        faults = {pool: total([row for row in pools if row["pool"] == pool], "faults") for pool in ("02", "03")}
        assert faults == {pool: total(in_pool(jobs, pool), "page_faults") for pool in faults}
        cpu_s = total(in_pool(jobs, "02"), "cpu_ms") / 1000
        batch.append(faults["02"] * response_s / (faults["02"] * response_s + cpu_s))
        interactive.append(faults["03"] * response_s / total(in_pool(jobs, "03"), "response_s"))
    assert batch[1] > 0.25
    assert max(batch[0], batch[2], *interactive) < 0.10


def test_what_jobs_wait_for_and_do_on_disk_adds_up() -> None:
    _, rows = read("end-of-day-story")
    waits = {alone: [row for row in rows["wait"] if (row["task"] != "*") is alone] for alone in (True, False)}
    for bucket in ("Dispatched CPU", "Disk page faults", "Journaling", "Database record lock contention"):
        of_jobs, of_system = (
            total([row for row in waits[alone] if row["bucket_name"] == bucket], "wait_ms") for alone in (True, False)
        )
        assert of_jobs == pytest.approx(of_system) != 0, bucket
    elapsed_ms = 900_000
    for job in {(row["task"], row["ts"]) for row in waits[True]}:
        spent = sum(row["wait_ms"] for row in waits[True] if (row["task"], row["ts"]) == job)
        assert spent == pytest.approx(elapsed_ms), job
    operations = total(rows["job"], "sync_db_reads") + total(rows["job"], "sync_db_writes")
    assert total(rows["disk"], "transfers") == total(rows["disk_bucket"], "operations") == operations
    assert total(rows["disk_bucket"], "response_ms") == pytest.approx(
        sum((row["service_ms"] + row["wait_ms"]) * row["transfers"] for row in rows["disk"]), rel=1e-3
    )


@pytest.mark.parametrize("name", cases())
def test_the_same_seed_and_time_write_the_same_files(tmp_path: Path, name: str) -> None:
    """A case that must end by a time ends in the interval before."""
    end = datetime(2026, 7, 14, 10, 7, 31, tzinfo=UTC)
    begin = begin_of(name, end)
    every = [simulate(name, tmp_path / of, seed, start=begin) for of, seed in (("a", 1), ("b", 1), ("c", 2))]
    first, again, other = ([written.path.read_bytes() for written in simulation.files] for simulation in every)
    assert first == again != other
    ended = max(placed.end for placed in every[0].runs)
    assert timedelta(0) <= end - ended < timedelta(seconds=cases()[name].interval_s)
    assert begin.timestamp() % cases()[name].interval_s == 0


def test_the_command_reports_what_it_wrote_and_how_to_publish_it(tmp_path: Path) -> None:
    run = CliRunner().invoke(
        cli, ["study", "simulate", "sriov-story", "--out", str(tmp_path), "--start", "2026-05-01T00:00:00"]
    )
    assert run.exit_code == 0
    assert "no real system was recorded" in run.output
    assert f"counterflow publish {tmp_path}/SRIOVA --system SRIOVA" in run.output
    assert f"counterflow publish {tmp_path}/HMC\n" in run.output

    run = CliRunner().invoke(cli, ["study", "simulate", "sriov-story", "--out", str(tmp_path), "--json"])
    reported = json.loads(run.output)
    assert reported["generated"] is True
    assert {Path(file["path"]).exists() for file in reported["files"]} == {True}
    assert [run["until"] for run in reported["runs"]][:-1] == [run["after"] for run in reported["runs"]][1:]


def test_the_command_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    with pytest.raises(CounterflowError, match="no case `case9`") as refused:
        CliRunner().invoke(cli, ["study", "simulate", "case9", "--out", str(tmp_path)], catch_exceptions=False)
    assert "sriov-story" in str(refused.value.hint)
    assert CliRunner().invoke(cli, ["study", "simulate", "sriov-story"]).exit_code == 2
    (tmp_path / "SRIOVA").write_bytes(b"")
    with pytest.raises(CounterflowError, match="SRIOVA"):
        CliRunner().invoke(cli, ["study", "simulate", "sriov-story", "--out", str(tmp_path)], catch_exceptions=False)


def test_the_tables_have_documented_columns_only() -> None:
    """Those of the descriptions, which state their documents; the query of a view adds the time."""
    simulation, _ = read("sriov-story")
    added = {"SAMPLE_TIME", "SIMULATED_READS_FOR_UPDATE"}
    for _, path in simulation.files:
        if described := tables().get(path.stem):
            columns = set(path.read_text(encoding="ascii").split("\n", 1)[0].strip().split(","))
            assert columns - added <= {*described.time, *described.fields}, path


def test_a_link_to_a_board_has_its_range_and_its_systems() -> None:
    settings = StackSettings.from_environment({"COUNTERFLOW_GRAFANA_PORT": "13999"})
    begin, end = datetime(2026, 7, 14, 10, 0, 30, tzinfo=UTC), datetime(2026, 7, 14, 10, 13, 1, tzinfo=UTC)
    url = urlsplit(settings.board_url("cf-mirror", begin, end, {"system": ["A/B", "C"]}))
    assert (url.netloc, url.path) == ("127.0.0.1:13999", "/d/cf-mirror")
    shown = {"from": ["1784023200000"], "to": ["1784024040000"], "var-system": ["A/B", "C"]}
    assert parse_qs(url.query) == shown
    assert parse_qs(urlsplit(settings.board_url("cf-mirror", begin, None)).query)["to"] == ["now"]


STUDIES = ("zhyperlink", "log-ceiling-story", "q-replication", "nvme-story")


def test_the_site_file_knows_every_run_and_ceiling() -> None:
    simulation, rows = read("zhyperlink")
    config = {(r["system"], r["section"], r["item"], r["name"], r["ts"]): r["value"] for r in rows["config"]}
    for placed in simulation.runs:
        run, begin = placed.run, f"{placed.begin:%Y-%m-%dT%H:%M:%SZ}"
        assert config[run.system, "run", run.name, "end", begin] == f"{placed.end:%Y-%m-%dT%H:%M:%SZ}"
        assert config[run.system, "run", run.name, "engines_gcp", begin] == "6"
        ceilings = {ts: v for (system, section, item, name, ts), v in config.items() if (system, section, item, name)
                == (run.system, "log_ceiling", f"DBP1/{run.path}", "ceiling_mb_s")}  # fmt: skip
        newest = max(ts for ts in ceilings if ts <= begin)
        assert float(ceilings[newest]) == run.ceiling_mb_s, run.name


def test_what_is_published_is_applied() -> None:
    simulation, rows = read("q-replication")
    placed = simulation.runs[1]
    sent = [r for r in during(placed, rows["replication"], "QSRC") if r["component"] == "capture_queue"]
    captured = [r for r in during(placed, rows["replication"], "QSRC") if r["component"] == "capture"]
    assert total(sent, "rows_published") == 81_161_620
    assert total(sent, "mq_messages") == 4_494_798
    assert len(sent) == len(captured) == 122
    assert all(row["interval_s"] == 30 for row in (*sent, *captured))


# the files


@pytest.mark.parametrize("name", STUDIES)
def test_a_case_has_its_document_and_the_site_file_states_that_it_is_generated(tmp_path: Path, name: str) -> None:
    repository = Path(__file__).resolve().parents[2]
    assert (repository / cases()[name].document).is_file()
    simulation = simulate(name, tmp_path)
    (path,) = [written.path for written in simulation.files if written.system is None]
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Generated")
    assert [run["name"] for run in yaml.safe_load(text)["runs"]] == [placed.run.name for placed in simulation.runs]
