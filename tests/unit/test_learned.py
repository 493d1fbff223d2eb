"""Learned limits: what they come from, when they count, what resets them, and how the site file gets them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from counterflow.base.errors import CounterflowError
from counterflow.cli import cli
from counterflow.collectors.formats.site.writing import add_ceiling
from counterflow.pipelines.rules import rules
from counterflow.pipelines.rules.learned import Learned

BEGIN = datetime(2026, 11, 21, 1, tzinfo=UTC)
# 256 jobs on zHPF under pressure: table 1 of the study of zHyperLink, without a configured ceiling
PRESSED = {"path": "zhpf", "rate_mb_s": 214, "waits_delta": 12, "waiting_threads": 160, "active_threads": 256}
PRESSED |= {"gcp_pct": 27.2, "ziip_pct": 23.3}
CALM = {**PRESSED, "rate_mb_s": 100, "waits_delta": 0, "waiting_threads": 2}


def lines(series: list[dict[str, Any]], gap: int | None = None) -> str:
    """Return minutes of one log as JSON lines; those from number `gap` on are a day later."""
    rows = []
    for number, row in enumerate(series, 1):
        late = timedelta(days=gap is not None and number > gap)
        ts = (BEGIN + timedelta(minutes=number) + late).isoformat()
        rows.append({"ts": ts, "interval_s": 60, "system": "SYS1", "subsystem": "DBP1", **row})
    return "".join(json.dumps(row) + "\n" for row in rows)


def run(command: str, series: list[dict[str, Any]], *options: str, gap: int | None = None) -> list[dict[str, Any]]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "intervals.jsonl"
        path.write_text(lines(series, gap))
        result = CliRunner().invoke(cli, ["rules", command, "log_ceiling", "--input", str(path), "--json", *options])
    assert result.exit_code == 0, (result.output, result.exception)
    return [json.loads(line) for line in result.stdout.splitlines()]


@given(st.lists(st.floats(1e-6, 1e12), min_size=1), st.sets(st.sampled_from([0.1, 0.5, 0.9, 0.995]), min_size=1))
def test_a_quantile_is_a_value_to_half_a_percent(values: list[float], shares: set[float]) -> None:
    learned = Learned()
    for value in values:
        learned = learned.plus(value)
    expected = [
        next(value for value in sorted(values) if sum(v <= value for v in values) >= share * len(values))
        for share in sorted(shares)
    ]
    assert learned.quantiles(*sorted(shares)) == pytest.approx(expected, rel=0.0051)
    assert learned.intervals == len(values)


def test_thirty_intervals_under_pressure_make_a_ceiling_that_warns_and_never_pages() -> None:
    verdicts = run("replay", [PRESSED] * 40)
    assert {v["state"] for v in verdicts[:30]} == {"UNKNOWN"}
    assert "learned from 29 of 30 intervals under pressure" in verdicts[29]["reason"]
    assert {v["state"] for v in verdicts[32:]} == {"WARNING"}
    assert "learned 21" in verdicts[-1]["reason"]
    assert "warns at most" in verdicts[-1]["reason"]


@pytest.mark.parametrize(
    "row",
    [
        CALM,  # nobody waits
        {**PRESSED, "gcp_pct": 95.0},  # the processors are the limit
        {**PRESSED, "gcp_pct": None},
        {**PRESSED, "path": None},
        {**PRESSED, "path": "zhl", "zhl_sync_pct": 4.0},  # fallen back
    ],
)
def test_nothing_is_learned_from_what_is_no_ceiling(row: dict[str, Any]) -> None:
    assert run("learn", [row] * 40) == []


def test_path_and_changes_of_the_site_begin_a_limit_of_their_own() -> None:
    january = {"ceiling_since": "2026-01-01T00:00:00Z"}
    later = {"ceiling_since": "2026-11-21T01:40:00Z"}
    fast = {**PRESSED, **later, "path": "zhl", "rate_mb_s": 594, "zhl_sync_pct": 100.0}
    series = [*[{**PRESSED, **january}] * 40, *[{**PRESSED, **later, "rate_mb_s": 260}] * 35, *[fast] * 31]
    found = [(row["path"], row["ceiling_since"], row["learned_intervals"]) for row in run("learn", series)]
    assert found == [
        ("zhpf", "2026-01-01T00:00:00+00:00", 40),
        ("zhpf", "2026-11-21T01:40:00+00:00", 35),
        ("zhl", "2026-11-21T01:40:00+00:00", 31),
    ]


def test_a_time_that_is_not_known_is_no_change() -> None:
    series = [*[PRESSED] * 5, *[{**PRESSED, "ceiling_since": "2026-01-01T00:00:00Z"}] * 5, *[PRESSED] * 5]
    assert [row["learned_intervals"] for row in run("learn", series)][-1] == 15


def test_confidence_grows_with_intervals_and_falls_with_spread() -> None:
    assert [run("learn", [PRESSED] * n)[0]["learned_confidence"] for n in (29, 30, 150)] == ["low", "medium", "high"]
    (row,) = run("learn", [{**PRESSED, "rate_mb_s": rate} for rate in (214, 150, 150)] * 60)
    # (214 - 150) / 214
    assert row["learned_spread"] == pytest.approx(0.299, abs=0.01)
    assert row["learned_confidence"] == "low"


def test_a_silence_does_not_forget_what_was_learned() -> None:
    assert run("learn", [PRESSED] * 40, gap=35)[0]["learned_intervals"] == 40


SITE = """\
site: LAB
systems:  # machines
  - {system: SYS1, from: 2025-01-01T00:00:00Z, subsystems: [DBP1], cec: z16, storage: DS8950}
  - {system: SYS1, from: 2026-01-01T00:00:00Z, subsystems: [DBP1], cec: "z 17", storage: DS8A50}
