"""A recording that the real nmon writes now, read while it grows and when it is done."""

from __future__ import annotations

import subprocess
import time
from datetime import UTC
from pathlib import Path

from counterflow.collectors.formats.nmon import FORMAT
from counterflow.collectors.records import Context, Item, Position, Reason, Record, Reject, singly
from tests.support.waiting import PATIENCE_S

SNAPSHOTS = 4


def test_a_recording_of_this_machine(tmp_path: Path) -> None:
    path = tmp_path / "now.nmon"
    # -p prints the process id; nmon records in the background
    command = ["nmon", "-F", str(path), "-T", "-s", "1", "-c", str(SNAPSHOTS), "-p"]
    pid = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    grown: list[Item] = []
    position: Position | None = None
    deadline = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.3)
        if path.exists():
            found = _read(path, position, complete=False)
            grown += found
            position = next((item for item in reversed(found) if isinstance(item, Position)), position)
    assert not Path(f"/proc/{pid}").exists()
    assert any(isinstance(item, Record) and item.dataset == "manifest" for item in grown), "nothing while it grew"
    grown += _read(path, position, complete=True)
    assert _without_positions(grown) == _without_positions(_read(path, None, complete=True))
    cpu = [
        i.fields for i in grown if isinstance(i, Record) and i.dataset == "system_cpu" and i.fields["engine"] == "all"
    ]
    assert len(cpu) == SNAPSHOTS
    assert {item.reason for item in grown if isinstance(item, Reject)} <= {
        Reason.RECORDER_DEFECT,
        Reason.NEGATIVE_DELTA,
    }


def _read(path: Path, position: Position | None, *, complete: bool) -> list[Item]:
    with path.open("rb") as stream:
        return list(singly(FORMAT.parse(stream, Context(str(path), UTC, complete=complete), position)))


def _without_positions(items: list[Item]) -> list[Item]:
    return [item for item in items if not isinstance(item, Position)]
