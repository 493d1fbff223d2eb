"""`counterflow mcp` as an assistant uses it: the client of the SDK over standard input and output, against files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession
from mcp.types import Tool

from counterflow.analysis.queries import queries
from counterflow.connection.answered import expression, unit_of
from tests.support.assistant import assistant
from tests.support.command_line import run
from tests.support.recordings import RECORDINGS

AIX = RECORDINGS / "aix_generated.nmon"
DISKS = "SELECT disk, busy_pct, service_ms FROM counterflow.disk WHERE disk = 'hdisk1' AND busy_pct = 0"


class Told:
    """What the tools of one conversation about the recording are, and what each call returned."""

    CALLS: Sequence[tuple[str, dict[str, Any]]] = (
        ("busiest_disks", {"systems": ["aixgen01"], "rows": 2}),
        ("cpu", {"until": "2026-03-02T10:00:00Z"}),
        ("sql", {"statement": DISKS, "rows": 1}),
        ("doctor", {"systems": ["aixgen01"]}),
        ("what_changed", {"system": "aixgen01", "at": "2026-03-02T10:00:00"}),
    )
    REFUSED: Sequence[tuple[str, dict[str, Any], str]] = (
        ("cpu", {"systems": ["AIXGEN01"]}, "did you mean aixgen01?"),
        ("cpu", {"since": "at noon"}, "valid datetime"),
        ("sql", {"statement": "SELECT sytem FROM counterflow.disk"}, "did you mean system?"),
        ("sql", {"statement": "DROP TABLE counterflow.disk"}, "give one SELECT"),
        ("sql", {"statement": "SELECT 1; SELECT 2"}, "Multi-statements are not allowed"),
        ("sql", {"statement": "SELECT file('/etc/hostname')"}, "give one SELECT"),
        ("sql", {"statement": "SELECT 1 INTO /* a file */ OUTFILE '/tmp/x'"}, "give one SELECT"),
        ("sql", {"statement": "SELECT * FROM file('/etc/hostname', 'LineAsString')"}, "give one SELECT"),
        ("sql", {"statement": "SELECT * FROM url('http://127.0.0.1:9', 'LineAsString')"}, "readonly"),
        ("sql", {"statement": "SELECT 1 SETTINGS max_execution_time = 0"}, "readonly"),
        ("sql", {"statement": "SELECT * FROM counterflow.disk", "rows": 1_001}, "less than or equal to 1000"),
        ("what_changed", {"system": "aixgen01"}, "give either `at` or `rule`"),
        ("what_changed", {"system": "aixgen01", "rule": "no"}, "there is log_ceiling, roce_cap"),
    )

    def __init__(self) -> None:
        self.tools: dict[str, Tool] = {}
        self.answers: dict[str, Any] = {}
        self.refusals: list[tuple[bool, str]] = []
        assistant(str(AIX), "--zone", "UTC")(self._converse)

    async def _converse(self, session: ClientSession) -> None:
        self.tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        for name, arguments in self.CALLS:
            called = await session.call_tool(name, arguments)
            assert not called.isError, called.content
            self.answers[name] = json.loads(called.content[0].text)  # type: ignore[union-attr]
        for name, arguments, _ in self.REFUSED:
            called = await session.call_tool(name, arguments)
            self.refusals.append((bool(called.isError), called.content[0].text))  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def told() -> Told:
    return Told()


def test_each_stored_question_is_a_tool_with_typed_parameters(told: Told) -> None:
    assert told.tools.keys() == {*queries(), "doctor", "what_changed", "sql"}
    assert told.tools["cpu"].description == queries()["cpu"].question
    parameters = told.tools["cpu"].inputSchema["properties"]
    assert parameters["systems"]["items"] == {"type": "string"}
    assert {"format": "date-time", "type": "string"} in parameters["since"]["anyOf"]
    assert {one.annotations.readOnlyHint for one in told.tools.values() if one.annotations} == {True}


def test_a_question_is_answered_as_the_command_answers_it(told: Told, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept")
    run("look", str(AIX), "--zone", "UTC", "--keep", kept)
    printed = run("sql", "busiest_disks", "--system", "aixgen01", "--on", kept, "--json").stdout.splitlines()
    answer = told.answers["busiest_disks"]
    names = [column["name"] for column in answer["columns"]]
    assert [dict(zip(names, row, strict=True)) for row in answer["rows"]] == list(map(json.loads, printed[:2]))
    assert answer["more_rows"] == (len(printed) > 2)
    assert (answer["question"], answer["sql"]) == (queries()["busiest_disks"].question, queries()["busiest_disks"].sql)
    assert answer["completeness"] == {"complete": True, "provisional_results": [], "data_gaps": []}


def test_a_column_has_its_formula_its_unit_and_the_reasons_of_its_nulls(told: Told) -> None:
    """hdisk1 made no transfer while it was idle, so AIX states no service time."""
    answer = told.answers["sql"]
    assert answer["rows"] == [["hdisk1", 0, None]]
    disk, busy, service = answer["columns"]
    assert (disk["unit"], busy["unit"], service["unit"]) == (None, "%", "ms")
    assert (service["nulls"], service["null_when"]) == (1, {"disk.service_ms": "not reported"})
    assert {one["column"] for one in answer["inputs"]} == {"disk", "busy_pct", "service_ms"}
    [average] = [one for one in told.answers["cpu"]["columns"] if one["name"] == "cpu_pct_avg"]
    assert average["formula"].startswith("round(sum(busy_pct * interval_s)")
    assert average["unit"] == "%"


def test_doctor_and_what_changed_answer_with_their_reasons(told: Told) -> None:
    [capped] = [one for one in told.answers["doctor"]["answers"] if one["subject"] == "roce_cap"]
    assert (capped["status"], capped["why"]) == ("unknown", "no link that the rule judges arrives")
    assert capped["remedy"].startswith("collect one of")
    changed = told.answers["what_changed"]
    assert changed["period"]["begin"] == "2026-03-02T10:00:00Z"
    assert changed["changes"]
    assert {one["subject"] for one in changed["changes"]} == changed["sql"].keys()


@pytest.mark.parametrize("place", range(len(Told.REFUSED)), ids=[f"{one[0]} {one[1]}" for one in Told.REFUSED])
def test_a_refusal_names_the_way_out(told: Told, place: int) -> None:
    is_error, text = told.refusals[place]
    assert is_error
    assert Told.REFUSED[place][2] in text
    assert "Traceback" not in text


def test_without_files_it_needs_a_running_line_or_a_folder(tmp_path: Path) -> None:
    home = {"COUNTERFLOW_HOME": str(tmp_path / "none")}
    assert "no stack is running" in run("mcp", **home).stderr
    assert "standard input is the assistant's" in run("mcp", "-", **home).stderr


@pytest.mark.parametrize(
    ("statement", "name", "expected"),
    [
        ("SELECT a, b AS c FROM t", "c", "b"),
        ("SELECT round(max(greatest(a, b)), 1) AS c, d AS e FROM t", "c", "round(max(greatest(a, b)), 1)"),
        ("SELECT x AS c FROM (SELECT y AS c FROM t)", "c", "x"),
        ("SELECT DISTINCT f(a) AS `c` FROM t", "c", "f(a)"),
        ("SELECT a FROM t", "c", None),
    ],
)
def test_the_formula_of_a_column_is_the_expression_before_its_name(
    statement: str, name: str, expected: str | None
) -> None:
    assert expression(statement, name) == expected


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("cpu_pct_avg", "%"),
        ("service_ms", "ms"),
        ("rate_mb_s", "MB/s"),
        ("interval_s", "s"),
        ("used_mb", None),
        ("x", None),
    ],
)
def test_a_unit_is_stated_where_the_end_of_a_name_has_only_one(name: str, unit: str | None) -> None:
    """`mb` is of 1,000,000 bytes in one column and of 1,048,576 in others."""
    assert unit_of(name) == unit
