"""`counterflow study compare` over rows of a real ClickHouse: labelled and configured runs, names no markup."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from counterflow.base.errors import CounterflowError
from counterflow.cli import cli
from counterflow.stack.settings import StackSettings
from tests.support.tables import empty_tables, insert

BEGIN = datetime(2026, 4, 1, 10, tzinfo=UTC)
QUOTED = 'it\'s \\ "zHL"\t\x1b[31m[b]'
"""A run's name as bad as a name can be."""

Study = Callable[..., Result]


@pytest.fixture(scope="module")
def stored(clickhouse: StackSettings) -> Iterator[StackSettings]:
    with empty_tables(clickhouse) as admin:
        for table, rows in _rows().items():
            insert(admin, table, *rows)
        yield clickhouse


@pytest.fixture
def study(stored: StackSettings, in_environment: None) -> Study:
    return lambda *arguments: CliRunner().invoke(cli, ["study", "compare", *arguments])


def _rows() -> dict[str, list[dict[str, Any]]]:
    """Runs of 10 minutes, a day apart: two of z/OS by their label, two of AIX by configuration."""
    rows: dict[str, list[dict[str, Any]]] = {}
    seq = iter(range(10_000))

    def add(table: str, day: int, second: int, counter: bool = True, **columns: Any) -> None:
        at = {"ts": stamp(day, second), "interval_s": 60.0}
        envelope = {"source": "rmf_dds", "agent_id": "study", "seq": next(seq), "collected_at": stamp(9, 0)}
        rows.setdefault(table, []).append(at | (envelope if counter else {"n": 1}) | columns)

    zos = [(0, "z17-zhpf-ds8a50", 27.2, 23.3, 17.29e6, 214.0), (1, QUOTED, 69.4, 65.3, 47.75e6, 594.0)]
    for day, run, gcp, ziip, accounts_h, mb_s in zos:
        for minute in range(1, 11):
            second, labelled = 60 * minute, {"system": "SYS1", "run": run}
            for kind, pct, engines in (("gcp", gcp, 6.0), ("ziip", ziip, 10.0)):
                of = {"engine_type": kind, "engine": "all", "busy_pct": pct, "logical_engines": engines}
                add("system_cpu", day, second, **labelled, **of)
            before, after = (accounts_h / 60 * n for n in (minute - 1, minute))
            work = {"workload": "SETTLE", "run_id": run, "unit_of_work": "accounts", "operation": "", "users": 256.0}
            did = {"done": after, "prev_done": before, "prev_ts": stamp(day, second - 60)}
            add("workload", day, second, **labelled, **work, **did)
            log = {"system": "SYS1", "subsystem": "DBP1", "rate_mb_s": mb_s, "rate_basis": "written"}
            add("log_load", day, second, counter=False, **log, waiting_threads=100.0, waits_delta=6.0)
            of_batch = {"workload": "SETTLE", "basis": "lpar", "samples": 1, "batch_units": 100e6}
            add("account_cpu", day, second, counter=False, system="SYS1", **of_batch)
    aix = [(2, "without", "QREPA", 2.092, 630.0), (3, "with", "QREPA", 2.596, 599.0), (3, "with", "QREPB", 1.648, 0.0)]
    for day, run, system, consumed, tps in aix:
        begin, end = stamp(day, 0), stamp(day, 600)
        for name, value in {"begin": begin, "end": end, "warm_up_s": "60", "engines_core": "4"}.items():
            what = {"section": "run", "item": run, "name": name, "value": value}
            add("config", day, 0, system=system, **what)
        for minute in range(1, 11):
            second, of = 60 * minute, {"system": system}
            base = {"engine_type": "core", "engine": "all", "cpu_base": "floating", "user_pct": 90.0, "sys_pct": 5.0}
            busy = 9.0 if minute == 1 else consumed  # the first minute is warm-up
            add("system_cpu", day, second, **of, **base, physical_consumed_cores=busy, logical_engines=8.0)
            add("manifest", day, second, **of, counted="job", row_count=1)
            if tps:
                work = {"workload": "orders", "run_id": "", "unit_of_work": "transactions", "operation": ""}
                add("workload", day, second, **of, **work, done_delta=60 * tps)
            io = {"read_mb": 100.0, "written_mb": 200.0, "transfers_per_s": 50.0}
            add("disk_total", day, second, counter=False, **of, **io)
            used = {"cpu_ms": 15_120.0, "cpu_base": "physical", "memory_mb": 82.0}
            add("footprint", day, second, counter=False, **of, **used, command="asnqcap")
            if minute % 2:  # seen every other minute: half of the time it used nothing
                used = {"command": "=cmd|'/c'!A1", "cpu_ms": 24_000.0, "cpu_base": "physical", "memory_mb": 82.0}
                add("footprint", day, second, counter=False, **of, **used)
            if system == "QREPB":
                lag = {"component": "apply", "queue": "Q", "end_to_end_ms": 2700.0, "capture_ms": 2000.0}
                lag |= {"queue_ms": 500.0, "apply_ms": 200.0, "row_count": 22_175.0 * 60, "transactions": 1228.0 * 60}
                add("replication_lag", day, second, counter=False, **of, **lag)
    for name, second in (("begin", 0), ("end", 600)):
        what = {"section": "run", "item": "empty", "name": name, "value": stamp(8, second)}
        add("config", 8, 0, system="NOBODY", **what)
    for day in (4, 5):
        add("system_cpu", day, 60, system="SYS1", run="twice", engine_type="gcp", engine="all", busy_pct=1.0)
    return rows


