"""`counterflow whatif` from files: the published runs come out, and what is not known is null with a reason."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from counterflow.analysis.studies.mirror import Mix, Plan, study
from counterflow.base.errors import CounterflowError
from counterflow.cli import cli

ROW = {"ts": "2026-03-01T00:15:00Z", "interval_s": 900, "system": "o'p [b]", "grouping": "partition", "name": "*"}


PREDICTED = {
    *("response_ms", "throughput_per_s", "source_processors", "target_processors"),
    *("source_busy_pct", "target_busy_pct"),
    *("jobs_needed", "both_active_jobs", "both_active_throughput_per_s", "both_active_response_ms"),
    *("both_active_busy_pct", "source_cores", "target_cores", "both_active_cores"),
}
MIX = {"interval_s": 100, "reads": 130e3, "read_for_update": 20e3, "inserts": 10e3, "other": 50e3, "commits": 10e3}
WORK = ("--units-per-s", "100", "--response-ms", "50", "--busy-pct", "40", "--cores", "4", "--jobs", "20")


def whatif(tmp_path: Path, rows: list[dict[str, Any]], *options: str, question: str = "mirror") -> list[dict[str, Any]]:
    file = tmp_path / "mix.jsonl"
    file.write_bytes(b"\n".join(orjson.dumps({**ROW, **row}) for row in rows))
    arguments = ["whatif", question, "--input", str(file), "--json", *options]
    answer = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return [orjson.loads(line) for line in answer.stdout_bytes.splitlines()]


def changing(rows_per_s: float) -> dict[str, Any]:
    """Return a partition that reads each row for update and updates it, as case study 5 does."""
    count = rows_per_s * 900
    return {"reads": count, "read_for_update": count, "inserts": 0, "other": count, "commits": 0, "rollbacks": 0}


def test_the_uncapped_run_of_case_study_5_comes_out(tmp_path: Path) -> None:
    rows = [changing(416_049)]
    [partition] = whatif(tmp_path, rows, "--km", "0.002")
    [line] = whatif(tmp_path, rows, "--line-gbits", "100", "--headroom", "0", question="line")
    value = {name: figure["value"] for name, figure in (partition["figures"] | line["figures"]).items()}
    assert value["exposure_pct"] == 100
    assert value["row_changes_peak_per_s"] == pytest.approx(416_049)
    assert value["line_gbits"] == pytest.approx(4.49)
    assert value["line_messages_per_s"] == pytest.approx(4_278_626)
    assert value["line_pct"] == pytest.approx(4.49)
    assert value["capacity_pct"] == 8  # 4.49 / 0.62 = 7.24: 3 % and 6 % were too little in the study
    assert value["distance_us"] < 1  # "less than 1 microsecond total line latency with a 2-meter cable"


@pytest.mark.parametrize(
    ("reads", "read_for_update", "exposure_pct"),
    [(62, 0, 38), (37, 0, 63), (82, 82, 100), (82, None, 18)],  # 7.6.1, 7.6.2, 7.6.3, and that without the split
)
def test_exposure_of_the_client_cases(
    tmp_path: Path, reads: float, read_for_update: float | None, exposure_pct: float
) -> None:
    row = {"reads": reads, "read_for_update": read_for_update, "inserts": 8, "other": 92 - reads}
    row |= {"commits": 0, "rollbacks": 0}
    [partition] = whatif(tmp_path, [row])
    figure = partition["figures"]["exposure_pct"]
    assert figure["value"] == pytest.approx(exposure_pct)
    assert ("lower bound" in (figure["note"] or "")) is (read_for_update is None)


def test_a_prediction_by_hand(tmp_path: Path) -> None:
    """The formulas of docs/whatif.md, in plain arithmetic."""
    row = {**MIX, "rollbacks": 0}
    given = ("--km", "10", *WORK, "--like", "native", "--cpw", "28400", "56800")
    [partition] = whatif(tmp_path, [row], "--km", "10")
    [pair] = whatif(tmp_path, [row], *given, question="nodes")
    found = partition["figures"] | pair["figures"]
    assert found["mirrored_per_s"]["value"] == 700  # 20,000 + 10,000 + 50,000 - 10,000 in 100 s
    # 700 operations at a quarter of 80 jobs / 417,753 rows; 500 changes at 80 jobs / 415,318; 10 km, 2 to 2.78 trips
    low = 700 * 80 / 417_753 / 4 + 500 * 200e-6
    high = 500 * 80 / 415_318 + 500 * 100e-6 * 4_613_528 / 415_318 / 4
    assert (found["mirror_wait"]["low"], found["mirror_wait"]["high"]) == pytest.approx((low, high))
    wait_ms = (low + high) / 2 / 100 * 1000
    assert wait_ms == pytest.approx(1.843, abs=0.001)
    # 38.9 % exposed x growth of 1.46 on 16 ms of processors a unit; 8 of the measured processors
    busy = found["throughput_per_s"]["value"] * 0.016 * (1 + 70 / 180 * 1.46009)
    assert found["source_processors"]["value"] == pytest.approx(busy, rel=1e-4)
    assert found["source_busy_pct"]["value"] == pytest.approx(100 * busy / 8, rel=1e-4)
    response_ms = 50 * (1 - 0.4**4) / (1 - (busy / 8) ** 4) + wait_ms
    assert found["response_ms"]["value"] == pytest.approx(response_ms, rel=1e-4)
    # 20 jobs, 150 ms between two units: 20 / 100 s - 50 ms
    assert found["throughput_per_s"]["value"] == pytest.approx(20 / (0.150 + response_ms / 1000), rel=1e-4)
    for name in PREDICTED:
        assert found[name]["low"] <= found[name]["value"] <= found[name]["high"]
        assert found[name]["origin"]


@pytest.mark.parametrize(
    ("row", "options", "reason"),
    [
        ({"read_for_update": None}, (*WORK, "--like", "sql"), "reads for update are not counted separately"),
        ({}, WORK, "not given: --like"),
        ({}, (*WORK[:-1], "4", "--like", "sql"), "more units at a time than --jobs"),
    ],
)
def test_no_prediction_without_its_inputs(
    tmp_path: Path, row: dict[str, Any], options: tuple[str, ...], reason: str
) -> None:
    [partition] = whatif(tmp_path, [{**changing(100), **row}], "--km", "0", *options, question="nodes")
    assert all(partition["figures"][name]["value"] is None for name in PREDICTED)
    assert all(reason in partition["figures"][name]["reason"] for name in PREDICTED)


def test_the_jobs_that_hold_the_throughput_by_hand(tmp_path: Path) -> None:
    """The worked example without another machine: Little's law, and nothing of the nodes' own solution."""
    given = ("--km", "10", *WORK, "--like", "sql")
    [pair] = whatif(tmp_path, [{**MIX, "rollbacks": 0}], *given, question="nodes")
    found = {name: figure["value"] for name, figure in pair["figures"].items()}
    queue, wait = 1 / (1 - 0.4**4), found["response_ms"] / 1000
    busy = found["source_cores"] / 4 * 0.4  # the same processors do 100 units/s at this utilisation
    queued = 0.05 / queue / (1 - busy**4)
    added = wait - 0.05 / queue / (1 - (found["source_busy_pct"] / 100) ** 4)
    assert found["jobs_needed"] == pytest.approx(100 * (0.15 + queued + added))
    assert found["throughput_per_s"] < 100
    assert 20 < found["jobs_needed"] < 21
    assert found["both_active_cores"] == pytest.approx((found["source_cores"] + found["target_cores"]) / 2)
    # each node does half, and applies half, of what one did and the other applied
    both = found["both_active_busy_pct"] / found["both_active_throughput_per_s"]
    assert both == pytest.approx(100 * found["both_active_cores"] / 4 * 0.4 / 100, rel=1e-6)


def test_units_that_no_processor_is_left_for_need_no_number_of_jobs(tmp_path: Path) -> None:
    work = ("--units-per-s", "100", "--response-ms", "50", "--busy-pct", "99", "--cores", "4", "--jobs", "20")
    given = ("--km", "0", *work, "--like", "native")
    [pair] = whatif(tmp_path, [{**changing(100), "commits": 0}], *given, question="nodes")
    needed = pair["figures"]["jobs_needed"]
    assert (needed["value"], needed["low"]) == (None, None)
    assert needed["reason"] == "the processors cannot do these units/s with mirroring"


def test_levers_have_their_measured_effect(tmp_path: Path) -> None:
    """A run 62 % longer became 25 % longer; blocks of 256 KB copied 3 to 4 times as fast as those of 8 KB."""
    [partition] = whatif(tmp_path, [changing(1000)], "--km", "10")
    wait, less = (partition["figures"][name] for name in ("mirror_wait", "mirror_wait_tuned"))
    assert (less["low"], less["value"]) == pytest.approx((wait["low"] * 25 / 62, wait["value"] * 25 / 62))
    assert less["high"] == wait["high"]
    assert "no copy" in partition["figures"]["copy_time_pct"]["reason"]
    copies = {"reads": 1000, "read_for_update": 0, "inserts": 1000, "other": 10, "commits": 10, "rollbacks": 0}
    [partition] = whatif(tmp_path, [copies])
    share = partition["figures"]["copy_time_pct"]
    assert (share["low"], share["value"], share["high"]) == pytest.approx((25, 100 / 3.5, 100 / 3))
    assert partition["figures"]["mirror_wait_tuned"]["value"] is None
    more, fewer = ({**copies, "inserts": 1000 + sign * 101} for sign in (1, -1))
    updating = {**copies, "other": 111}
    for other in (more, fewer, updating):
        assert "no copy" in whatif(tmp_path, [other])[0]["figures"]["copy_time_pct"]["reason"]


@pytest.mark.parametrize("options", [("--cpw", "9"), ("--cpw", "9", "9", "--rperf", "9", "9")])
def test_a_rating_is_of_both_machines_and_of_one_kind(options: tuple[str, ...]) -> None:
    answer = CliRunner().invoke(cli, ["whatif", "nodes", *options])
    assert (answer.exit_code, "--cpw" in answer.output) == (2, True)


def test_what_is_not_known_is_null_with_its_reason(tmp_path: Path) -> None:
    reasons = {
        name: figure["reason"]
        for question in ("mirror", "line", "nodes")
        for name, figure in whatif(tmp_path, [changing(1000)], question=question)[0]["figures"].items()
        if figure["value"] is None
    }
    waits = {"mirror_wait", "mirror_wait_tuned", "copy_time_pct"}
    assert reasons.keys() == {"distance_us", "distance_wait", "line_pct", "capacity_pct", *waits, *PREDICTED}
    assert all("--km" in reasons[name] for name in ("distance_us", "distance_wait", "mirror_wait"))
    assert all("--units-per-s" in reasons[name] and "--like" in reasons[name] for name in PREDICTED)
    rows = [{"reads": 5, "inserts": None, "other": 1}]
    [partition], [line] = (
        whatif(tmp_path, rows, *options, question=question)
        for question, options in (("mirror", ("--km", "1")), ("line", ("--line-gbits", "100")))
    )
    figures = partition["figures"] | line["figures"]
    assert {n for n, f in figures.items() if f["value"] is not None} == {"distance_us"}
    assert all(f["reason"] for f in figures.values() if f["value"] is None)
    assert all(f["assumption"] and f["source"] for f in figures.values())


def test_an_idle_partition_is_not_one_of_which_nothing_is_known(tmp_path: Path) -> None:
    """Its rates are zero. Only its exposure, a share of no operations, is undefined."""
    [idle] = whatif(tmp_path, [changing(0)])
    exposure = idle["figures"]["exposure_pct"]
    assert (exposure["value"], idle["figures"]["row_changes_per_s"]["value"]) == (None, 0.0)
    assert exposure["reason"] == "no operations on rows in the intervals whose logical I/O is known"
    [unknown] = whatif(tmp_path, [{"reads": None}])
    assert unknown["figures"]["exposure_pct"]["reason"] == "no logical I/O is known"


@pytest.mark.parametrize(
    ("rows", "error", "hint"),
    [
        ([], "mix.jsonl: it holds no row", "the columns of `io_mix` that docs/whatif.md lists"),
        (
            [{**ROW, **changing(5), "system": "B", "grouping": "user"}, {**ROW, **changing(5), "system": "A"}],
            "mix.jsonl: no mix of logical database I/O for these systems in that period and grouping",
            "it has rows of A, B from 2026-03-01T00:15:00+00:00 to 2026-03-01T00:15:00+00:00, with the grouping "
            "partition, user",
        ),
    ],
)
def test_a_file_of_which_no_row_is_left_is_named_with_what_it_holds(
    tmp_path: Path, rows: list[dict[str, Any]], error: str, hint: str
) -> None:
    file = tmp_path / "mix.jsonl"
    file.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    found = CliRunner().invoke(cli, ["whatif", "mirror", "--input", str(file), "--system", "C"]).exception
    assert isinstance(found, CounterflowError)
    assert found.exit_code == 2
    assert found.message.endswith(error)
    assert hint in (found.hint or "")


def test_commits_are_no_row_changes_and_quiet_intervals_no_peak(tmp_path: Path) -> None:
    busy = {"reads": 0, "inserts": 900, "other": 1800, "commits": 600, "rollbacks": 300}
    rows = [busy, {"ts": "2026-03-01T00:30:00", "reads": 900, "inserts": 0, "other": 0, "commits": 0, "rollbacks": 0}]
    [partition] = whatif(tmp_path, rows)
    value = {name: figure["value"] for name, figure in partition["figures"].items()}
    assert (value["row_changes_per_s"], value["row_changes_peak_per_s"]) == (1.0, 2.0)
    # 1,800 of 2,700 operations on rows: of sums, not the mean of 100 % and 0 %; 900 commits and rollbacks are none
    assert value["exposure_pct"] == pytest.approx(200 / 3)


def test_without_a_partition_the_line_carries_the_sum_of_the_groups(tmp_path: Path) -> None:
    groups = [{**changing(100), "grouping": "generic_job", "name": name} for name in ("BATCH1", "it's[b]")]
    [whole] = whatif(tmp_path, groups, question="line")
    assert (whole["name"], whole["figures"]["line_gbits"]["value"]) == ("*", pytest.approx(200 * 4.49 / 416_049))
    assert [job["name"] for job in whatif(tmp_path, groups)] == ["BATCH1", "it's[b]"]


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        (b"{", "mix.jsonl:2: the line: Invalid JSON"),
        (b'{"ts": "2026-03-01T00:00:00Z"}', "mix.jsonl:2: system: Field required"),
        (orjson.dumps({**ROW, "reads": -1}), "mix.jsonl:2: reads: Input should be greater"),
        (b"\xff", "mix.jsonl:2: the line: Invalid JSON"),
    ],
)
def test_a_mistake_in_the_input_is_named_with_its_line(tmp_path: Path, line: bytes, mistake: str) -> None:
    file = tmp_path / "mix.jsonl"
    file.write_bytes(orjson.dumps({**ROW, **changing(5)}) + b"\n" + line)
    answer = CliRunner().invoke(cli, ["whatif", "mirror", "--input", str(file)])
    assert mistake in str(answer.exception)


@pytest.mark.parametrize(
    "words", ["mirror --km nan", "mirror --km -1", "mirror --round-trips 1", "line --line-gbits 0", "nodes --cores 0"]
)
def test_an_impossible_plan_is_refused(words: str) -> None:
    assert CliRunner().invoke(cli, ["whatif", *words.split()]).exit_code == 2


AMOUNT = st.none() | st.floats(0, 1e18)
MIXES = st.builds(
    Mix,
    ts=st.datetimes(timezones=st.just(UTC), min_value=datetime.fromisoformat("2026-01-01")),
    interval_s=st.none() | st.floats(1e-3, 1e6),
    system=st.sampled_from(["a", "b'"]),
    grouping=st.sampled_from(["partition", "job"]),
    name=st.sampled_from(["*", "x"]),
    exposure_pct=st.none() | st.floats(0, 100),
    **dict.fromkeys(("reads", "read_for_update", "inserts", "other", "commits", "rollbacks"), AMOUNT),
)


@given(st.lists(MIXES, max_size=8), st.none() | st.floats(0, 100), st.none() | st.floats(0.001, 1000))
def test_a_figure_has_a_value_or_a_reason(mixes: list[Mix], km: float | None, line_gbits: float | None) -> None:
    for workload in study(mixes, Plan(km=km, line_gbits=line_gbits)):
        for figure in workload.figures.values():
            assert (figure.value is None) == (figure.reason is not None)
            assert figure.value is None or figure.value >= 0
