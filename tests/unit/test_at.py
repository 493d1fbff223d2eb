"""Input without a time is read with the time that is given; without one the reject names the option."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner

from counterflow.cli import cli
from counterflow.collectors.needs import needed
from counterflow.collectors.reading import read_file
from counterflow.collectors.records import Record, Reject
from tests.golden.cases import golden

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("case", "ts"),
    [
        ("db2_display_log/no_time", "2026-03-02T07:00:00Z"),
        ("zhl_write_stats/no_time", "2026-03-02T07:00:00Z"),
        ("omegamon_log_activity/no_time", "2026-03-02T07:00:00Z"),
        ("hmc_lshwres/no_time", "2026-03-02T07:00:00Z"),
        ("wrkdsksts/display_without_its_head", "2026-03-02T07:00:00Z"),
        ("ycsb/summary_alone", "2026-03-02T07:00:10Z"),  # its run takes 10 s
    ],
)
def test_input_without_a_time_has_the_time_that_is_given(case: str, ts: str, tmp_path: Path) -> None:
    file = golden(case).written(tmp_path)
    without = list(read_file(file, BERLIN, "SYS1"))
    assert not [item for item in without if isinstance(item, Record)]
    assert [item for item in without if isinstance(item, Reject) and "--at" in item.detail]
    assert [need.option for need in needed([file], BERLIN, "SYS1", None)] == ["--at"]
    items = read_file(file, BERLIN, "SYS1", at=datetime(2026, 3, 2, 8))  # noqa: DTZ001 - local by design
    records = [item for item in items if isinstance(item, Record)]
    assert {record.fields["ts"] for record in records if record.dataset != "config"} == {ts}


def test_the_time_that_is_given_may_have_milliseconds(tmp_path: Path) -> None:
    capture = tmp_path / "wrkdsksts.txt"
    row = "   1  4327   70564   52.3   14.2     8.5    9.1    5.1    7.2   10.8     3\n"
    capture.write_text("".join(f"Elapsed time:   00:{m}:00   System name: SYSA\n{row}" for m in ("05", "10")))
    found = CliRunner().invoke(
        cli, ["look", "--records", str(capture), "--zone", "UTC", "--at", "2026-03-02 08:00:00.250"]
    )
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    assert [row["ts"] for row in rows if "busy_pct" in row] == ["2026-03-02T08:00:00.250Z"]
    assert "repeated_block" in found.output


def test_a_time_with_an_offset_is_not_of_the_zone(tmp_path: Path) -> None:
    file = golden("db2_display_log/no_time").written(tmp_path)
    items = read_file(file, BERLIN, "SYS1", at=datetime(2026, 3, 2, 8, tzinfo=UTC))
    assert next(item.fields["ts"] for item in items if isinstance(item, Record)) == "2026-03-02T08:00:00Z"


def test_a_monitor_time_as_a_spreadsheet_shows_it_needs_the_order_alone(tmp_path: Path) -> None:
    rows = golden("qrep_monitor/applymon_luw").input.decode()
    file = tmp_path / "applymon.csv"
    file.write_text(rows.replace("2025-11-21-", "11/2/2025 ").replace("2025-11-20-", "11/1/2025 "))
    assert [need.option for need in needed([file], UTC, "TGT", None)] == ["--date-order"]
    found = [item.fields["ts"] for item in read_file(file, UTC, "TGT", "mdy") if isinstance(item, Record)]
    assert found
    assert all(ts.startswith("2025-11-02T") for ts in found)
