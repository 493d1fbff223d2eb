"""The z/OS, AIX and Linux studies as files through the whole line: `study compare` returns what they print."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest

from counterflow.base.clickhouse import ClickHouse
from tests.e2e.conftest import Case, Run, states

Publish = Callable[[str], Case]
Figures = dict[tuple[str, str, str, str], dict[str, Any]]
MEASURED = ("z16-zhl-ds8950", "z16-zhl-ds8a50", "z17-zhpf-ds8a50", "z17-zhl-ds8a50")


def compared(counterflow: Run, baseline: str, *scenarios: str) -> tuple[dict[str, Any], dict[str, Figures]]:
    """Return the report of `study compare`, and its figures by run, then by table, system, subject and name."""
    named = [argument for scenario in scenarios for argument in ("--scenario", scenario)]
    run = counterflow("study", "compare", "--baseline", baseline, *named, "--format", "json")
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    figures: dict[str, Figures] = {name: {} for name in (baseline, *scenarios)}
    for row in report["rows"]:
        for of_run in row["runs"]:
            figures[of_run["run"]][row["table"], row["system"], row["of"], row["name"]] = of_run
    return report, figures


def same(value: float, printed: str) -> bool:
    """Return whether a figure rounds to the printed one."""
    wanted = Decimal(printed)
    return Decimal(repr(round(value, 9))).quantize(wanted, ROUND_HALF_UP) == wanted


LOG_FIGURES: dict[str, tuple[tuple[str, str, str, str], float]] = {
    "log_mb_s": (("log", "", "DBP1", "written_mb_s"), 1),
    "accounts_m_h": (("throughput", "", "", "units_per_h"), 1e-6),
    "gcp_pct": (("cpu", "", "gcp", "busy_pct"), 1),
    "ziip_pct": (("cpu", "", "ziip", "busy_pct"), 1),
    "gcp_ms": (("cpu", "", "gcp", "lpar_ms_per_unit"), 1),
    "ziip_ms": (("cpu", "", "ziip", "lpar_ms_per_unit"), 1),
    "elapsed_h": (("throughput", "", "", "batch_h"), 1),
}


def test_the_log_study_gives_its_published_table(published: Publish, counterflow: Run) -> None:
    runs = {run["run"]: run for run in published("zhyperlink")["runs"]}
    _, figures = compared(counterflow, *runs)
    checked = 0
    for name, run in runs.items():
        for figure, printed in run["published"].items():
            key, factor = LOG_FIGURES[figure]
            assert same(figures[name][key]["value"] * factor, printed), (name, figure, figures[name][key])
            checked += 1
        for figure, implied in run["implied"].items():
            assert figure not in run["published"]
            key, factor = LOG_FIGURES[figure]
            assert figures[name][key]["value"] * factor == pytest.approx(float(implied), rel=5e-4), (name, figure)
        assert 44_000 < figures[name]["log", "", "", "log_bytes_per_unit"]["value"] < 45_500
        for kind in ("gcp", "ziip"):
            lpar, captured = (
                figures[name]["cpu", "", kind, f"{of}_ms_per_unit"]["value"] for of in ("lpar", "captured")
            )
            assert captured == pytest.approx(0.92 * lpar, rel=5e-3)
    assert checked == 30


def test_what_zhyperlink_changes_is_computed_from_unrounded_values(published: Publish, counterflow: Run) -> None:
    published("zhyperlink")
    report, _ = compared(counterflow, "z17-zhpf-ds8a50", "z17-zhl-ds8a50")
    changes = {(row["table"], row["of"], row["name"]): row["differences"][0]["pct"] for row in report["rows"]}
    assert changes["log", "DBP1", "written_mb_s"] == pytest.approx(100 * (594 / 214 - 1), abs=0.01)
    assert changes["throughput", "", "units_per_h"] == pytest.approx(100 * (47.75 / 17.29 - 1), abs=0.01)
    assert changes["cpu", "gcp", "busy_pct"] == pytest.approx(100 * (69.4 / 27.2 - 1), abs=0.01)
    assert changes["cpu", "ziip", "busy_pct"] == pytest.approx(100 * (65.3 / 23.3 - 1), abs=0.01)
    assert changes["cpu", "gcp", "lpar_ms_per_unit"] == pytest.approx(-7.6, abs=0.05), "8.8 in print, of rounded ms"
    assert report["warnings"] == []


def test_the_measured_runs_are_critical_at_their_ceiling(published: Publish, reader: ClickHouse) -> None:
    runs = {run["run"]: run for run in published("zhyperlink")["runs"]}
    for name in MEASURED:
        (system,) = runs[name]["systems"]
        shown = states(reader, runs[name], "log_ceiling", system, "DBP1")
        assert len(shown) == 60
        assert set(shown[2:]) == {"CRITICAL"}, (name, shown)


def page_figures(figures: Figures, system: str) -> dict[str, float]:
    """Return the figures that the page on Q Replication prints for a node, under the names they have there."""
    found: dict[str, float] = {}
    for (table, of_system, of, name), figure in figures.items():
        if of_system not in ("", system) or figure["value"] is None:
            continue
        match table, name:
            case "throughput", "units_per_s":
                found |= {"tps_avg": figure["value"], "tps_min": figure["low"], "tps_max": figure["high"]}
            case "cpu", "busy_pct":
                found |= {"cpu_avg_pct": figure["value"], "cpu_max_pct": figure["high"]}
            case "cpu", "cores":
                found["cpu_physical"] = figure["value"]
            case "components", "busy_pct":
                found[f"{of}_pct"] = figure["value"]
            case "components", "memory_mb":
                found[f"{of}_mb"] = figure["value"]
            case "io", "read_mb" | "written_mb" | "rw_ratio":
                found[name] = figure["value"]
            case "replication", "rows" | "transactions" | "rows_per_s" | "transactions_per_s":
                found[name.replace("transactions", "trans").replace("_per", "")] = figure["value"]
            case "replication", "end_to_end_ms" | "capture_ms" | "queue_ms" | "apply_ms":
                found[name.replace("_ms", "_s")] = figure["value"] / 1000
    return found


def test_every_row_of_the_replication_page_comes_out_of_the_raw_files(published: Publish, counterflow: Run) -> None:
    runs = published("q-replication")["runs"]
    report, figures = compared(counterflow, "without", "with")
    checked = 0
    for run in runs:
        nodes = dict(zip(("source", "target"), run["systems"], strict=False))
        found = {node: page_figures(figures[run["run"]], system) for node, system in nodes.items()}
        for name, printed in run["published"].items():
            node, figure = name.split()
            assert same(found[node][figure], printed), (run["run"], name, found[node])
            checked += 1
    assert checked == 13 + 16 + 19
    cost = next(
        row
        for row in report["rows"]
        if (row["table"], row["system"], row["name"]) == ("cpu", "QSRC", "lpar_ms_per_unit")
    )
    assert cost["differences"][0]["pct"] == pytest.approx(30.5, abs=0.05), "core time of a transaction of the workload"


def test_the_linuxone_paper_gives_its_ratios(published: Publish, counterflow: Run) -> None:
    run = published("nvme-story")["runs"][1]
    report, figures = compared(counterflow, "flash", "nvme")
    rates = [figures[name]["throughput", "", "", "units_per_s"]["value"] for name in ("flash", "nvme")]
    assert same(rates[1] / rates[0], run["published"]["throughput_ratio"])
    advantage = figures["nvme"]["price", "", "", "price_performance_pct"]["value"]
    assert same(advantage, run["published"]["price_performance_pct"])
    assert "1 -" in report["formulas"][0]
    written = [figures[name]["io", "", "", "written_mb"]["value"] for name in ("flash", "nvme")]
    assert written[1] == pytest.approx(2 * written[0], rel=0.02), "RAID-10 writes twice"
