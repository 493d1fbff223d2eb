"""Simulated files of the z/OS, AIX and Linux studies: what is in them beside the published figures.

The figures: tests/e2e/test_studies.py, through the whole line.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from counterflow.simulate import cases, simulate
from tests.support.simulated import during, read, total

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
