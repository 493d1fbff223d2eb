"""What files lack is reported once for all files of a format, with the option that provides it."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner

from counterflow.cli import cli
from counterflow.collectors.formats.nmon.parser import Parser
from counterflow.collectors.needs import needed
from counterflow.collectors.reading import HEAD_BYTES
from counterflow.collectors.records import Record, Reject
from counterflow.collectors.text.lines import Line
from counterflow.collectors.text.stamps import AssumedZone
from tests.golden.cases import golden
from tests.support.reading import read_file

NRG = golden("ibmi_tables/dates_in_two_readings").input
NMON = golden("nmon/aix_dedicated").input
LONG = golden("sysstat/clock_falls_back").input.rstrip()[:-1] + b" " * HEAD_BYTES + b"}"


def test_each_option_is_named_once_for_all_files_of_a_format(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.csv" for number in range(20)]
    for file in files:
        file.write_bytes(NRG)
    (found,) = needed(files, UTC, None, None)
    assert (found.option, found.format, found.files, found.example) == ("--system", "ibmi_tables", 20, files[0])
    (found,) = needed(files, UTC, "SYSA", None)
    assert found.option == "--date-order"
    assert "and 19 more files" in str(found)
    assert needed(files, UTC, "SYSA", "dmy") == []


@pytest.mark.parametrize("content", [NMON, LONG], ids=["nmon", "sysstat"])
def test_a_zone_is_needed_where_times_are_local_and_none_was_given(content: bytes, tmp_path: Path) -> None:
    packed = tmp_path / "a.gz"
    packed.write_bytes(gzip.compress(content))
    assert [need.option for need in needed([packed], AssumedZone("UTC"), None, None)] == ["--zone"]
    assert needed([packed], UTC, None, None) == []


@pytest.mark.parametrize(("given", "noted"), [((), 2), (("--zone", "UTC"), 0)])
def test_look_names_the_formats_that_it_read_in_a_zone_that_nobody_named(
    given: tuple[str, ...], noted: int, tmp_path: Path
) -> None:
    for name in ("a.nmon", "b.nmon"):
        (tmp_path / name).write_bytes(NMON)
    for case in ("all_activities", "zone_of_recent_versions_and_parts_of_user"):  # in UTC; then, in local time
        (tmp_path / f"{case}.json").write_bytes(golden(f"sysstat/{case}").input)
    notes = CliRunner().invoke(cli, ["look", str(tmp_path), *given]).stderr.splitlines()
    expected = [f"{tmp_path}/a.nmon and 1 more file (nmon)", f"{tmp_path}/{case}.json (sysstat)"]
    assert [note.partition(": times are local")[0] for note in notes] == [f"note: {one}" for one in expected[:noted]]


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04cut"])
def test_what_is_no_format_lacks_nothing(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    assert needed([file, tmp_path / "absent"], AssumedZone("UTC"), None, None) == []


def test_an_order_of_dates_that_the_rest_of_a_long_file_proves_is_not_needed(tmp_path: Path) -> None:
    row = NRG.splitlines(keepends=True)[1]
    file = tmp_path / "long.csv"
    file.write_bytes(NRG + row * 1000 + row.replace(b"12/07", b"13/07"))
    assert needed([file], UTC, "SYSA", None) == []


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


@pytest.mark.parametrize("options", [("--summary",), ()], ids=["summary", "findings"])
def test_a_format_that_fails_stops_its_file_only(
    options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(self: Parser, line: Line) -> None:
        raise ZeroDivisionError(line.number)

    monkeypatch.setattr(Parser, "feed", fail)
    failing, other = tmp_path / "a.nmon", tmp_path / "b.json"
    failing.write_bytes(NMON)
    other.write_bytes(golden("sysstat/clock_falls_back").input)
    done = CliRunner().invoke(cli, ["look", *options, "--json", "--zone", "UTC", str(failing), str(other)])
    assert (done.exit_code, done.stderr) == (1, f"error: {failing}: the format nmon failed: ZeroDivisionError(1)\n")
    assert done.stdout