def stamp(day: int, second: int) -> str:
    return f"{BEGIN + timedelta(days=day, seconds=second):%Y-%m-%d %H:%M:%S}"


def figures(answer: Result) -> dict[str, dict[str, Any]]:
    """Return value by run, and difference in percent, of each figure by its name."""
    assert answer.exit_code == 0, answer.output
    rows = orjson.loads(answer.stdout)["rows"]
    named = ((" ".join(filter(None, (r["table"], r["system"], r["of"], r["name"]))), r) for r in rows)
    return {
        name: {run["run"]: run["value"] for run in row["runs"]} | {"pct": row["differences"][0]["pct"]}
        for name, row in named
    }


def test_labelled_runs_give_the_published_table(study: Study) -> None:
    answer = study("--baseline", "z17-zhpf-ds8a50", "--scenario", QUOTED, "--format", "json")
    found = figures(answer)
    assert orjson.loads(answer.stdout)["warnings"] == []
    printed = {
        "throughput units_per_h": (17.29e6, 47.75e6, 0),
        "throughput batch_h": (5.78, 2.09, 2),
        "cpu gcp busy_pct": (27.2, 69.4, 1),
        "cpu ziip busy_pct": (23.3, 65.3, 1),
        "cpu gcp lpar_ms_per_unit": (0.34, 0.31, 2),
        "cpu ziip lpar_ms_per_unit": (0.49, 0.49, 2),
        "log DBP1 written_mb_s": (214, 594, 0),
        "log log_bytes_per_unit": (44_558, 44_783, 0),
    }
    for name, (before, after, digits) in printed.items():
        assert round(found[name]["z17-zhpf-ds8a50"], digits) == before, name
        assert round(found[name][QUOTED], digits) == after, name
    assert found["cpu gcp lpar_ms_per_unit"]["pct"] == pytest.approx(-7.61, abs=0.005)  # of unrounded values


def test_configured_runs_are_trimmed_and_matched_by_system(study: Study) -> None:
    answer = study("--baseline", "without", "--scenario", "with", "--format", "json")
    found = figures(answer)
    assert found["cpu QREPA core busy_pct"] == pytest.approx({"without": 52.3, "with": 64.9, "pct": 24.09}, abs=0.01)
    assert found["cpu QREPA core cores"]["with"] == pytest.approx(2.596)
    assert found["cpu QREPA core lpar_ms_per_unit"]["pct"] == pytest.approx(30.5, abs=0.05)
    assert found["cpu QREPB core busy_pct"]["without"] is None
    assert found["throughput units_per_s"] == pytest.approx({"without": 630, "with": 599, "pct": -4.92}, abs=0.01)
    assert found["io QREPA rw_ratio"]["with"] == 0.5
    # minutes 3, 5, 7 and 9 of the nine that are left have 24 s each: 96 s of 540
    assert found["components QREPA =cmd|'/c'!A1 cores"]["with"] == pytest.approx(96 / 540)
    assert found["components QREPA =cmd|'/c'!A1 memory_mb"]["with"] == pytest.approx(82)
    assert found["parts QREPA Q Capture busy_pct"]["with"] == pytest.approx(6.3)
    assert found["parts QREPA other cores"]["with"] == pytest.approx(96 / 540)
    assert found["replication QREPB capture_ms"]["with"] == 2000
    assert found["replication QREPB rows_per_s"]["with"] == 22_175


def test_names_are_shown_as_they_are(study: Study) -> None:
    answer = study("--baseline", QUOTED, "--scenario", "with")
    assert answer.exit_code == 0, answer.output
    assert not {"\t", "\x1b"} & set(answer.output)
    assert "units of work differ" in " ".join(answer.output.split())


@pytest.mark.parametrize(
    ("names", "mistake"),
    [
        (("with", "none'such"), "there is no run `none'such`"),
        (("with", "empty"), "nothing is recorded of run `empty`, 600 s on NOBODY"),
        (("twice", "with"), "run `twice` was recorded more than once on SYS1"),
    ],
)
def test_an_impossible_run_is_refused(study: Study, names: tuple[str, str], mistake: str) -> None:
    answer = study("--baseline", names[0], "--scenario", names[1])
    assert isinstance(answer.exception, CounterflowError)
    assert mistake in answer.exception.message
    assert answer.exception.exit_code == 2


@pytest.mark.usefixtures("study")
def test_runs_stand_side_by_side_in_the_report(tmp_path: Path) -> None:
    runs = ("--study", "z17-zhpf-ds8a50", "--study", QUOTED)
    answer = CliRunner().invoke(cli, ["report", *runs, "--out", str(tmp_path), "--no-pictures"])
    assert answer.exit_code == 0, answer.output
    made = (tmp_path / "report.html").read_text(encoding="utf-8")
    [compared] = re.findall(r'<section id="comparison">(.*?)</section>', made, re.DOTALL)
    for word in ("z17-zhpf-ds8a50", "SYS1", "27.2", "69.4", "Processors used", "Processor time"):
        assert word in compared, word
    assert compared.index('class="bar"') < compared.index('class="number"', compared.index("<h3>")), "pictures first"
    assert not re.search(r"[a-z]_(pct|ms|mb|per)\b", compared), "names are words"
    assert "\x1b" not in made
