"""`counterflow sql` as people and scripts run it: in a pipe, on a terminal, with mistakes."""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet
import pytest
from mcp import ClientSession

from counterflow.schemas.definition import datasets, envelope
from counterflow.stack.settings import StackSettings
from tests.support.assistant import assistant
from tests.support.command_line import on_terminal, run
from tests.support.tables import empty_tables
from tests.support.waiting import PATIENCE_S

ROWS = 200_000
DISK = datasets()["disk"]
COLUMNS = len({**envelope(DISK.role), **DISK.columns})
FEW = "SELECT * FROM counterflow.disk ORDER BY ts LIMIT 3"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def environment(clickhouse: StackSettings) -> Iterator[dict[str, str]]:
    """The environment in which the command finds an engine with many rows of `disk`."""
    with empty_tables(clickhouse) as admin:
        rows = f"SELECT 'A/B', toDateTime('2026-01-01') + number, 'hdisk' || toString(number), 1.5 FROM numbers({ROWS})"
        admin.post(f"INSERT INTO counterflow.disk (system, ts, disk, busy_pct) {rows}")
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR", "NO_COLOR")}
        places = {"COUNTERFLOW_HOME": str(clickhouse.home), "COUNTERFLOW_PARTS": str(clickhouse.parts)}
        yield kept | places | {"TERM": "xterm"}


@pytest.fixture(scope="module")
def sql(environment: dict[str, str]) -> Run:
    """Run `counterflow sql ARGUMENTS` where standard output is no terminal."""
    ours = {name: value for name, value in environment.items() if name.startswith("COUNTERFLOW_")}
    return lambda *arguments: run("sql", *arguments, **ours)


@pytest.fixture(scope="module")
def terminal(environment: dict[str, str]) -> Callable[..., str]:
    """Run `counterflow sql ARGUMENTS` on a terminal of a width; return what it shows."""

    def shown_by(width: int, *arguments: str, **more: str) -> str:
        text, notes = on_terminal(command(*arguments), width, environment | more)
        assert notes == ""
        return text

    return shown_by


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "counterflow", "sql", *arguments]


