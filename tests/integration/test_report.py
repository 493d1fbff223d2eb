"""`counterflow report` over rows in a real ClickHouse: what it shows, and what it reports where there is no data."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from counterflow.base.errors import CounterflowError
from counterflow.cli import cli
from counterflow.dashboards.report.collect import collect
from counterflow.dashboards.report.page import html as html_of
from counterflow.dashboards.report.words import plain
from counterflow.stack.settings import StackSettings
from tests.support.reports import EVIL, charts_in
from tests.support.tables import empty_tables, insert

BEGIN = datetime(2026, 5, 4, 8, tzinfo=UTC)
QUARTERS = [BEGIN + timedelta(minutes=15 * n) for n in range(1, 17)]
RANGE = ("--from", "2026-05-04T08:00:00", "--to", "2026-05-04T12:00:00")
SYSTEM, LINUX = f"PROD {EVIL}", "linux1"

Run = Callable[..., Result]


def stamped(ts: datetime, **columns: Any) -> dict[str, Any]:
    return {"ts": ts.isoformat(), "interval_s": 900, "system": SYSTEM, **columns}


def io_mix(ts: datetime, n: int, grouping: str, name: str) -> dict[str, Any]:
    parted = {"split": "four-way", "read_only": 9000 * n, "read_for_update": 1800 * n, "inserts": 900 * n}
    totals = {"reads": 10_800 * n, "other": 450 * n, "logical_io": 12_150 * n}
    return stamped(ts, grouping=grouping, name=name, **parted, **totals)


def verdict(ts: datetime, state: str, since: datetime) -> dict[str, Any]:
    evidence = json.dumps({"share_pct": 24.8, "adapter": {EVIL: [1, 2]}, "full": True})
    about = {"rule": "roce_cap", "entity_type": "nrg", "entity": "NRG1", "parameters": "0123"}
    judged = {"state": state, "signal": state, "stale": False, "since": since.isoformat(), "evidence": evidence}
    return stamped(ts, **about, **judged, reason=f"the link gets 24.8 % of its adapter {EVIL}")


@pytest.fixture(scope="module")
def stored(clickhouse: StackSettings) -> Iterator[StackSettings]:
    """An engine with four hours of one system whose name is markup."""
    with empty_tables(clickhouse) as admin:
        quarters = list(enumerate(QUARTERS, 1))
        counted = (stamped(ts, counted="job", row_count=n) for n, ts in quarters)
        insert(admin, "manifest", *counted, source="ibmi_tables")
        busy = {"engine_type": "core", "engine": "all"}
        known = [(n, ts) for n, ts in quarters if n not in (6, 7, 8, 9)]
        insert(admin, "system_cpu", *(stamped(ts, **busy, busy_pct=5 * n) for n, ts in known))
        insert(admin, "io_mix", *(io_mix(ts, n, "partition", "*") for n, ts in quarters))
        insert(admin, "io_mix", *(io_mix(ts, 1, "generic_job", f"JOB{n:02}") for n in range(40) for ts in QUARTERS))
        nmon = {"system": LINUX, "source": "nmon"}
        insert(admin, "config", {**stamped(BEGIN, section="AAA", name="OS", item="", value="Linux,6.1"), **nmon})
        later = [ts + timedelta(days=1) for ts in QUARTERS]
        insert(admin, "manifest", *({**stamped(ts, counted="system_cpu", row_count=1), **nmon} for ts in later))
        user = {**busy, "cpu_base": "logical", "user_pct": 20}
        insert(admin, "system_cpu", *({**stamped(ts, **user), **nmon} for ts in later))
        insert(admin, "verdict", *(verdict(ts, "OK", QUARTERS[0]) for ts in QUARTERS[:8]))
        insert(admin, "verdict", *(verdict(ts, "CAPPED", QUARTERS[8]) for ts in QUARTERS[8:]))
        met = {"file": f"/x/{EVIL}", "line": 3, "byte_offset": 7, "reason": "torn_line", "kept": "none", "detail": EVIL}
        insert(admin, "quality", stamped(QUARTERS[0], **met))
        yield clickhouse


@pytest.fixture
def report(stored: StackSettings, in_environment: None) -> Run:
    return lambda *arguments: CliRunner().invoke(cli, ["report", *map(str, arguments)])


def text_of(folder: Path) -> str:
    """Return the report without its scripts."""
    made = (folder / "report.html").read_text(encoding="utf-8")
    return html.unescape(re.sub(r"<script.*?</script>", "", made, flags=re.DOTALL))


def charts_of(folder: Path) -> dict[str, Any]:
    return charts_in((folder / "report.html").read_text(encoding="utf-8"))


def test_a_report_shows_what_was_measured_judged_and_met(report: Run, tmp_path: Path) -> None:
    """In May, New York is four hours behind UTC: this is `RANGE`, in whose second half the link was capped."""
    outcome = report(*RANGE[:3], "2026-05-04 08:00 America/New_York", "--out", tmp_path / "made")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert outcome.stdout.strip() == str(tmp_path / "made" / "report.html")
    text = text_of(tmp_path / "made")
    assert "2026-05-04 08:00 to 2026-05-04 12:00 UTC" in text
    capped = "NRG1 was capped for 120 min in 1 spell"
    for words in (plain(SYSTEM), capped, "share pct", "24.8", "torn_line", "Logical database I/O", "io_mix"):
        assert words in text, words
    assert "\x07" not in text
    charts = charts_of(tmp_path / "made")
    assert {"logical_io", "logical_io_by_group", "cpu_busy", "verdict_states"} <= charts.keys()
    bars = charts["logical_io"]["spec"]["layer"][0]["data"]["values"]
    first = [(row["series"], row["value"]) for row in bars if row["end"] == QUARTERS[0].timestamp() * 1000]
    assert first == [("Read only", 10), ("Read for update", 2), ("Inserts", 1), ("Other", 0.5)]
    names = [key[0] for key in charts["logical_io_by_group"]["spec"]["usermeta"]["legend"]]
    assert len(names) == 13
    assert names[-1] == "others"
    runs = {row["run"] for row in charts["cpu_busy"]["spec"]["layer"][0]["data"]["values"]}
    assert runs == {0, 1}, "an hour without figures is a gap"
    pictures = {path.name for path in (tmp_path / "made" / "charts").iterdir()}
    assert pictures == {f"{name}.{ending}" for name in charts for ending in ("png", "svg")}


def test_counts_include_what_a_long_list_leaves_out(stored: StackSettings) -> None:
    """A week later: 1,050 links are capped, 20 are well, 7 not judged; 600 kinds of anomaly are met twice each."""
    ts = QUARTERS[0] + timedelta(days=7)
    states = ["CAPPED"] * 1_050 + ["OK"] * 20 + ["UNKNOWN"] * 7
    met = {"file": "x.csv", "byte_offset": 0, "kept": "all", "detail": "y"}
    with stored.clickhouse("admin") as admin:
        insert(admin, "verdict", *(verdict(ts, of, ts) | {"entity": f"L{n}"} for n, of in enumerate(states)))
        kinds = ((n, line) for n in range(600) for line in (1, 2))
        insert(admin, "quality", *(stamped(ts, **met, reason=f"kind {n}", line=line) for n, line in kinds))
        made = collect(admin, BEGIN + timedelta(days=7), QUARTERS[-1] + timedelta(days=7), [SYSTEM])
    assert (made.spells, made.calm, made.unjudged, made.anomalies) == (1_050, 20, 7, 1_200)
    assert len(made.quality.rows) + made.quality.more == 600
    page = html.unescape(html_of(made))
    assert f"{1_050 - len(made.verdicts)} shorter ones are not shown." in page.replace(",", "")


def test_without_a_range_all_is_reported_in_the_chapters_of_the_operating_system_and_its_counters(
    report: Run, tmp_path: Path
) -> None:
    of_platforms = {"System", "AIX and VIOS", "Linux", "z/OS LPAR"}
    of_counters = {"Logical database I/O & mirror exposure", "Q Replication", "Db2 logging & zHyperLink", "Waits"}
    for system, expected in ((LINUX, {"Linux"}), (SYSTEM, {"System", "Logical database I/O & mirror exposure"})):
        outcome = report("--system", system, "--out", tmp_path, "--no-pictures", "--json")
        assert outcome.exit_code == 0
        summary = json.loads(outcome.stdout)
        assert (summary["page"], summary["pictures"], summary["failed"]) == (str(tmp_path / "report.html"), 0, [])
        assert summary["from"] < summary["to"]
        chapters = set(re.findall(r"<h2[^>]*>(.*?)</h2>", text_of(tmp_path)))
        assert chapters & (of_platforms | of_counters) == expected
    assert "logical_io" in charts_of(tmp_path)


@pytest.mark.parametrize("options", [("--from", "2020-01-01", "--to", "2020-01-02"), ("--system", "NOBODY")])
def test_what_has_no_data_is_refused_and_what_there_is_named(
    options: tuple[str, ...], report: Run, tmp_path: Path
) -> None:
    outcome = report(*options, "--out", tmp_path)
    assert isinstance(outcome.exception, CounterflowError)
    assert outcome.exception.exit_code == 2
    assert "nothing was recorded" in outcome.exception.message
    assert f"{SYSTEM} from 2026-05-04" in str(outcome.exception.hint)
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "2026-05-05", "--to", "2026-05-04"), "--from must be before --to"),
        (("--study", "one"), "needs at least two different runs"),
        ((*RANGE, "--set", "nobody=1"), "--set accepts system"),
        ((*RANGE, "--set", "grouping=users"), "--set grouping accepts generic_job, job, thread, user, subsystem, pool"),
        ((*RANGE, "--set", "grouping"), "--set: expected NAME=VALUE, found `grouping`"),
    ],
)
def test_wrong_options_are_refused(report: Run, arguments: tuple[str, ...], message: str) -> None:
    outcome = report(*arguments)
    assert outcome.exit_code == 2
    assert message in outcome.stderr
