"""The demo as its first user sees it: what it prints, its audit, what the boards show of it, and its report."""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.cli._scraped import PROGRAM
from counterflow.pipelines.audit.results import audited
from counterflow.pipelines.landing.rollups import refresh
from counterflow.simulate import START, cases
from counterflow.stack.settings import StackSettings
from tests.e2e.conftest import Run
from tests.support.board_check import check
from tests.support.browser import browser
from tests.support.ports import is_free
from tests.support.waiting import PATIENCE_S

Demo = subprocess.CompletedProcess[str]
STORIES = ("end-of-day-story", "batch-night", "sriov-story", "log-ceiling-story", "q-replication", "nvme-story")


@pytest.fixture(scope="module")
def outcome(demo: Demo) -> dict[str, Any]:
    assert demo.returncode == 0, demo.stderr
    return dict(json.loads(demo.stdout))


def test_the_demo_loses_nothing(outcome: dict[str, Any]) -> None:
    details = {"results", "answers", "report", "stories", "scraped"}
    expected = {"published", "landed", "deadletter", "lost", "repeated", *details}
    assert outcome.keys() == expected
    assert outcome["lost"] == 0
    assert outcome["landed"] + outcome["deadletter"] == outcome["published"] > 30_000
    assert all(rows > 0 for rows in outcome["results"].values())
    assert all(outcome["results"][name] > 100 for name in ("io_mix", "link_load", "verdict"))
    assert outcome["results"]["log_load"] == 29


def test_the_demo_scrapes_a_node_exporter_and_leaves_none(demo: Demo, outcome: dict[str, Any]) -> None:
    assert shutil.which(PROGRAM), "these tests run node_exporter: make node_exporter"
    assert outcome["scraped"]["landed"] > 1_000
    assert outcome["scraped"]["lost"] == 0
    [port] = re.findall(r"node_exporter of this machine at 127\.0\.0\.1:(\d+)", demo.stderr)
    assert is_free(int(port)), "node_exporter still runs"
    assert f"{platform.node()}  core" in re.sub(" +", "  ", demo.stderr)


def test_the_last_lines_lead_to_the_stories_with_their_times(demo: Demo, outcome: dict[str, Any]) -> None:
    stories = {story["case"]: story for story in outcome["stories"]}
    assert stories.keys() == {*STORIES}
    for case, story in stories.items():
        begin, end = (datetime.fromisoformat(story[at]) for at in ("begin", "end"))
        assert START <= begin < end < START + timedelta(days=1)
        assert f"{case}, {begin:%Y-%m-%d %H:%M} to {end:%H:%M} UTC: " in demo.stderr


def test_the_demo_answers_questions(demo: Demo) -> None:
    assert "busy_pct" in demo.stderr
    assert "java" in demo.stderr
    story = re.findall(r"(OK|CAPPED|DEMAND_LIMITED) +(?:OK|CAPPED|DEMAND_LIMITED) +(\d+)", demo.stderr)
    states = [("OK", "6"), ("OK", "6"), ("CAPPED", "6"), ("DEMAND_LIMITED", "12")]
    assert story == states, "those of the group, and not again of its only link"
    story = re.findall(r"(OK|CRITICAL|PATH_DEGRADED) +(zhpf|zhl) .* (0\.\d+) +0\.\d+ *\n", demo.stderr)
    assert [row[:2] for row in story] == [
        ("OK", "zhpf"),
        ("CRITICAL", "zhpf"),
        ("OK", "zhl"),
        ("PATH_DEGRADED", "zhl"),
    ]
    assert float(story[2][2]) < float(story[1][2]), "an account costs less over zHyperLink"


@pytest.mark.usefixtures("outcome")
def test_after_the_demo_nothing_is_lost_or_wrong(counterflow: Run) -> None:
    """The audit: every record arrived once, and every result follows from its counters."""
    end = time.monotonic() + PATIENCE_S
    while True:
        run = counterflow("audit", "--from", "2026-03-02", "--to", "2026-03-03", "--json")
        report: dict[str, Any] = json.loads(run.stdout)
        if not report["results_pending"] or time.monotonic() > end:
            break
    assert run.returncode == 0, run.stdout
    assert (report["lost"], report["pending"]) == (0, 0)
    assert report["acked"] == report["landed"] + report["deadletter"] > 30_000
    assert (report["results_wrong"], report["results_pending"]) == (0, 0)
    assert report["sample_missing"] == 0
    assert 0 < report["sample_rows"] == sum(one["stored"] for one in report["sample"])
    checked = {result["dataset"]: result["checked"] for result in report["results"]}
    assert checked.keys() == audited().keys()
    assert all(checked.values()), checked
    assert report["results_checked"] == sum(checked.values())
    of_nothing = counterflow("audit", "--from", "2001-01-01", "--to", "2001-01-02")
    assert "None was checked: no result is computed from counters of this period." in of_nothing.stdout


@pytest.mark.usefixtures("outcome")
def test_no_panel_is_empty(stack: StackSettings, reader: ClickHouse) -> None:
    with stack.clickhouse("lander") as lander:
        refresh(lander)  # the sums by hour, which a lander computes half a minute after rows landed
    findings = check(reader)
    assert [(found.name, found.problems) for found in findings if found.state != "ok"] == []
    assert sum(found.thing == "panel" for found in findings) > 80


def test_the_report_opens_and_shows_every_story(demo: Demo, outcome: dict[str, Any], tmp_path: Path) -> None:
    report = Path(outcome["report"])
    assert report.as_uri() in demo.stderr
    with browser(tmp_path) as page:
        page.open(report, until="document.documentElement?.dataset.drawn")
        assert page.errors == []
        text = page.evaluate("document.body.innerText")
        undrawn = page.evaluate("[...document.querySelectorAll('.drawing:not([data-drawn=yes])')].length")
    assert undrawn == 0
    assert [story for story in STORIES if cases()[story].title not in text] == []
    assert "generated, not a real system" in text
    assert [state for state in ("capped", "at its ceiling", "path degraded") if state not in text] == []
