"""The stored questions as files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from counterflow.analysis.queries import StoredQuery, queries
from counterflow.base.errors import CounterflowError


def test_a_new_question_is_one_new_file(tmp_path: Path) -> None:
    (tmp_path / "how_many.sql").write_text("-- How many?\n-- section: Counting\n\nSELECT 1 AS n\n")
    assert queries(tmp_path) == {"how_many": StoredQuery("how_many", "How many?", "Counting", "SELECT 1 AS n")}


@pytest.mark.parametrize(
    "text", ["", "SELECT 1", "-- How many?\nSELECT 1", "-- section: Counting\n-- How many?\nSELECT 1"]
)
def test_a_file_without_question_or_section_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "broken.sql").write_text(text)
    with pytest.raises(CounterflowError, match=r"broken\.sql: expected `-- the question`"):
        queries(tmp_path)


@pytest.mark.parametrize("query", queries().values(), ids=queries())
def test_a_question_keeps_to_the_conventions(query: StoredQuery) -> None:
    assert "?" in query.question
    lines = [line for line in query.sql.splitlines() if not line.lstrip().startswith("--")]
    assert max(map(len, lines)) <= 140
    if query.name != "lost_records":  # a record that was lost has no time
        assert query.parameters.keys() >= {"systems", "since", "until"}, "restrict it by <chosen>"
    assert not re.search(r"<\w+( \w+)?>", query.sql), "only <chosen>, or <chosen d> of the table d, is put in"
    assert "avg(" not in query.sql, "a mean is a sum over a sum"
