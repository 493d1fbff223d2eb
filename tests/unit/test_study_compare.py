"""Runs set side by side, over rows: every expectation is worked out by hand or printed in a document."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.analysis.studies import written
from counterflow.analysis.studies.compare import compare
from counterflow.analysis.studies.figures import Figure, Key, MeasuredRun, measured
from counterflow.analysis.studies.runs import ComparedRun, RunError, found
from tests.support.hostile import NAMES

Rows = dict[str, list[dict[str, Any]]]

COLUMNS = {
    "processors": "boot_id engine_type busy_pct user_pct sys_pct cpu_base logical_engines virtual_engines "
    "physical_consumed_cores physical_user_cores physical_sys_cores cpu_ms configured_cpu_ms",
    "work": "workload run_id unit_of_work operation units users response_ms response_p95_ms response_p99_ms",
    "finals": "workload unit_of_work operation done_per_s response_ms response_p95_ms response_p99_ms",
    "transactions": "workload run_id unit_of_work operation units users response_ms response_p95_ms response_p99_ms",
    "disks": "read_mb written_mb transfers_per_s response_ms busy_pct",
    "components": "command cpu_ms cpu_base memory_mb",
    "parts": "component cpu_ms cpu_base memory_mb",
    "recorded": "boot_id",
    "log": "subsystem rate_mb_s rate_basis waits_delta waiting_threads zhl_sync_pct",
    "accounts": "workload basis accounts gcp_ms_per_account ziip_ms_per_account ziip_on_cp_ms_per_account batch_units",
    "replication": "component queue end_to_end_ms capture_ms queue_ms apply_ms row_count transactions log_latency_s",
}


def row(of: str, end_s: float = 60, seconds: float | None = 60, system: str = "A", **columns: Any) -> dict[str, Any]:
    given = {"workload": "w", "run_id": "1", "unit_of_work": "accounts", "operation": ""}
    given |= {"engine_type": "core", "subsystem": "DBP1", "component": "apply", "queue": "Q"}
    empty = {name: given.get(name) for name in COLUMNS[of].split()}
    assert columns.keys() <= empty.keys()
    return {"end_s": end_s, "seconds": seconds, "system": system, **empty, **columns}


def run_of(rows: Rows, name: str = "a", minutes: int = 10, **known: Any) -> MeasuredRun:
    return measured(ComparedRun(name, 0, 60 * minutes, ("A",), **known), rows)


def value(run: MeasuredRun, table: str, name: str, of: str = "", system: str = "A") -> Figure:
    return run.figures[Key(table, "" if table in ("throughput", "response") else system, of, name)]


def work(units_per_s: float, minutes: Iterable[int] = range(1, 11), **columns: Any) -> list[dict[str, Any]]:
    return [row("work", 60 * n, units=60 * units_per_s, **columns) for n in minutes]


def steady(of: str, minutes: Iterable[int] = range(1, 11), **columns: Any) -> list[dict[str, Any]]:
    return [row(of, 60 * n, **columns) for n in minutes]


@pytest.mark.parametrize(
    ("columns", "pct", "cores"),
    [
        ({"cpu_base": "logical", "user_pct": 40.0, "sys_pct": 12.3, "logical_engines": 8.0}, 52.3, 4.184),
        # threads of Linux on Power, as in the view processor_load
        ({"cpu_base": "logical", "user_pct": 40, "sys_pct": 10, "logical_engines": 32, "virtual_engines": 4.0}, 50, 16),
        ({"cpu_base": "floating", "user_pct": 90.0, "sys_pct": 9.0, "physical_consumed_cores": 2.0}, None, 2.0),
        ({"cpu_base": "floating", "physical_consumed_cores": 2.0, "logical_engines": 8.0}, None, 2.0),
        (
            {"cpu_base": "floating", "user_pct": 90.0, "physical_consumed_cores": 2.0, "virtual_engines": 8.0},
            25,
            2.0,
        ),
        (
            {"cpu_base": "floating", "physical_consumed_cores": 2.5, "virtual_engines": 8.0}
            | {"physical_user_cores": 1.0, "physical_sys_cores": 1.0},
            25,
            2.5,
        ),
        ({"busy_pct": 74.4, "cpu_ms": 44_640.0, "configured_cpu_ms": 60_000.0}, 74.4, 0.744),
        ({"user_pct": 40.0, "sys_pct": 12.3}, None, None),
    ],
)
def test_utilisation_and_cores(columns: dict[str, Any], pct: float | None, cores: float | None) -> None:
    run = run_of({"processors": steady("processors", **columns), "work": work(1)})
    for name, expected in (("busy_pct", pct), ("cores", cores)):
        figure = value(run, "cpu", name, "core")
        assert figure.value == (None if expected is None else pytest.approx(expected))
        assert (figure.reason is None) == (expected is not None)


def test_means_are_weighted_by_time_and_spread_is_of_intervals() -> None:
    rows = [row("processors", 60, 60, busy_pct=10.0), row("processors", 240, 180, busy_pct=50.0)]
    figure = value(run_of({"processors": rows}, minutes=4), "cpu", "busy_pct", "core")
    assert figure.value == 40
    assert (figure.n, figure.low, figure.high) == (2, 10, 50)
    assert figure.sd == pytest.approx((300 * 2) ** 0.5)  # (60*30² + 180*10²)/240 = 300, twice for n/(n-1)


def test_only_whole_intervals_after_the_warm_up_count() -> None:
    rows = [*work(1000, [1, 2]), *work(10, range(3, 10)), row("work", 630, units=6e6), row("work", 601, units=600)]
    run = run_of({"work": rows}, warm_up_s=120)
    assert value(run, "throughput", "units_per_s").value == 10  # a recorder's clock may be a second late
    assert value(run, "throughput", "units_per_s").n == 8


def test_responses_weigh_by_units_and_percentiles_do_not_average() -> None:
    rows = [
        row("work", 60, units=100, response_ms=1.0, response_p99_ms=5.0),
        row("work", 120, units=300, response_ms=3.0, response_p99_ms=9.0),
    ]
    run = run_of({"work": rows}, minutes=2)
    assert value(run, "response", "response_ms").value == 2.5
    assert value(run, "response", "response_p99_ms").value is None
    assert "do not average" in (value(run, "response", "response_p99_ms").reason or "")
    summary = row("finals", 120, None, done_per_s=99.0, response_p99_ms=7.0)
    alone = run_of({"finals": [summary | {"response_ms": 2.0}]}, minutes=2)
    assert value(alone, "response", "response_ms").value == 2
    assert value(alone, "throughput", "units_per_s").value == 99
    run = run_of({"work": rows, "finals": [summary]}, minutes=2)
    assert value(run, "response", "response_p99_ms").value == 7
    assert value(run, "throughput", "units_per_s").value == pytest.approx(400 / 120)  # the summary holds the others


def test_transactions_of_jobs_are_the_work_where_no_other_is_recorded() -> None:
    jobs = {"workload": "jobs", "unit_of_work": "transactions"}
    counted = [row("transactions", 60, units=600, response_ms=2.0, **jobs), row("transactions", 120, units=0, **jobs)]
    busy = steady("processors", [1, 2], busy_pct=50.0, cpu_ms=30_000.0, configured_cpu_ms=60_000.0)
    run = run_of({"transactions": counted, "processors": busy}, minutes=2)
    assert value(run, "throughput", "units_per_s").value == 5
    assert value(run, "response", "response_ms").value == 2
    assert value(run, "cpu", "lpar_ms_per_unit", "core").value == 100
    other = run_of({"transactions": counted, "processors": busy, "work": work(1, [1, 2])}, minutes=2)
    assert value(other, "throughput", "units_per_s").unit == "accounts/s"


def completions(*ends: float, since: float = 0, system: str = "A") -> list[dict[str, Any]]:
    """Return one row a query, with the time since the query before."""
    begins = [since, *ends]
    return [row("work", end, end - begins[at], system, units=1) for at, end in enumerate(ends)]


@pytest.mark.parametrize(
    ("rows", "n", "mean", "low", "high"),
    [
        # 3 queries in the first 300 s, 2 in the next; by the time between two of them, one would be 3600 an hour
        (completions(100, 101, 300, 450, 600), 2, 30, 24, 36),
        # an interval gives each window its part: the query of 200 to 400 s is half in each, 1.5 and 2.5 queries
        (completions(200, 400, 500, 600), 2, 24, 18, 30),
        # of the second window 284 s of 300 are known, less than 95 %
        ([*completions(300), row("work", 600, 284, units=5)], 1, 12, 12, 12),
        # 5 queries in 285 s
        ([*completions(300), row("work", 600, 285, units=5)], 2, (12 + 3600 * 5 / 285) / 2, 12, 3600 * 5 / 285),
        # two drivers add up where both have data: 1 a window on A, 2 on B in the first alone
        (completions(300, 600) + completions(150, 300, system="B"), 1, 36, 36, 36),
    ],
)
def test_units_an_hour_are_of_windows_of_300_s(rows: Any, n: int, mean: float, low: float, high: float) -> None:
    figure = value(run_of({"work": rows}), "throughput", "units_per_h")
    assert (figure.n, figure.unit) == (n, "accounts/h over 300 s")
    assert (figure.value, figure.low, figure.high) == pytest.approx((mean, low, high), rel=1e-9)
    if n == 2:
        assert figure.sd == pytest.approx((high - low) / 2**0.5)


def test_without_a_whole_window_there_are_no_units_an_hour() -> None:
    run = run_of({"work": completions(100, 200)}, minutes=4)
    assert value(run, "throughput", "units_per_s").value == pytest.approx(0.01)
    figure = value(run, "throughput", "units_per_h")
    assert (figure.value, figure.reason) == (None, "no 300 s of the run with the work of all drivers")


def test_a_run_id_used_twice_is_reported() -> None:
    run = run_of({"work": work(10, range(1, 5)) + work(10, range(5, 11), run_id="2")})
    assert any("2 executions" in note for note in run.notes)


def test_components_that_are_absent_used_nothing() -> None:
    rows = {
        "work": work(599),
        "recorded": steady("recorded"),
        "processors": steady("processors", virtual_engines=4.0, physical_consumed_cores=2.6),
        "components": steady("components", command="asnqcap", cpu_ms=15_120.0, cpu_base="physical", memory_mb=82.0)
        + steady("components", [3, 4], command="gzip", cpu_ms=60_000.0, cpu_base="physical", memory_mb=4.0),
    }
    run = run_of(rows)
    assert value(run, "components", "busy_pct", "asnqcap").value == pytest.approx(6.3)  # 0.252 of 4 cores
    assert value(run, "components", "ms_per_unit", "asnqcap").value == pytest.approx(0.4207, abs=1e-4)
    assert value(run, "components", "cores", "gzip").value == pytest.approx(0.2)
    assert (value(run, "components", "cores", "gzip").low, value(run, "components", "memory_mb", "gzip").value) == (
        0,
        4,
    )
    unknown = value(run_of(rows | {"recorded": []}), "components", "cores", "gzip")
    assert (unknown.value, unknown.reason) == (None, "how long processes were recorded is not known")


def test_io_is_normalised_and_its_ratio_is_of_sums() -> None:
    rows = [
        row("disks", 60, read_mb=10.0, written_mb=100.0, transfers_per_s=10.0, response_ms=1.0),
        row("disks", 120, read_mb=90.0, written_mb=100.0, transfers_per_s=30.0, response_ms=5.0),
        row("disks", 180, read_mb=20.0, written_mb=0.0, transfers_per_s=0.0),
    ]
    run = run_of({"disks": rows, "work": work(2, [1, 2, 3])}, minutes=3)
    assert value(run, "io", "read_mb_s").value == pytest.approx(120 / 180)
    assert value(run, "io", "rw_ratio").value == 0.6  # not the mean of 0.1 and 0.9 alone
    assert value(run, "io", "response_ms").value == 4
    assert value(run, "io", "written_kb_per_unit").value == pytest.approx(1024 * 200 / 360)
    nothing = run_of({"disks": [row("disks", 60, read_mb=1.0, written_mb=0.0)]}, minutes=1)
    assert value(nothing, "io", "rw_ratio") == Figure(
        None, "read/written", reason="nothing was written, or it is not recorded"
    )


def test_latencies_weigh_by_transactions() -> None:
    def parts(total: float, transactions: float, **of: Any) -> dict[str, Any]:
        late = {"end_to_end_ms": total, "capture_ms": total - 700, "queue_ms": 500.0, "apply_ms": 200.0}
        return row("replication", transactions=transactions, row_count=18 * transactions, **late, **of)

    idle = row("replication", 120, transactions=0.0, row_count=0.0)
    rows = [parts(2000, 100), parts(3000, 300, queue="R"), idle]
    run = run_of({"replication": [*rows, row("replication", 120, component="capture", queue="")]}, minutes=2)
    assert value(run, "replication", "end_to_end_ms").value == 2750
    assert value(run, "replication", "capture_ms").value == 2050
    assert value(run, "replication", "transactions_per_s").value == pytest.approx(100 / 120 + 300 / 60)
    assert value(run, "replication", "rows_per_transaction").value == 18
    assert value(run, "replication", "log_latency_s").reason == "idle, or not recorded"


def test_rates_of_the_log_of_another_basis_are_another_figure() -> None:
    rows = {"log": steady("log", rate_mb_s=2.0, rate_basis="created"), "work": work(1)}
    run = run_of(rows)
    assert value(run, "log", "created_mb_s", "DBP1").value == 2
    assert not any(key.name == "written_mb_s" for key in run.figures)
    written_ = run_of({"log": steady("log", rate_mb_s=2.3, rate_basis="written"), "work": work(1)}, "b")
    assert any("created_mb_s and written_mb_s: bytes a unit do not" in w for w in compare([run, written_]).warnings)
    mixed = steady("log", [1, 2], rate_mb_s=2.0, rate_basis="created") + steady("log", [3], rate_basis="written")
    figure = value(run_of({"log": mixed, "work": work(1)}), "log", "log_bytes_per_unit")
    assert (figure.value, figure.reason) == (None, "no rate of the log, or rates of several kinds")


def test_nothing_for_a_unit_where_the_work_is_not_known() -> None:
    busy = steady("processors", busy_pct=50.0, logical_engines=4.0)
    unknown = run_of({"processors": busy, "work": [*work(1), *work(2, workload="v")]})
    figure = value(unknown, "cpu", "lpar_ms_per_unit", "core")
    assert (figure.value, figure.reason) == (None, "several workloads (v, w): name one in the list `runs`")
    chosen = run_of({"processors": busy, "work": [*work(1), *work(2, workload="v")]}, workload="v")
    assert value(chosen, "cpu", "lpar_ms_per_unit", "core").value == 1000
    idle = value(run_of({"processors": busy, "work": work(0)}), "cpu", "lpar_ms_per_unit", "core")
    assert (idle.value, idle.reason) == (None, "nothing was done")


def priced(
    cost: float | None, units_per_s: float, name: str, currency: str = "XXX", unit: str = "queries"
) -> MeasuredRun:
    return run_of({"work": work(units_per_s, unit_of_work=unit)}, name, cost=cost, currency=currency)


@pytest.mark.parametrize(
    ("scenario", "advantage", "reason"),
    [
        (priced(0.21, 10, "s"), 79, None),
        (priced(0.21, 20, "s"), 89.5, None),
        (priced(0.08, 10, "s"), 92, None),
        (priced(None, 10, "s"), None, "no price of s in the list `prices`"),
        (priced(1, 10, "s", currency="EUR"), None, "currencies differ: XXX, EUR"),
        (priced(1, 10, "s", unit="accounts"), None, "units of work differ: queries, accounts"),
        (priced(1, 0, "s"), None, "nothing was done"),
    ],
)
def test_price_performance(scenario: MeasuredRun, advantage: float | None, reason: str | None) -> None:
    compared = compare([priced(1, 10, "b"), scenario])
    [figure] = [r.figures[1] for r in compared.rows if r.key.name == "price_performance_pct"]
    assert figure.value == (None if advantage is None else pytest.approx(advantage))
    assert figure.reason == reason
    assert len(compared.formulas) == (reason is None)


def test_what_does_not_compare_is_reported() -> None:
    def rows(minutes: range, engines: float, users: float, mb_s: float) -> Rows:
        return {
            "processors": steady("processors", minutes, busy_pct=50.0, logical_engines=engines),
            "work": work(10, minutes, users=users),
            "log": steady("log", minutes, rate_mb_s=mb_s, rate_basis="written"),
        }

    base = run_of(rows(range(1, 11), 4.0, 100.0, 1.0), "b")
    other = measured(ComparedRun("s", 36_000, 38_400, ("A",)), rows(range(601, 641), 8.0, 200.0, 1.1))
    assert compare([base, other]).warnings == (
        "b and s: lengths differ: 600 s, 2400 s; compare rates, not totals",
        "b and s: load differs: 100 users, 200 users",
        "b and s: engines (core) differ: 4, 8; compare cores, not %",
        "b and s: log bytes a unit of work differ: 100,000, 110,000; the workload is another one",
    )


def test_other_units_have_no_difference() -> None:
    compared = compare([priced(1, 10, "b"), priced(1, 20, "s", unit="accounts")])
    [units] = [r for r in compared.rows if r.key.name == "units_per_s"]
    assert units.differences[0].value is None
    assert units.differences[0].reason == "units differ: queries/s, accounts/s"
    assert any("units of work differ" in warning for warning in compared.warnings)


def test_one_system_each_is_compared_whatever_its_name_and_several_by_name() -> None:
    def busy(*systems: str) -> MeasuredRun:
        rows = [one | {"system": system} for system in systems for one in steady("processors", busy_pct=50.0)]
        return run_of({"processors": rows})

    assert {r.key.system for r in compare([busy("Z16"), busy("Z17")]).rows} == {""}
    rows = [r for r in compare([busy("SRC"), busy("SRC", "TGT")]).rows if r.key.name == "busy_pct"]
    assert [[f.value for f in r.figures] for r in rows] == [[50, 50], [None, 50]]
    assert rows[1].figures[0].reason == "not in this run"


def test_two_recorders_and_gaps_are_reported() -> None:
    twice = run_of({"processors": steady("processors", busy_pct=1.0) * 2})
    assert twice.notes == ("a: intervals of A (core) overlap: two recorders?",)
    half = run_of({"processors": steady("processors", [1, 2, 3, 9, 10], busy_pct=1.0)})
    assert half.notes == ("a: processors (core) of A are recorded for 50 % of the run",)


# -- how a run is found


def interval(end_s: float, seconds: float | None = 60, system: str = "A", source: str = "nmon") -> dict[str, Any]:
    return {"system": system, "source": source, "end_s": end_s, "seconds": seconds}


def setting(name: str, value: str, since_s: float = 0, system: str = "A", section: str = "run") -> dict[str, Any]:
    return {"section": section, "system": system, "name": name, "value": value, "since_s": since_s}


HOUR = [setting("begin", "1970-01-01T00:00:00Z"), setting("end", "1970-01-01T01:00:00+00:00")]


def test_a_label_is_the_time_that_all_its_recordings_have() -> None:
    nmon = [interval(60 * n) for n in range(1, 101)]
    driver = [interval(60 * n, system="D", source="ycsb") for n in range(11, 100)]
    listing = [interval(7, None, source="hmc_lshwres")]
    run = found("r", [*nmon, *driver, *listing], [])
    assert (run.begin_s, run.end_s, run.systems) == (600, 5940, ("A", "D"))
    assert run.notes == ("r: compared over the 5340 s that all recordings cover, of 6000 s",)


def test_a_configured_run_is_as_configured() -> None:
    more = [setting("warm_up_s", "300"), setting("engines_gcp", "6"), setting("workload", "SETTLE")]
    price = [setting("amount", "7", since_s=s, system="SITE", section="price") for s in (0, 9e9)]
    price[1]["value"] = "9"
    run = found("r", [interval(99_999)], [*HOUR, *more, *price])
    assert (run.begin_s, run.end_s, run.warm_up_s, run.seconds) == (0, 3600, 300, 3300)
    assert (run.systems, run.engines, run.workload, run.cost) == (("A",), {"gcp": 6}, "SETTLE", 7)
    assert found("r", [], HOUR, warm_up_s=60).seconds == 3540


def test_the_newest_configuration_of_a_run_is_used_and_reported() -> None:
    newer = [setting("begin", "1970-01-02T00:00:00", 86_400, "B"), setting("end", "1970-01-02T00:10:00", 86_400, "B")]
    run = found("r", [], [*HOUR, *newer])
    assert (run.begin_s, run.seconds, run.systems) == (86_400, 600, ("B",))
    assert run.notes == ("r: configured more than once; the newest begin is used",)


@pytest.mark.parametrize(
    ("intervals", "settings_", "mistake"),
    [
        ([interval(60, None)], [], "no interval with a length"),
        ([interval(60), interval(900, system="B")], [], "no time in common"),
        ([], [setting("begin", "1970-01-01T00:00:00Z")], "has no end yet"),
        ([], [setting("begin", "soon"), HOUR[1]], "`begin` is 'soon', expected a time"),
        ([], [*HOUR, setting("warm_up_s", "nan")], "`warm_up_s` is 'nan', expected a number"),
        ([], [*HOUR, setting("warm_up_s", "3600")], "nothing is left of run `r`"),
    ],
)
def test_an_impossible_run_is_refused_with_the_way_out(
    intervals: list[dict[str, Any]], settings_: list[dict[str, Any]], mistake: str
) -> None:
    with pytest.raises(RunError, match=mistake) as caught:
        found("r", intervals, settings_)
    assert caught.value.hint


# -- how it is written

EVIL = "=1+1|<b>\x1b[31m`_*\n"


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (Figure(630.2, "", 61, 166.4, 200, 898), "630.2 ±170 (200 to 898)"),
        (Figure(2_268_000, "", 61, 618_400, 720_000, 3_232_800), "2,268,000 ±620,000 (720,000 to 3,232,800)"),
        (Figure(2.596, "", 61, 0.304, 2.088, 3.096), "2.596 ±0.3 (2.088 to 3.096)"),
        (Figure(7, "", 61, 0, 7, 7), "7"),
    ],
)
def test_a_spread_has_two_digits_that_anybody_reads(figure: Figure, text: str) -> None:
    assert written.with_spread(figure) == text


@pytest.mark.parametrize("name", [EVIL, *NAMES])
def test_a_spreadsheet_takes_no_name_for_a_formula(name: str) -> None:
    rows = {"components": steady("components", command=name, cpu_ms=6.0, cpu_base="logical")}
    rows["recorded"] = steady("recorded")
    text = written.as_csv(compare([run_of(rows, "=base"), run_of(rows, name)]))
    for cell in (cell for line in csv.reader(io.StringIO(text, newline="")) for cell in line):
        assert not cell.startswith(("=", "+", "@"))
        assert not cell.startswith("-") or float(cell) < 0, "a number is none"


def test_the_numbers_of_a_csv_are_unrounded() -> None:
    done = {"work": work(17.29e6 / 3600)}
    runs = [
        run_of({"processors": steady("processors", engine_type="gcp", busy_pct=pct, logical_engines=6.0), **done}, name)
        for name, pct in (("a", 27.2), ("b", 20.0))
    ]
    rows = list(csv.DictReader(io.StringIO(written.as_csv(compare(runs)))))
    [gcp] = [r for r in rows if (r["of"], r["figure"], r["run"]) == ("gcp", "lpar_ms_per_unit", "b")]
    assert float(gcp["value"]) == pytest.approx(0.2 * 6 * 3.6e6 / 17.29e6, rel=1e-14)
    assert gcp["difference_pct"].startswith("-26.47")  # a number, whatever it begins with


TEXTS = {"engine_type", "cpu_base", "workload", "run_id", "unit_of_work", "operation", "command"}
TEXTS |= {"subsystem", "rate_basis", "basis", "component", "queue"}
NUMBER = st.none() | st.just(0.0) | st.floats(1e-6, 1e12)


@given(st.data())
def test_a_figure_has_a_value_or_a_reason(data: st.DataObject) -> None:
    def some(of: str) -> st.SearchStrategy[list[dict[str, Any]]]:
        numbers = [c for c in COLUMNS[of].split() if c not in TEXTS]
        return st.lists(
            st.builds(
                lambda n, s, system, values: row(of, 60 * n, s, system, **dict(zip(numbers, values, strict=True))),
                st.integers(0, 12),
                st.none() | st.just(0.0) | st.floats(0.001, 120),
                st.sampled_from(["A", "B"]),
                st.tuples(*[NUMBER] * len(numbers)),
            ),
            max_size=4,
        )

    rows = [{of: data.draw(some(of)) for of in COLUMNS} for _ in range(2)]
    for one in rows:
        for component in one["components"]:
            component["command"] = "c"
    runs = []
    for name, one in zip("ab", rows, strict=True):
        try:
            runs.append(run_of(one, name))
        except RunError:
            continue
    if len(runs) == 2:
        compared = compare(runs)
        for figure in (figure for r in compared.rows for figure in r.figures):
            assert (figure.value is None) == (figure.reason is not None)
            if figure.low is not None and figure.value is not None and figure.high is not None:
                slack = 1e-9 * max(1.0, abs(figure.high))
                assert figure.low - slack <= figure.value <= figure.high + slack
        written.as_csv(compared)
        written.as_dict(compared)
