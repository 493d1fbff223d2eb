"""`culprit` on a kept recording: a time in which nothing was recorded is refused."""

from __future__ import annotations

from pathlib import Path

from tests.unit.test_look import LINUX, counterflow


def test_a_time_without_records_before_or_in_question_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vm.nmon").write_bytes(LINUX)
    assert counterflow("look", "vm.nmon", "--zone", "UTC", "--keep", "kept", folder=tmp_path).returncode == 0
    begun = "2026-11-21T01:41:18"  # the beginning of the first interval, which ends a second later
    there = "hint: there is vm from 2026-11-21 01:41:18 to 2026-11-21 01:41:48\n"
    for begin, end, empty in (
        (begun, "2026-11-21T01:41:30", "2026-11-21 00:41:18 to 2026-11-21 01:41:18"),
        ("2027-01-01", "2027-01-02", "2027-01-01 00:00:00 to 2027-01-02 00:00:00"),
    ):
        done = counterflow("culprit", "vm", "--on", "kept", "--from", begin, "--to", end, folder=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"error: nothing was recorded of vm from {empty} UTC\n{there}"
    times = ("--from", "2026-11-21T01:41:30", "--to", "2026-11-21T01:41:40")
    assert counterflow("culprit", "vm", "--on", "kept", *times, folder=tmp_path).returncode == 0
