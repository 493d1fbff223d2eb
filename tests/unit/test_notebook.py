"""`import counterflow` in a notebook: the figures of the commands, as frames."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

import counterflow as cf
from counterflow.connection import Connection
from counterflow.recordings.database import Database
from tests.support.command_line import run
from tests.support.recordings import RECORDINGS

AIX = RECORDINGS / "aix_generated.nmon"
TEN = datetime(2026, 3, 2, 10)  # noqa: DTZ001 - a time without a zone is UTC
YEARS_LATER = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def figures() -> Iterator[Database]:
    with cf.look(AIX) as found:
        yield found


def test_a_frame_has_the_figures_of_the_recording_with_their_types(figures: Database) -> None:
    """The expected values are those of the lines DISKBUSY; the times are those of the lines ZZZZ, in UTC."""
    lines = [line.split(",") for line in AIX.read_text().splitlines()]
    stamps = {one[1]: f"{one[3]} {one[2]} +0000" for one in lines if one[0] == "ZZZZ"}
    times = {name: datetime.strptime(stamp, "%d-%b-%Y %H:%M:%S %z") for name, stamp in stamps.items()}
    [heading] = [one for one in lines if one[0] == "DISKBUSY" and not one[1].startswith("T")]
    at = heading.index("hdisk8")
    busy = {times[one[1]]: float(one[at]) for one in lines if one[0] == "DISKBUSY" and one[1] in times}
    frame = figures.sql("SELECT ts, busy_pct FROM counterflow.disk WHERE disk = 'hdisk8' ORDER BY ts")
    assert frame.schema == {"ts": pl.Datetime("ms", "UTC"), "busy_pct": pl.Float64}
    assert frame.rows() == sorted(busy.items())


def test_a_null_stays_one(figures: Database) -> None:
    frame = figures.sql("SELECT service_ms FROM counterflow.disk WHERE disk = 'hdisk1' AND busy_pct = 0 LIMIT 1")
    assert frame.rows() == [(None,)]


def test_an_empty_answer_has_its_columns(figures: Database) -> None:
    assert figures.sql("SELECT disk FROM counterflow.disk WHERE 0").schema == {"disk": pl.String}


def test_a_question_is_restricted_to_systems_and_times(figures: Database) -> None:
    by_hour = figures.questions["processors_by_hour"]
    assert by_hour.question.startswith("At which hour of the day (UTC) are the processors busy?")
    assert by_hour.parameters == {
        "systems": "Array(String)",
        "since": "DateTime64(3)",
        "until": "DateTime64(3)",
    }
    whole = figures.question("systems", systems=["aixgen01"])
    assert whole["first_interval_begin"].to_list() == [datetime(2026, 3, 2, 8, tzinfo=UTC)]
    until_ten = figures.question("cpu", until=TEN)
    assert until_ten.rows() != figures.question("cpu").rows()
    assert until_ten.rows() == figures.question("cpu", until=datetime(2026, 3, 2, 10, tzinfo=UTC)).rows()
    assert figures.question("cpu", since=datetime(2027, 1, 1, tzinfo=UTC)).is_empty()


@pytest.mark.parametrize(
    ("ask", "message", "hint"),
    [
        (lambda one: one.question("cpus"), "no stored query is called cpus", "did you mean cpu?"),
        (lambda one: one.question("cpu", systems=["AIXGEN01"]), "no system is called", "did you mean aixgen01?"),
        (lambda one: one.sql("SELECT sytem FROM counterflow.disk"), "Unknown expression", "did you mean system?"),
        (lambda one: one.sql("SELECT 1 FORMAT CSV"), "the statement has FORMAT CSV", "leave FORMAT out"),
        (lambda one: one.sql("DROP TABLE counterflow.disk"), "readonly", ""),
        (lambda one: one.what_changed("aixgen01", YEARS_LATER), "nothing was recorded", "there is aixgen01"),
    ],
)
def test_an_error_has_the_way_out_as_its_note(
    figures: Database, ask: Callable[[Connection], object], message: str, hint: str
) -> None:
    with pytest.raises(cf.CounterflowError, match=message) as refused:
        ask(figures)
    assert hint in "".join(getattr(refused.value, "__notes__", ()))


def test_the_command_line_has_the_same_answers_and_a_report_is_written(tmp_path: Path) -> None:
    with cf.look([AIX], keep=tmp_path / "kept") as figures:
        disks = figures.question("busiest_disks").to_dicts()
        found = [one._asdict() for one in figures.findings]
        written = figures.report(tmp_path / "night", systems=["aixgen01"], until=TEN)
    assert (written.page, written.failed) == (tmp_path / "night/report.html", [])
    assert written.end == datetime(2026, 3, 2, 10, tzinfo=UTC)
    assert "aixgen01" in written.page.read_text()
    with cf.kept(tmp_path / "kept") as again:
        assert again.question("busiest_disks").to_dicts() == disks
    printed = run("sql", "busiest_disks", "--on", str(tmp_path / "kept"), "--json").stdout
    assert [json.loads(line) for line in printed.splitlines()] == disks
    printed = run("look", str(AIX), "--zone", "UTC", "--json").stdout
    assert [json.loads(line) for line in printed.splitlines()] == found


def test_a_file_without_figures_is_a_warning_and_the_next_look_closes_this_one(tmp_path: Path) -> None:
    (tmp_path / "noise.txt").write_text("noise\n")
    with pytest.warns(UserWarning, match=r"noise\.txt"):
        first = cf.look([AIX, tmp_path])
    assert [one.error is None for one in first.reads] == [True, False]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        second = cf.look(str(AIX))
    assert second.question("systems").height == 1
    second.close()


def test_files_without_an_interval_are_refused(tmp_path: Path) -> None:
    (tmp_path / "noise.txt").write_text("noise\n")
    with (
        pytest.warns(UserWarning, match="noise"),
        pytest.raises(cf.CounterflowError, match="no file holds an interval"),
    ):
        cf.look(tmp_path / "noise.txt")


def _python(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout


def test_the_package_alone_loads_no_library() -> None:
    loaded = _python("import sys, counterflow; print(*sys.modules)").split()
    assert not {"polars", "chdb", "httpx", "pydantic", "click"} & {name.partition(".")[0] for name in loaded}


def test_a_missing_library_names_the_extra() -> None:
    script = f"""
import sys
sys.modules["polars"] = None
import counterflow as cf
from counterflow.connection import Connection
from counterflow.recordings.database import Database
with cf.look({str(AIX)!r}) as figures:
    try:
        figures.sql("SELECT 1")
    except cf.CounterflowError as error:
        print(error, error.hint)
"""
    assert _python(script) == "a frame needs polars, which is not installed pip install 'counterflow[notebook]'\n"
