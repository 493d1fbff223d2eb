"""What files lack is reported once for all files of a format, with the option that provides it."""

from __future__ import annotations

import gzip
from datetime import UTC
from pathlib import Path

import pytest
from click.testing import CliRunner

from counterflow.cli.look import command as look
from counterflow.collectors.needs import needed
from tests.golden.cases import golden

NRG = golden("ibmi_tables/dates_in_two_readings").input
NMON = golden("nmon/aix_dedicated").input


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


def test_a_zone_is_needed_where_times_are_local_and_none_was_given(tmp_path: Path) -> None:
    packed = tmp_path / "a.nmon.gz"
    packed.write_bytes(gzip.compress(NMON))
    assert [need.option for need in needed([packed], None, None, None)] == ["--zone"]
    assert needed([packed], UTC, None, None) == []


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04cut"])
def test_what_is_no_format_lacks_nothing(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    assert needed([file, tmp_path / "absent"], None, None, None) == []


def test_an_order_of_dates_that_the_rest_of_a_long_file_proves_is_not_needed(tmp_path: Path) -> None:
    row = NRG.splitlines(keepends=True)[1]
    file = tmp_path / "long.csv"
    file.write_bytes(NRG + row * 1000 + row.replace(b"12/07", b"13/07"))
    assert needed([file], UTC, "SYSA", None) == []


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (("--date-order", "mdy"), '"ts":"2026-05-09T18:50:00Z"'),
        (("--date-order", "dmy"), '"ts":"2026-09-05T18:50:00Z"'),
        ((), "--date-order"),
    ],
)
def test_a_date_in_two_readings_is_refused_until_its_order_is_given(
    tmp_path: Path, options: tuple[str, ...], shown: str
) -> None:
    screen = golden("wrkdsksts/date_in_two_readings").written(tmp_path)
    result = CliRunner().invoke(look, ["--records", str(screen), *options])
    assert (result.exit_code, shown in result.output) == (0 if options else 1, True)
