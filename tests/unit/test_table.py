"""Tables on the terminal: whatever its width, no column and no word of a cell is left out."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from counterflow.cli._table import show, table

AGENT = {
    "agent_id": "demo-2ff505ae",
    "first_seq": 1,
    "acked_seq": 42_601,
    "acked": 42_601,
    "landed": 42_600,
    "deadletter": 1,
    "pending": 0,
    "lost": 0,
    "repeated": 7,
}
PART = {"part": "taskmanager", "port": "19092\n19093", "RSS MiB": 1_065, "detail": "3 of 16 slots free since the start"}


@pytest.mark.parametrize("width", [40, 60, 80, 160])
@pytest.mark.parametrize("row", [AGENT, PART], ids=["numbers", "texts"])
def test_every_column_is_there_at_any_width(row: dict[str, object], width: int) -> None:
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=True, color_system=None).print(table([row], "Title"))
    shown = out.getvalue()
    words = [
        word for value in row.values() for word in (f"{value:,}" if isinstance(value, int) else str(value)).split()
    ]
    assert [word for word in [*row, *words] if word not in shown] == []
    assert all(len(line.rstrip()) <= width for line in shown.splitlines())


def test_a_name_that_is_longer_than_the_terminal_is_shown_whole() -> None:
    out = io.StringIO()
    show(Console(file=out, width=80, force_terminal=True, color_system=None), ["system", "mb"], [["x" * 300, 1]])
    assert out.getvalue().count("x") == 300
