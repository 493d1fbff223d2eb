"""`counterflow study compare` over rows of a real ClickHouse: names are no markup, and an impossible run is refused.

The published tables come out of the files of the studies in tests/e2e/test_studies.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

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
    """Two labelled runs of ten minutes, a day apart, and a configured run without rows."""
    with empty_tables(clickhouse) as admin:
        for day, run, busy_pct in ((0, "plain", 27.2), (1, QUOTED, 69.4)):
            minutes = ({"ts": BEGIN + timedelta(days=day, minutes=minute)} for minute in range(1, 11))
            gcp = {"engine_type": "gcp", "engine": "all", "busy_pct": busy_pct, "logical_engines": 6.0}
            insert(admin, "system_cpu", *minutes, **gcp, system="SYS1", run=run, interval_s=60.0)
        for name, minute in (("begin", 0), ("end", 10)):
            value = (BEGIN + timedelta(days=8, minutes=minute)).isoformat()
            row = {"section": "run", "item": "empty", "name": name, "value": value}
            insert(admin, "config", row, system="NOBODY", ts=BEGIN)
        yield clickhouse


@pytest.fixture
def study(stored: StackSettings, in_environment: None) -> Study:
    return lambda *arguments: CliRunner().invoke(cli, ["study", "compare", *arguments])


def test_names_are_shown_as_they_are(study: Study) -> None:
    answer = study("--baseline", "plain", "--scenario", QUOTED)
    assert answer.exit_code == 0, answer.output
    assert not {"\t", "\x1b"} & set(answer.output)
    assert {"27.2", "69.4"} <= set(answer.output.split())


def test_a_run_without_rows_is_refused(study: Study) -> None:
    answer = study("--baseline", "plain", "--scenario", "empty")
    assert isinstance(answer.exception, CounterflowError)
    assert answer.exception.message == "nothing is recorded of run `empty`, 600 s on NOBODY"
    assert answer.exception.exit_code == 2


@pytest.mark.usefixtures("study")
def test_runs_stand_side_by_side_in_the_report(tmp_path: Path) -> None:
    runs = ("--study", "plain", "--study", QUOTED)
    answer = CliRunner().invoke(cli, ["report", *runs, "--out", str(tmp_path), "--no-pictures"])
    assert answer.exit_code == 0, answer.output
    made = (tmp_path / "report.html").read_text(encoding="utf-8")
    [compared] = re.findall(r'<section id="comparison">(.*?)</section>', made, re.DOTALL)
    for word in ("plain", "SYS1", "27.2", "69.4", "Processors used"):
        assert word in compared, word
    [drawn] = [topic for topic in compared.split("<h3>") if 'class="bar"' in topic]
    assert drawn.index('class="bar"') < drawn.index('class="number"'), "pictures first"
    assert not re.search(r"[a-z]_(pct|ms|mb|per)\b", compared), "names are words"
    assert "\x1b" not in made
