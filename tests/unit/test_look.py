"""What `look` and `doctor SYSTEM` report of files: damaged, unreadable or no recordings, and of a kept recording."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from counterflow.analysis.answer import Answer
from tests.golden.cases import golden
from tests.support.command_line import run
from tests.support.recordings import RECORDINGS
from tests.support.waiting import PATIENCE_S

LINUX = (RECORDINGS / "linux_16n_plain.nmon").read_bytes()
DAY = golden("sysstat/all_activities").input
ALONE = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
"""What runs a command without the rights of root over files."""


def counterflow(*arguments: object, folder: Path, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    """Run a command in a folder."""
    with contextlib.chdir(folder):
        return run(*map(str, arguments), stdin=stdin, COUNTERFLOW_HOME=str(folder / "no-home"), NO_COLOR="1")


def without_rights(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, in a process without the rights of root over files."""
    command = [*ALONE, sys.executable, "-m", "counterflow", *arguments]
    environment = {**os.environ, "COUNTERFLOW_HOME": str(folder / "no-home"), "NO_COLOR": "1"}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=folder
    )


def of_data(*arguments: object, folder: Path, stdin: bytes = b"") -> list[dict[str, Any]]:
    """Return the findings of `look` about refused data."""
    done = counterflow("look", *arguments, "--zone", "UTC", "--json", folder=folder, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return [one for one in map(json.loads, done.stdout.splitlines()) if one["name"] == "data"]


@pytest.mark.parametrize(
    ("content", "system", "begins", "finding"),
    [
        (DAY + DAY[:600], "appsrv01", "2026-03-02 00:10:01", "data: cut file 1 time, first in in:32: "),
        (
            LINUX.replace(b"\n", b"\n" + b"garbage\n" * 20_000, 1),
            "vm",
            "2026-11-21 01:41:19",
            "data: unknown line 20000 times, first in in:2: ",
        ),
    ],
    ids=["a day cut behind a whole one", "more lines than wait in memory"],
)
def test_refused_data_that_names_no_system_is_to_watch_for_that_of_its_file(
    content: bytes, system: str, begins: str, finding: str, tmp_path: Path
) -> None:
    """Its time is that of the first interval of the file: of the only one of sadf, of T0001 of nmon."""
    (tmp_path / "in").write_bytes(content)
    [found] = of_data("in", folder=tmp_path)
    assert (found["system"], found["severity"], found["at"]) == (system, "watch", f"{begins}.000")
    assert found["finding"].startswith(finding)


def test_refused_data_of_a_file_of_two_systems_counts_for_neither(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(DAY + DAY.replace(b"appsrv01", b"appsrv02") + DAY[:600])
    [found] = of_data("in", folder=tmp_path)
    assert (found["system"], found["severity"]) == ("unknown", "watch")


def test_repaired_text_has_the_time_of_the_recording_and_counts_once_however_often_it_is_looked_at(
    tmp_path: Path,
) -> None:
    """`AAA,host` is line 7; the file on standard input has no path."""
    text = LINUX.replace(b"AAA,host,vm", b"AAA,host,m\xfcnchen")
    for _ in range(2):
        [found] = of_data("-", "--keep", "kept", folder=tmp_path, stdin=text)
        assert (found["system"], found["at"]) == ("münchen", "2026-11-21 01:41:19.000")
        assert found["finding"].startswith("data: wrong encoding 1 time, first in standard input:7: ")
    assert not json.loads((tmp_path / "kept/files.json").read_bytes())["files"]


def test_a_copy_of_a_file_adds_no_refused_data(tmp_path: Path) -> None:
    """Its records count once, too. A second row of memory in T0001 is refused in each of the two files."""
    row = next(line for line in LINUX.splitlines(keepends=True) if line.startswith(b"MEM,T0001,"))
    for name in ("a.nmon", "b.nmon"):
        (tmp_path / name).write_bytes(LINUX.replace(row, row * 2))
    [found] = of_data("a.nmon", "b.nmon", folder=tmp_path)
    assert found["finding"].startswith("data: duplicate row 1 time, first in a.nmon:")


def test_what_an_agent_refused_without_a_time_has_none(tmp_path: Path) -> None:
    """Such a row has the time at which it was read."""
    at = "'2026-03-02 08:00:00'"
    row = f"{at}, {at}, 'SYSA', 'agent', 'edge', 1, 'in', 7, 0, 'cut_line', 'none', 'cut'"
    names = "ts, collected_at, system, source, agent_id, seq, file, line, byte_offset, reason, kept, detail"
    script = f"""
import sys
from pathlib import Path
from counterflow.recordings.database import Database
with Database(Path(sys.argv[1])) as made:
    made.client.post("INSERT INTO counterflow.quality ({names}) VALUES ({row})")
    [found] = made.findings
    print([found.system, found.severity, found.at])
"""
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "kept"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stdout == "['SYSA', 'watch', None]\n", done.stderr


@pytest.mark.skipif(bool(ALONE) and shutil.which("setpriv") is None, reason="root reads every folder; needs setpriv")
def test_a_folder_that_cannot_be_read_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    locked = tmp_path / "files/locked"
    locked.mkdir(parents=True)
    for folder in (locked, locked.parent):
        (folder / "vm.nmon").write_bytes(LINUX)
    locked.chmod(0)
    message = "error: files/locked: Permission denied; give this user read permission\n"
    try:
        for shape in ((), ("--summary",), ("--records",)):
            done = without_rights("look", *shape, "files", folder=tmp_path)
            assert (done.returncode, message in done.stderr) == (1, True), done.stderr
            assert "vm" in done.stdout
            within = without_rights("look", *shape, "files/locked/vm.nmon", folder=tmp_path)
            assert within.stderr.startswith(message.replace("locked", "locked/vm.nmon"))
        for words in (("bundle", "files/locked/vm.nmon"), ("sql", "systems", "--on", "files/locked/kept")):
            named = f"{words[-1]}: Permission denied; give this user read permission\n"
            assert named in without_rights(*words, folder=tmp_path).stderr
        done = without_rights("look", "files/locked", folder=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(message)
    finally:
        locked.chmod(0o700)


def test_a_folder_stands_for_all_files_below_it_but_not_for_those_of_operating_systems(tmp_path: Path) -> None:
    for name in ("below/vm.nmon", ".DS_Store", "._vm.nmon", "__MACOSX/vm.nmon", "Thumbs.db", "desktop.ini"):
        (tmp_path / "files" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "files" / name).write_bytes(LINUX if name.startswith("below") else b"\0")
    for shape in ((), ("--summary",), ("--records",)):
        done = counterflow("look", *shape, "files", "--zone", "UTC", folder=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "vm" in done.stdout


def test_a_link_to_itself_is_named(tmp_path: Path) -> None:
    (tmp_path / "vm.nmon").symlink_to("vm.nmon")
    done = counterflow("look", "vm.nmon", folder=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "error: vm.nmon: Too many levels of symbolic links")


def test_a_recording_without_times_is_named_with_its_line_and_reason_as_a_summary_names_it(tmp_path: Path) -> None:
    lines = LINUX.splitlines(keepends=True)
    (tmp_path / "noz.nmon").write_bytes(b"".join(line for line in lines if not line.startswith(b"ZZZZ")))
    reason = "error: noz.nmon:318: T0001 has no ZZZZ line, and none follows from its neighbours\n"
    assert reason in counterflow("look", "--summary", "noz.nmon", folder=tmp_path).stderr
    done = counterflow("look", "noz.nmon", "--zone", "UTC", folder=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"{reason}error: no file holds an interval\n")


def test_a_file_of_settings_alone_is_named_with_the_command_that_shows_it(tmp_path: Path) -> None:
    (tmp_path / "a b.csv").write_bytes(golden("ibmi_tables/qapmconf").input)
    done = counterflow("look", "a b.csv", "--system", "SYSA", "--zone", "UTC", folder=tmp_path)
    assert done.returncode == 2
    holds = "error: no file holds an interval: a b.csv holds settings alone\n"
    assert done.stderr == holds + "hint: counterflow look --records 'a b.csv' shows what it gives\n"


def test_a_system_without_a_finding_is_named_with_what_was_recorded(tmp_path: Path) -> None:
    """Threads of address spaces alone."""
    done = counterflow("look", golden("rmf_dds/procu").written(tmp_path), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    sentence = (
        "  nothing to state: no rule found anything in what was recorded: job, no processors, no memory, no disks"
    )
    assert done.stdout.splitlines()[1:] == ["", "SYS1", sentence]


@pytest.mark.parametrize(
    ("words", "average", "maximum"),
    [
        (("ibmi_tables/qapmsystem_green_screen", "--system", "SYSA"), 58.9, 87.4),
        (("rmf_dds/xml",), 27.2, 27.2),
    ],
    ids=["IBM i", "z/OS, whose zIIPs are left out"],
)
def test_summary_has_the_processors_that_look_has(
    words: tuple[str, ...], average: float, maximum: float, tmp_path: Path
) -> None:
    case, *options = words
    file = golden(case).written(tmp_path)
    looked = counterflow("look", file, *options, folder=tmp_path)
    assert f"processors {average} % busy on average, {maximum} % at most" in looked.stdout
    done = counterflow("look", "--summary", file, *options, "--json", folder=tmp_path)
    found = json.loads(done.stdout)
    assert (round(found["cpu_pct_avg"], 1), round(found["cpu_pct_max"], 1)) == (average, maximum)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recording, kept as `kept`."""
    folder = tmp_path_factory.mktemp("doctor")
    (folder / "vm.nmon").write_bytes(LINUX)
    assert counterflow("look", "vm.nmon", "--zone", "UTC", "--keep", "kept", folder=folder).returncode == 0
    return folder


def test_a_time_without_records_before_or_in_question_is_refused(folder: Path) -> None:
    begun = "2026-11-21T01:41:18"  # the beginning of the first interval, which ends a second later
    there = "hint: there is vm from 2026-11-21 01:41:18 to 2026-11-21 01:41:48\n"
    for begin, end, empty in (
        (begun, "2026-11-21T01:41:30", "2026-11-21 00:41:18 to 2026-11-21 01:41:18"),
        ("2027-01-01", "2027-01-02", "2027-01-01 00:00:00 to 2027-01-02 00:00:00"),
    ):
        done = counterflow("doctor", "vm", "--on", "kept", "--at", begin, "--to", end, folder=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"error: nothing was recorded of vm from {empty} UTC\n{there}"
    backward = ("--from", "2026-11-22", "--to", "2026-11-21", "--on", "kept")
    for words in (("doctor", "vm"), ("sql", "cpu"), ("whatif", "line")):
        message = counterflow(*words, *backward, folder=folder).stderr.splitlines()[0]
        assert message == "error: no interval ends after 2026-11-22 00:00:00.000 and by 2026-11-21 00:00:00.000 UTC"
    done = counterflow("doctor", "vm", "--on", "kept", "--at", "2026-11-21T01:41:30", folder=folder)
    assert "before, recorded for less than 1 min\n" in done.stdout.replace("\n  ", " ")  # 12 s


def test_every_answer_has_one_shape_and_fits_80_columns(folder: Path) -> None:
    (folder / "facts.yaml").write_text("systems: {vm: {vios: true, vios_memory_mb: 512, performance_adjustment: 1}}")
    facts = ("--on", "kept", "--facts", "facts.yaml")
    shown = counterflow("doctor", "vm", *facts, folder=folder)
    assert shown.returncode == 1, shown.stderr
    assert max(map(len, shown.stdout.splitlines())) <= 80
    order = [line.split()[0] for line in shown.stdout.splitlines() if line[:1].strip() and line[8:9] == " "]
    assert order == sorted(order, key=["pass", "unknown", "warn", "fail"].index)
    shown = counterflow("doctor", "vm", *facts, "--json", folder=folder)
    times = ("--at", "2026-11-21T01:41:30", "--to", "2026-11-21T01:41:40")
    ranked = counterflow("doctor", "vm", "--on", "kept", *times, "--json", folder=folder)
    assert ranked.returncode == 0, ranked.stderr
    answers = [json.loads(line) for line in (shown.stdout + ranked.stdout).splitlines()]
    assert {tuple(answer) for answer in answers} == {Answer._fields}
    assert {answer["kind"] for answer in answers} == {"verdict", "kpi", "alert", "board", "rule", "change"}
    warned = {answer["subject"]: answer for answer in answers if answer["kind"] == "rule"}["pool_adjustment"]
    assert (warned["status"], warned["figure"], warned["needs"]) == ("warn", "no, expected yes (QPFRADJ is 1)", {})


def test_options_of_another_question_are_refused(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    for words in (("--facts", "f.yaml"), ("--at", "2026-03-02"), ("A", "B", "--at", "2026-03-02"), ("A", "--sql")):
        done = counterflow("doctor", *words, "--on", "kept", folder=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert "Usage: " in done.stderr