log_ceilings:
  - subsystem: DBP1
    path: zhl
    cec: z16
    storage: DS8950
    from: 2025-01-01T00:00:00Z
    ceiling_mb_s: 383

# what follows stays
batches: []
"""


def test_learn_writes_the_entry_of_the_machine_in_use_and_the_file_stays_as_it_was(tmp_path: Path) -> None:
    site = tmp_path / "site.yaml"
    site.write_text(SITE)
    run("learn", [PRESSED] * 40, "--site", str(site))
    before, added, after = site.read_text().partition("  - {subsystem: DBP1, path: zhpf, ")
    assert added
    assert before + after.split("\n", 1)[1] == SITE
    result = CliRunner().invoke(cli, ["look", "--records", str(site)])
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    ceilings = {(row["item"], row["ts"]): row["value"] for row in rows if row.get("name") == "ceiling_mb_s"}
    assert 213 < float(ceilings["DBP1/zhpf", "2026-11-21T01:40:00Z"]) < 215.1
    assert ceilings["DBP1/zhl", "2025-01-01T00:00:00Z"] == "383"


def test_a_site_file_without_the_list_gets_it() -> None:
    text = SITE.split("log_ceilings")[0]
    written = add_ceiling(text, "SYS1", "DBP1", "zhpf", BEGIN, 213.7612, "learned")
    assert written.endswith(
        "\nlog_ceilings:\n  - {subsystem: DBP1, path: zhpf, cec: z 17, storage: DS8A50, "
        "from: '2026-11-21T01:00:00Z', ceiling_mb_s: 213.8}  # learned\n"
    )


@pytest.mark.parametrize("dash", ["-   {}", "- {}", "-\n      {}"])
def test_the_list_may_be_written_with_any_dash(dash: str) -> None:
    entry = dash.format("{subsystem: DBP1, path: zhl, cec: z16, storage: DS8950, from: 2025-01-01, ceiling_mb_s: 383}")
    text = SITE.split("log_ceilings")[0] + f"log_ceilings:\n  {entry}\n"
    written = yaml.safe_load(add_ceiling(text, "SYS1", "DBP1", "zhpf", BEGIN, 213.7612, "learned"))
    assert [one["ceiling_mb_s"] for one in written["log_ceilings"]] == [383, 213.8]


def test_a_file_to_which_no_line_can_be_added_is_refused() -> None:
    text = SITE.split("log_ceilings")[0] + "...\n"
    with pytest.raises(ValueError, match=r"no line can be added: add - .subsystem: DBP1, path: zhpf"):
        add_ceiling(text, "SYS1", "DBP1", "zhpf", BEGIN, 213.7612, "learned")


def test_a_subsystem_that_the_site_file_does_not_name_is_refused(tmp_path: Path) -> None:
    site = tmp_path / "site.yaml"
    site.write_text(SITE.replace("DBP1", "DBP2"))
    intervals = tmp_path / "intervals.jsonl"
    intervals.write_text(lines([PRESSED] * 40))
    command = ["rules", "learn", "log_ceiling", "--input", str(intervals), "--site", str(site)]
    result = CliRunner().invoke(cli, command)
    assert isinstance(result.exception, CounterflowError)
    assert "`systems` has no entry of SYS1 with DBP1" in str(result.exception)
    assert site.read_text() == SITE.replace("DBP1", "DBP2")


def link(own_gb_s: float, physical_gb_s: float) -> dict[str, Any]:
    """Return a link of both directions together; capacity 3 % of 100 Gb/s is 0.375 GB/s a direction."""
    half = {"own_out_bytes_s": own_gb_s * 5e8, "own_in_bytes_s": own_gb_s * 5e8}
    physical = {"phys_out_bytes_s": physical_gb_s * 5e8, "phys_in_bytes_s": physical_gb_s * 5e8}
    return {**half, **physical, "own_msgs_s": own_gb_s * 1e9 / 290, "line_bits_s": 100e9, "capacity_pct": 3}


def test_the_share_at_which_the_hypervisor_holds_a_link_is_learned() -> None:
    rule = rules()["roce_cap"]
    parameters, state = rule.parameters(), rule.start
    for number, columns in enumerate([*[link(1.2, 22.0)] * 10, *[link(0.5, 23.0)] * 40]):
        ts = (BEGIN + timedelta(seconds=30 * number)).isoformat()
        state, verdict = rule.judge(parameters, state, rule.interval({"ts": ts, "interval_s": 30, **columns}))
    assert verdict.state == "CAPPED"
    limit = rule.learned(parameters, state)
    assert limit is not None
    assert limit.value == pytest.approx(0.25 / 0.375, rel=0.0051)
    assert (limit.intervals, limit.confidence) == (40, "medium")
    assert verdict.evidence.as_json()["figures"]["learned_intervals"] == 39
