"""`counterflow look --summary` and `look --records` as a person runs them: figures, damaged input, exit status."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.command_line import run
from tests.support.recordings import RECORDINGS

KEYS = [
    *("file", "system", "os", "start", "end", "snapshots", "cpu_pct_avg", "cpu_pct_max", "cpu_base"),
    *("physical_cpu_avg", "physical_cpu_max", "entitled_pct_avg", "disk_read_mb", "disk_written_mb", "disk_rw_ratio"),
    *("top_commands", "quality"),
]


def summary(*arguments: object) -> dict[str, object]:
    done = run("look", "--summary", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_a_linux_recording() -> None:
    """Figures calculated from the file with awk: 60 snapshots, the first of 1 s, MB = sum of KB/s x s / 1024.

    CPU is over the 59 snapshots that have processes.
    """
    figures = summary(RECORDINGS / "linux_16n_full.nmon")
    assert [key for key in KEYS if key not in figures] == []
    assert figures["system"] == "vm"
    assert (figures["start"], figures["end"]) == ("2026-11-21T01:41:18Z", "2026-11-21T01:42:20Z")
    assert figures["snapshots"] == 60
    assert figures["disk_read_mb"] == pytest.approx(5993.74, abs=0.01)
    assert figures["disk_written_mb"] == pytest.approx(7808.63, abs=0.01)
    assert figures["disk_rw_ratio"] == pytest.approx(5993.74 / 7808.63, abs=0.001)
    assert figures["cpu_pct_avg"] == pytest.approx(75.86, abs=0.01)
    assert figures["cpu_base"] == "logical"
    assert figures["physical_cpu_avg"] == pytest.approx(2 * 0.7586, abs=0.001)
    assert figures["entitled_pct_avg"] is None
    assert figures["quality"] == {"recorder_defect": 1}


def test_an_uncapped_partition_is_warned_of_and_shown_on_fixed_bases() -> None:
    """The base of CPU_ALL floats; consumption over entitlement does not: both from the rows of LPAR with processes."""
    path = RECORDINGS / "aix_generated.nmon"
    rows = [line.split(",") for line in path.read_text().splitlines() if line.startswith("LPAR,")]
    header, values = rows[0], [row for row in rows[1:] if row[1].startswith("T")][1:]
    consumed = [float(row[header.index("PhysicalCPU")]) for row in values]
    entitled = [float(row[header.index("entitled")]) for row in values]
    figures = summary(path)
    assert figures["cpu_base"] == "floating"
    assert "floating base" in str(figures["warnings"])
    assert figures["physical_cpu_avg"] == pytest.approx(sum(consumed) / len(consumed), abs=0.002)
    assert figures["physical_cpu_max"] == pytest.approx(max(consumed), abs=0.001)
    shares = [100 * c / e for c, e in zip(consumed, entitled, strict=True)]
    assert figures["entitled_pct_avg"] == pytest.approx(sum(shares) / len(shares), abs=0.2)
    top = figures["top_commands"]
    assert isinstance(top, list)
    assert top[0]["command"] == "db2sysc"
    assert sum(c["cpu_s"] for c in top) < sum(consumed) * 300 * 1.05, "commands used more than the partition did"


def test_a_name_of_a_file_that_is_not_unicode_is_written_out(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/M\xe4rz.nmon"
    Path(os.fsdecode(path)).write_bytes((RECORDINGS / "linux_16n_plain.nmon").read_bytes() + b"ZZZZ,T0099,broken\n")
    name = f"{tmp_path}/M\\udce4rz.nmon"
    assert summary(os.fsdecode(path))["file"] == name
    parsed = run("look", "--records", os.fsdecode(path))
    assert parsed.returncode == 0, parsed.stderr
    rejects = [found for line in parsed.stdout.splitlines() if "reject" in (found := json.loads(line))]
    assert {reject["file"] for reject in rejects} == {name}
    Path(os.fsdecode(path)).write_bytes(b"not a recording")
    refused = run("look", "--records", os.fsdecode(path))
    assert (refused.returncode, refused.stderr.count(name)) == (1, 1)
    assert "Traceback" not in refused.stderr


def test_a_recording_that_has_not_begun_has_no_interval(tmp_path: Path) -> None:
    lines = (RECORDINGS / "linux_16n_plain.nmon").read_text().splitlines(keepends=True)
    path = tmp_path / "begun.nmon"
    path.write_text("".join(line for line in lines if line.startswith("AAA,")))
    done = run("look", "--summary", path)
    assert "no snapshot" in done.stdout
    assert "None" not in done.stdout
