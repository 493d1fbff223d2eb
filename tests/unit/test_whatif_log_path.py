"""`counterflow whatif log-path`: printed steps are predicted without their result, a window by hand, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from counterflow.analysis.whatif import log_path_backtest
from counterflow.analysis.whatif.log_path import CHANGES, PrintedRun, left, printed_runs
from counterflow.base.errors import CounterflowError
from counterflow.cli import cli

ROW = {
    "ts": "2026-03-02T01:00:00Z",
    "interval_s": 300,
    "system": "P1",
    "subsystem": "DB1",
    "path": "zhpf",
    "rate_mb_s": 100,
    "waiting_threads": 40,
    "active_threads": 50,
    "gcp_pct": 30,
    "ziip_pct": 20,
}


def log_path(tmp_path: Path, *rows: dict[str, Any], options: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"\n".join(orjson.dumps({**ROW, **row}) for row in rows))
    arguments = ["whatif", "log-path", "--input", str(file), "--json", *options]
    answer = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return [orjson.loads(line) for line in answer.stdout_bytes.splitlines()]


def figures_of(window: dict[str, Any], change: str) -> dict[str, dict[str, Any]]:
    return {figure["name"]: figure for figure in window["figures"] if figure["change"] == change}


def test_the_chain_of_the_report_by_hand() -> None:
    """5.85 h, then 44 % less with zHyperLink, 28 % with the box, 10 % with the processor: each from the other runs."""
    predicted = {(s.before, s.after, s.name): s for s in log_path_backtest.steps()}
    # with the z16 step left out, the z17 step of 5.1 remains: 5.78 to 2.09 h
    step = predicted["z16-zhpf-ds8950", "z16-zhl-ds8950", "elapsed_h"]
    assert step.likely == pytest.approx(5.85 * 2.09 / 5.78)
    assert step.error_pct == pytest.approx(100 * (5.85 * 2.09 / 5.78 / 3.26 - 1))
    # without its own run, the box brings between nothing and what box and processor brought: 3.26 to 2.09 h
    step = predicted["z16-zhl-ds8950", "z16-zhl-ds8a50", "elapsed_h"]
    assert (step.low, step.likely, step.high) == pytest.approx((2.09, (3.26 * 2.09) ** 0.5, 3.26))
    # without the only z17 with zHyperLink, the processor is known with zHPF and the box alone: 5.85 to 5.78 h
    step = predicted["z16-zhl-ds8a50", "z17-zhl-ds8a50", "elapsed_h"]
    assert (step.low, step.high) == pytest.approx((2.33 * 5.78 / 5.85, 2.33))


def test_no_step_uses_the_run_that_it_predicts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A prediction does not move when the figures of the run after the step do."""
    before = log_path_backtest.steps()
    for after in {step.after for step in before}:
        moved = tuple(
            run._replace(elapsed_h=9.0, gcp_ms=9.0, ziip_ms=9.0) if run.name == after else run for run in printed_runs()
        )
        monkeypatch.setattr(log_path_backtest, "printed_runs", lambda runs=moved: runs)
        now = log_path_backtest.steps.__wrapped__()
        expected = [(s.name, s.likely) for s in before if s.after == after]
        assert [(s.name, s.likely) for s in now if s.after == after] == expected


@pytest.mark.parametrize(("path", "change"), [(path, change) for path, of in CHANGES.items() for change in of])
def test_no_change_is_predicted_to_harm(path: str, change: str) -> None:
    for part in left(CHANGES[path][change].upgraded, path, printed_runs()):
        assert 0 < part.low <= part.value <= part.high <= 1


def test_all_runs_give_the_printed_reductions() -> None:
    """44 and 64 % with zHyperLink; 28.5 % with the box; 10 % with the processor; with zHPF these bring 1.2 %."""
    runs: tuple[PrintedRun, ...] = printed_runs()
    path, box, processor, box_with_zhpf = (
        left(CHANGES[before][change].upgraded, before, runs).elapsed
        for before, change in (
            ("zhpf", "zHyperLink"), ("zhl", "faster box"), ("zhl", "newer processor"), ("zhpf", "faster box"),
        )
    )  # fmt: skip
    assert (1 - path.high, 1 - path.low) == pytest.approx((0.44, 0.64), abs=0.005)
    assert (1 - box.value, 1 - box_with_zhpf.low) == pytest.approx((0.285, 0.012), abs=0.0005)
    assert 1 - processor.value == pytest.approx(0.10, abs=0.005)


