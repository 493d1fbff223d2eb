"""Names come from data: whatever prints them, none is obeyed. Charts, Markdown, CSV and labels have their own tests."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner
from rich.console import Console

from counterflow.analysis.answer import Answer
from counterflow.base.errors import CounterflowError
from counterflow.cli import main
from counterflow.cli._table import table
from counterflow.cli.doctor import command as doctor
from counterflow.cli.look import command as look
from counterflow.connection import Connection
from tests.support.hostile import NAMES

OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
NMON = "AAA,progname,nmon\nAAA,version,16n\nAAA,host,{name}\nAAA,interval,1\nAAA,time,08:00.00\nAAA,date,01-SEP-2026\n"


@pytest.mark.parametrize("name", NAMES)
def test_a_terminal_obeys_no_name(name: str, tmp_path: Path) -> None:
    out = io.StringIO()
    Console(file=out, width=300, force_terminal=True, color_system=None).print(table([{name: name}], name))
    assert not OBEYED.search(out.getvalue())
    assert "[red]" not in name or "[red]markup[/red]" in out.getvalue()
    recording = tmp_path / "host.nmon"
    recording.write_text(NMON.format(name=name))
    shown = CliRunner().invoke(look, ["--summary", str(recording)])
    assert shown.exit_code == 1, "a header without data is no recording"
    assert not OBEYED.search(shown.output)
    missing = CliRunner().invoke(look, ["--summary", str(tmp_path / name)])
    assert "No such file" in missing.output
    assert not OBEYED.search(missing.output)


@pytest.mark.parametrize("name", NAMES)
def test_a_terminal_obeys_no_name_that_the_doctor_reports(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, why, advice = datetime.now(UTC), f"no bytes of {name}", f"add {name}"
    verdict, kpi = ("verdict", name, "roce_cap", name), ("kpi", name, "link_load", None)
    unknown, stopped = {"input": "unknown", "affects": (name,)}, {"input": "stopped", "newest": now}
    found = [
        Answer(*verdict, "unknown", True, None, why, None, advice, details=unknown),
        Answer(*kpi, "warn", True, None, why, None, advice, details=stopped),
    ]
    monkeypatch.setattr("counterflow.analysis.doctor.examine", lambda *_: found)
    monkeypatch.setattr("counterflow.cli.doctor.connection", lambda: Connection(lambda: cast(Any, None), grows=False))
    shown = CliRunner().invoke(doctor, ["--on", str(tmp_path)])
    assert shown.exit_code == 1, shown.output
    assert not OBEYED.search(shown.output)
    begins = ("System ", "unknown ", "warn ", "  ", "1 system")
    assert [line for line in shown.output.splitlines() if line and not line.startswith(begins)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_terminal_obeys_no_name_in_an_error(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise CounterflowError(f"{name} is not there", hint=f"remove {name}")

    monkeypatch.setattr("counterflow.cli.cli", fail)
    with pytest.raises(SystemExit):
        main()
    message = capsys.readouterr().err
    assert message.startswith("error: ")
    assert not OBEYED.search(message)