def test_a_pipe_gets_every_column_of_every_row_at_once(environment: dict[str, str]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = command("SELECT * FROM counterflow.disk")
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (done.returncode, done.stderr) == (0, "")
    heading, *rows = done.stdout.splitlines()
    assert heading.split("\t")[:3] == ["ts", "interval_s", "system"]
    assert len(rows) == ROWS
    assert {line.count("\t") for line in (heading, *rows)} == {COLUMNS - 1}
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5


def test_each_format_has_every_column(sql: Run) -> None:
    by_tab = [line.split("\t") for line in sql(FEW).stdout.splitlines()]
    assert [line.split("\t") for line in sql(FEW, "--format", "tsv").stdout.splitlines()] == by_tab
    comma = list(csv.reader(io.StringIO(sql(FEW, "--format", "csv").stdout)))
    assert comma == by_tab
    objects = sql(FEW, "--format", "jsonl").stdout
    assert sql(FEW, "--json").stdout == objects
    assert [list(json.loads(line)) for line in objects.splitlines()] == [by_tab[0]] * 3
    assert '"system":"A/B"' in objects
    heading, *rows = sql(FEW, "--format", "table").stdout.splitlines()
    assert heading.split() == by_tab[0]
    assert len(rows) == 3


def test_parquet_has_the_rows_of_a_table_over_a_period(environment: dict[str, str], tmp_path: Path) -> None:
    period = "SELECT * FROM counterflow.disk FINAL WHERE ts >= '2026-01-01' AND ts < '2026-01-01 00:01:00' ORDER BY ts"
    with (tmp_path / "disk.parquet").open("wb") as out:
        subprocess.run(command(period, "--format", "parquet"), env=environment, stdout=out, check=True)
    found = pyarrow.parquet.read_table(tmp_path / "disk.parquet").to_pylist()
    assert [row["disk"] for row in found] == [f"hdisk{number}" for number in range(60)]
    assert {row["busy_pct"] for row in found} == {1.5}


def test_a_stored_query_keeps_its_options_in_each_format(sql: Run) -> None:
    found = sql("busiest_disks", "--system", "A/B", "--from", "2026-01-01 00:00:00")
    assert found.stderr == ""
    assert "disk" in found.stdout.splitlines()[0].split("\t")
    assert sql("busiest_disks", "--to", "2025-12-31 23:59 UTC", "--json").stdout == ""
    assert sql("busiest_disks", "--to", "2025-12-31", "--format", "table").stdout == "no rows\n"
    assert "busiest_disks" in sql().stdout


@pytest.mark.parametrize(
    ("named", "hint"), [("a/b", "did you mean A/B?"), ("x", "the stored question `systems` lists them")]
)
def test_the_nearest_system_is_suggested_for_an_unknown_one(sql: Run, named: str, hint: str) -> None:
    found = sql("busiest_disks", "--system", named)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == f"error: no system is called {named}\nhint: {hint}\n"


@pytest.mark.parametrize("options", [("--system", "lpar1"), ("--from", "2026-05-04"), ("--to", "2026-05-04")])
def test_options_that_a_statement_would_ignore_are_refused(sql: Run, options: tuple[str, str]) -> None:
    refused = sql("SELECT 1", *options)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--system, --from and --to restrict a stored query" in refused.stderr


def test_a_terminal_shows_a_table_that_fits(terminal: Callable[..., str]) -> None:
    query = "SELECT disk, busy_pct, 12345 AS n, NULL AS gone FROM counterflow.disk ORDER BY ts LIMIT 2"
    lines = [line.rstrip() for line in terminal(80, query, NO_COLOR="1").splitlines()]
    assert lines == [
        "disk    busy_pct       n  gone",
        "hdisk0       1.5  12,345  -",
        "hdisk1       1.5  12,345  -",
    ]


def test_a_terminal_shows_a_block_a_row_where_no_table_fits(terminal: Callable[..., str]) -> None:
    shown = terminal(80, FEW, NO_COLOR="1")
    assert "\x1b" not in shown
    blocks = shown.split("row ")
    assert [len(block.splitlines()) for block in blocks] == [0, *[COLUMNS + 1] * 3]
    assert "disk:             hdisk1\n" in blocks[2]
    assert "\x1b" in terminal(80, FEW)


def test_a_terminal_obeys_no_row(terminal: Callable[..., str]) -> None:
    for form in ("table", "csv", "tsv"):
        shown = terminal(80, "SELECT char(27) || '[31mred' AS x", "--format", form, NO_COLOR="1")
        assert "\\x1b[31mred" in shown
        assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("query", "sentence", "near"),
    [
        ("SELECT * FROM counterflow.dsk", "Unknown table expression identifier 'counterflow.dsk'", "counterflow.disk"),
        ("SELECT * FROM link_load", "Unknown table expression identifier 'link_load'", "counterflow.link_load"),
        ("SELECT sytem FROM counterflow.disk", "Unknown expression identifier `sytem`", "system"),
        ("SELECT busy FROM counterflow.disk", "Unknown expression identifier `busy`", "busy_pct"),
        ("SELECT conut() FROM counterflow.disk", "Function with name `conut` does not exist", "count"),
        ("SELECT qwertz FROM counterflow.disk", "Unknown expression identifier `qwertz`", None),
        ("SELECT 1 FORMAT CVS", "Unknown format CVS", "CSV"),
        ("busiest_disk", "no stored query is called busiest_disk", "busiest_disks"),
        ("SELECT *\nFROM numbers(1) WHERE 1 AN 2\nLIMIT 1", "failed at position 34 (AN) (line 2, col 25)", None),
        ("SELECT toInt8('x') FROM counterflow.disk", "Cannot parse string 'x' as Int8", None),
    ],
)
def test_an_error_is_one_sentence_with_the_nearest_name(sql: Run, query: str, sentence: str, near: str | None) -> None:
    done = sql(query)
    assert (done.returncode, done.stdout) == (2, "")
    first, *others = done.stderr.splitlines()
    assert first.startswith("error: ")
    assert sentence in first
    assert others == ([f"hint: did you mean {near}?"] if near else [])
    assert not any(word in done.stderr for word in ("DB::Exception", "version", "scope", "Expected one of"))