def test_a_window_by_hand(tmp_path: Path) -> None:
    """In the first interval 40 of 50 threads wait; in the second none, so nothing is gained there."""
    cost = {"accounts": 10, "gcp_ms_per_account": 0.5}
    [window] = log_path(tmp_path, cost, {"ts": "2026-03-02T01:05:00Z", "waiting_threads": 0, "rate_mb_s": 150})
    found = figures_of(window, "zHyperLink")
    part = 2.09 / 5.78
    assert found["elapsed_h"]["measured"] == pytest.approx(600 / 3600)
    assert found["elapsed_h"]["low"] == pytest.approx((300 * (0.2 + 0.8 * part) + 300) / 3600)
    assert found["elapsed_h"]["high"] == pytest.approx((300 * (0.2 + 0.8 * 3.26 / 5.85) + 300) / 3600)
    assert found["ceiling_mb_s"]["measured"] == 100  # 150 MB/s were written while nothing waited
    assert found["ceiling_mb_s"]["high"] == pytest.approx(100 / part)
    assert found["gcp_ms"]["likely"] == pytest.approx(0.5 * (0.31 / 0.34 * 0.39 / 0.42) ** 0.5)
    assert found["ziip_ms"]["likely"] is None
    assert "account_cpu has no cost" in found["ziip_ms"]["reason"]
    assert [round(error) for error in found["elapsed_h"]["backtest_error_pct"]] == [-35, 54]


def test_busy_processors_bound_the_gain(tmp_path: Path) -> None:
    [window] = log_path(tmp_path, {"waiting_threads": 50, "gcp_pct": 90})
    found = figures_of(window, "zHyperLink")
    assert found["elapsed_h"]["low"] == pytest.approx(300 / 3600 * 0.9 * 0.31 / 0.34)
    assert found["gcp_pct"]["high"] == pytest.approx(100)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"interval_s": 1800}, "too coarse: an interval of 1800 s"),
        ({"waiting_threads": None, "ziip_pct": None}, "null: waiting_threads, ziip_pct"),
        ({"path": None}, "the path of the log writes is not known"),
    ],
)
def test_what_cannot_be_predicted_is_refused(tmp_path: Path, row: dict[str, Any], reason: str) -> None:
    [window] = log_path(tmp_path, row)
    assert window["figures"] == []
    assert reason in window["refused"]


def test_what_comes_after_the_newest_printed_machines_is_not_guessed(tmp_path: Path) -> None:
    [window] = log_path(tmp_path, {"storage": "DS8A50", "cec": "z16"})
    assert {figure["change"] for figure in window["figures"]} == {"zHyperLink", "newer processor"}
    already = "the log is on DS8A50 already: of what comes after, nothing is printed"
    assert window["beyond"] == {"faster box": already, "all three": already}


def test_a_period_has_the_intervals_that_end_after_its_begin_and_by_its_end(tmp_path: Path) -> None:
    """As of what is stored: a period from 00:55 to 01:05 has the intervals of 300 and 600 s, and not that of 60 s."""
    lengths = {"00:55": 60, "01:00": 300, "01:05": 600}
    rows = ({"ts": f"2026-03-02T{at}:00Z", "interval_s": length} for at, length in lengths.items())
    [window] = log_path(tmp_path, *rows, options=("--from", "2026-03-02 00:55", "--to", "2026-03-02 01:05"))
    assert window["figures"][0]["measured"] == pytest.approx(900 / 3600)


def test_a_bad_line_and_an_empty_window_end_the_command(tmp_path: Path) -> None:
    with pytest.raises(CounterflowError, match=r"log.jsonl:1: gcp_pct: Input should be less than or equal to 100"):
        log_path(tmp_path, {"gcp_pct": 101})
    file = tmp_path / "none.jsonl"
    file.write_text("")
    with pytest.raises(CounterflowError, match="no interval of Db2's log"):
        CliRunner().invoke(cli, ["whatif", "log-path", "--input", str(file)], catch_exceptions=False)


def test_tables_have_figures_sources_and_refusals(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"\n".join(orjson.dumps(row) for row in (ROW, {**ROW, "subsystem": "DB2", "path": None})))
    printed = CliRunner().invoke(cli, ["whatif", "log-path", "--input", str(file)], catch_exceptions=False).output
    assert "zHyperLink [zHyperLink for Db2 Active Logging 5.1 and 6.0]" in printed
    assert "-35 %, +54 %" in printed
    assert "unknown, because the path of the log writes is not known" in printed
