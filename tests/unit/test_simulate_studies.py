"""Published figures of the z/OS, AIX and Linux studies from simulated files, by plain arithmetic over what is read."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from counterflow.cli import cli
from counterflow.pipelines.rules import rules
from counterflow.simulate import cases, simulate
from counterflow.simulate.timeline import Placed
from tests.support.simulated import Rows, during, grown, mean, read, same, total

STUDIES = ("zhyperlink", "log-ceiling-story", "q-replication", "nvme-story")


# zHyperLink


def log_figures(placed: Placed[Any], rows: dict[str, Rows]) -> dict[str, float]:
    """Return every figure that the document prints of a run, under the names they have there."""
    run = placed.run
    log = during(placed, rows["db_log"], run.system)
    work = during(placed, rows["workload"], run.system)
    engines = [r for r in during(placed, rows["system_cpu"], run.system) if r["engine"] == "all"]
    gcp, ziip = ([r for r in engines if r["engine_type"] == kind] for kind in ("gcp", "ziip"))
    assert len(log) == len(gcp) == len(ziip) == run.intervals
    accounts = grown([row for row in work if "prev_done" in row], "done")
    accounts_h = accounts / placed.seconds * 3600
    return {
        "log_mb_s": grown(log, "ci_written") * 4096 / 2 / placed.seconds / 1e6,
        "accounts_m_h": accounts_h / 1e6,
        "gcp_pct": mean(gcp, "busy_pct"),
        "ziip_pct": mean(ziip, "busy_pct"),
        "gcp_ms": mean(gcp, "busy_pct") / 100 * mean(gcp, "logical_engines") * 3_600_000 / accounts_h,
        "ziip_ms": mean(ziip, "busy_pct") / 100 * mean(ziip, "logical_engines") * 3_600_000 / accounts_h,
        "elapsed_h": 100e6 / accounts_h,
    }


def test_every_printed_figure_of_the_log_study_comes_back() -> None:
    simulation, rows = read("zhyperlink")
    assert [placed.run.name for placed in simulation.runs] == [
        "z16-zhpf-ds8950",
        "z16-zhl-ds8950",
        "z16-zhl-ds8a50",
        "z17-zhpf-ds8a50",
        "z17-zhl-ds8a50",
    ]
    checked = 0
    for placed in simulation.runs:
        found = log_figures(placed, rows)
        for figure, printed in placed.run.published.items():
            assert same(found[figure], printed), (placed.run.name, figure, found[figure])
            checked += 1
        for figure, implied in placed.run.implied.items():
            assert figure not in placed.run.published
            assert found[figure] == pytest.approx(float(implied), rel=5e-4), (placed.run.name, figure)
        assert 44_000 < found["log_mb_s"] * 1e6 / (found["accounts_m_h"] * 1e6 / 3600) < 45_500, placed.run.name
    assert checked == 30
    assert simulation.runs[0].run.implied == {
        "log_mb_s": "213",
        "accounts_m_h": "17.09",
        "gcp_pct": "33.24",
        "ziip_pct": "29.91",
    }


def test_captured_time_is_less_than_that_of_the_lpar() -> None:
    simulation, rows = read("zhyperlink")
    for placed in simulation.runs:
        jobs = during(placed, rows["job"], placed.run.system)
        assert {row["job_name"] for row in jobs} == {"DBP1DIST", "DBP1DBM1", "DBP1MSTR"}
        for column, pct, engines in (("gcp_ms", "gcp_pct", 6), ("ziip_ms", "ziip_pct", 10)):
            lpar_ms = log_figures(placed, rows)[pct] / 100 * engines * 1000 * placed.seconds
            assert total(jobs, column) == pytest.approx(0.92 * lpar_ms, rel=1e-3)


def judged(placed: Sequence[Placed[Any]], rows: dict[str, Rows], system: str) -> list[str]:
    """Return the state of the rule after each interval of the log, from a plain reading of the counters."""
    rule = rules()["log_ceiling"]
    state, shown = rule.start, []
    for one in placed:
        cpu = {(r["ts"], r["engine_type"]): r["busy_pct"] for r in rows["system_cpu"] if r["system"] == system}
        for row in during(one, rows["db_log"], system):
            seconds = row["interval_s"]
            writes = grown([row], "zhl_log_writes")
            interval = {
                "ts": row["ts"],
                "interval_s": seconds,
                "system": system,
                "subsystem": row["subsystem"],
                "path": row["log_path"],
                "rate_mb_s": grown([row], "ci_written") * 4096 / row["copies"] / seconds / 1e6,
                "ceiling_mb_s": one.run.ceiling_mb_s,
                "waits_delta": grown([row], "buffer_waits"),
                "waiting_threads": grown([row], "log_write_wait_us") / seconds / 1e6,
                "active_threads": row["active_threads"],
                "gcp_pct": cpu[row["ts"], "gcp"],
                "ziip_pct": cpu[row["ts"], "ziip"],
                "zhl_sync_pct": 100 - 100 * grown([row], "zhl_log_write_fail_sync") / writes if writes else None,
            }
            state, verdict = rule.judge(rule.parameters(), state, rule.interval(interval))
            assert not verdict.stale
            shown.append(verdict.state)
    return shown


def test_the_story_is_raised_cleared_and_degraded() -> None:
    simulation, rows = read("log-ceiling-story")
    shown = judged(simulation.runs, rows, "ZSTORY")
    slowed, ceiling, on = (placed.run.intervals for placed in simulation.runs[:3])
    assert set(shown[:slowed]) == {"OK"}
    assert set(shown[slowed + 2 : slowed + ceiling]) == {"CRITICAL"}
    assert set(shown[slowed + ceiling : slowed + ceiling + on + 2]) == {"OK"}, "zHyperLink has a ceiling of its own"
    assert set(shown[slowed + ceiling + on + 2 :]) == {"PATH_DEGRADED"}
    before, after = (log_figures(simulation.runs[at], rows)["gcp_ms"] for at in (1, 2))
    assert after < before


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


def test_the_command_separates_printed_figures_from_implied_ones(tmp_path: Path) -> None:
    run = CliRunner().invoke(cli, ["study", "simulate", "zhyperlink", "--out", str(tmp_path), "--json"])
    first = json.loads(run.output)["runs"][0]
    assert first["published"] == {"gcp_ms": "0.42", "ziip_ms": "0.63", "elapsed_h": "5.85"}
    assert set(first["implied"]) == {"log_mb_s", "accounts_m_h", "gcp_pct", "ziip_pct"}


# Q Replication


def node_figures(placed: Placed[Any], rows: dict[str, Rows], system: str) -> dict[str, float]:
    """Return the figures that the page prints for a node, under the names they have there."""
    cpu = during(placed, rows["system_cpu"], system)
    busy = [row["user_pct"] + row["sys_pct"] for row in cpu]
    disks = [row for row in during(placed, rows["disk"], system) if row["leaf"]]
    found = {
        "cpu_avg_pct": sum(busy) / len(busy),
        "cpu_max_pct": max(busy),
        "cpu_physical": mean(cpu, "physical_consumed_cores"),
        "read_mb": total(disks, "read_kb") / 1024,
        "written_mb": total(disks, "written_kb") / 1024,
    }
    found["rw_ratio"] = found["read_mb"] / found["written_mb"]
    by_command: dict[str, dict[str, Rows]] = defaultdict(lambda: defaultdict(list))
    for row in during(placed, rows["job"], system):
        by_command[row["command"]][row["ts"]].append(row)
    for command, intervals in by_command.items():
        used_ms = sum(total(jobs, "cpu_ms") for jobs in intervals.values())
        found[f"{command}_pct"] = used_ms / 1000 / placed.seconds / 4 * 100
        memory = [total(jobs, "resident_data_kb") + jobs[0]["resident_text_kb"] for jobs in intervals.values()]
        found[f"{command}_mb"] = sum(memory) / len(memory) / 1024
    work = [row for row in during(placed, rows["workload"], system) if "prev_done" in row]
    if work:
        rates = [grown([row], "done") / row["interval_s"] for row in work]
        found |= {"tps_max": max(rates), "tps_min": min(rates), "tps_avg": grown(work, "done") / placed.seconds}
    applied = [row for row in during(placed, rows["replication"], system) if row["component"] == "apply"]
    if applied:
        done = total(applied, "transactions_applied")
        found |= {"rows": total(applied, "rows_applied"), "trans": done}
        found |= {"rows_s": found["rows"] / placed.seconds, "trans_s": done / placed.seconds}
        for name in ("end_to_end", "queue", "apply"):
            found[f"{name}_s"] = sum(r[f"{name}_ms"] * r["transactions_applied"] for r in applied) / done / 1000
        found["capture_s"] = found["end_to_end_s"] - found["queue_s"] - found["apply_s"]
    return found


def test_every_row_of_the_replication_page_comes_back() -> None:
    simulation, rows = read("q-replication")
    checked = 0
    for placed in simulation.runs:
        nodes = dict(zip(("source", "target"), placed.run.systems, strict=False))
        found = {node: node_figures(placed, rows, system) for node, system in nodes.items()}
        for name, printed in placed.run.published.items():
            node, figure = name.split(" ")
            assert same(found[node][figure], printed), (placed.run.name, name, found[node][figure])
            checked += 1
    assert checked == 13 + 16 + 19


def test_what_is_published_is_applied() -> None:
    simulation, rows = read("q-replication")
    placed = simulation.runs[1]
    sent = [r for r in during(placed, rows["replication"], "QSRC") if r["component"] == "capture_queue"]
    captured = [r for r in during(placed, rows["replication"], "QSRC") if r["component"] == "capture"]
    assert total(sent, "rows_published") == 81_161_620
    assert total(sent, "mq_messages") == 4_494_798
    assert len(sent) == len(captured) == 122
    assert all(row["interval_s"] == 30 for row in (*sent, *captured))


# LinuxONE


def throughput(placed: Placed[Any], rows: dict[str, Rows]) -> float:
    work = [
        r
        for r in during(placed, rows["workload"], placed.run.system)
        if not r["operation"] and not r.get("final") and "prev_done" in r
    ]
    return grown(work, "done") / placed.seconds


def test_the_ratios_of_the_linuxone_paper_come_back() -> None:
    simulation, rows = read("nvme-story")
    flash, nvme = simulation.runs
    prices = {r["item"]: float(r["value"]) for r in rows["config"] if (r["section"], r["name"]) == ("price", "amount")}
    ratio = throughput(nvme, rows) / throughput(flash, rows)
    assert same(ratio, nvme.run.published["throughput_ratio"])
    advantage = 100 * (1 - prices["nvme"] / prices["flash"] / ratio)
    assert same(round(advantage, 9), nvme.run.published["price_performance_pct"])


def test_one_write_is_two_on_raid_10_and_one_over_paths() -> None:
    simulation, rows = read("nvme-story")
    for placed in simulation.runs:
        disks = during(placed, rows["disk"], placed.run.system)
        logical = "md0" if placed.run.storage == "nvme" else "dm-0"
        above = [row for row in disks if row["disk"] == logical]
        leaves = [row for row in disks if row["leaf"]]
        assert not any(row["leaf"] for row in above)
        assert total(leaves, "read_kb") == pytest.approx(total(above, "read_kb"), rel=1e-4)
        copies = 2 if placed.run.storage == "nvme" else 1
        assert total(leaves, "written_kb") == pytest.approx(copies * total(above, "written_kb"), rel=1e-3, abs=100)


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