@pytest.mark.parametrize("form", ["tsv", "csv", "jsonl", "table"])
def test_an_error_after_the_first_rows_is_reported_and_is_no_row(sql: Run, form: str) -> None:
    late = "SELECT throwIf(number = 900000) AS x, 'a text of some length' AS y FROM numbers(1000000)"
    done = sql(late, "--format", form)
    assert done.returncode == 2
    assert done.stderr == "error: Value passed to 'throwIf' function is non-zero\n"
    assert "xception" not in done.stdout
    assert (done.stdout.count("\n") > 100_000) == (form != "table")


@pytest.mark.parametrize("form", ["tsv", "table"])
def test_a_reader_that_leaves_ends_it_quietly(environment: dict[str, str], form: str) -> None:
    query = f"SELECT * FROM counterflow.disk LIMIT {ROWS if form == 'tsv' else 2000}"
    started = subprocess.Popen(
        command(query, "--format", form), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with started as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().split()[0] == b"ts"
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_notebook_reads_the_running_line(environment: dict[str, str]) -> None:
    script = """
import counterflow as cf
with cf.connect() as line:
    frame = line.sql("SELECT ts, disk, busy_pct, service_ms FROM counterflow.disk ORDER BY ts")
    asked = line.question("busiest_disks", systems=["A/B"])
    print(frame.height, frame.schema["ts"], frame.row(0)[1:], asked.columns[:2])
    for statement in ("SELECT sytem FROM counterflow.disk", "SELECT throwIf(number = 9) FROM numbers(10)"):
        try:
            line.sql(statement)
        except cf.CounterflowError as error:
            print(error, error.hint)
"""
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.stderr == ""
    read, unknown, late = done.stdout.splitlines()
    assert read == f"{ROWS} Datetime(time_unit='ms', time_zone='UTC') ('hdisk0', 1.5, None) ['system', 'disk']"
    assert unknown == "Unknown expression identifier `sytem` did you mean system?"
    assert late.startswith("Value passed to 'throwIf' function is non-zero")


def test_an_assistant_reads_the_running_line_within_the_limits_of_the_reader(environment: dict[str, str]) -> None:
    statements = ["SELECT disk, busy_pct FROM counterflow.disk ORDER BY ts", "SELECT 1 SETTINGS max_execution_time = 0"]

    async def conversation(session: ClientSession) -> list[tuple[bool, str]]:
        called = [await session.call_tool("sql", {"statement": one, "rows": 2}) for one in statements]
        return [(one.isError, one.content[0].text) for one in called]  # type: ignore[union-attr]

    (refused, text), (limited, reason) = assistant(**environment)(conversation)
    assert not refused
    assert json.loads(text)["rows"] == [["hdisk0", 1.5], ["hdisk1", 1.5]]
    assert json.loads(text)["more_rows"]
    assert limited
    assert "max_execution_time" in reason


def test_a_window_of_more_rows_than_a_reader_may_have_is_refused_with_the_way_out(
    environment: dict[str, str], clickhouse: StackSettings
) -> None:
    """An estimate reads every interval of its window, and a reader gets a million rows."""
    mixes = "SELECT 'A', toDateTime('2026-01-01') + number, 60, 'partition', '*', 1 FROM numbers(1_000_001)"
    with clickhouse.clickhouse("admin") as admin:
        admin.post(f"INSERT INTO counterflow.io_mix (system, ts, interval_s, grouping, name, reads) {mixes}")
    ours = {name: value for name, value in environment.items() if name.startswith("COUNTERFLOW_")}
    refused = run("whatif", "mirror", **ours)
    assert refused.returncode == 2
    assert "Limit for result exceeded" in refused.stderr
    assert "hint: choose a shorter period, or fewer systems" in refused.stderr
    within = run("whatif", "mirror", "--from", "2026-01-02", "--to", "2026-01-02T01:00", "--json", **ours)
    assert json.loads(within.stdout)["intervals"] == 3600
