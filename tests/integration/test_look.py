"""`look` through its command line, with nothing running: findings, report, kept folder, and unreadable input."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest

from counterflow.recordings import reading
from tests.golden.cases import golden
from tests.support.command_line import on_terminal, run, run_apart
from tests.support.recordings import RECORDINGS
from tests.support.waiting import PATIENCE_S, until

NO_HOME = str(RECORDINGS / "no-home")
AIX, LINUX = RECORDINGS / "aix_generated.nmon", RECORDINGS / "linux_16n_plain.nmon"


def counterflow(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    """Run a command where neither a stack nor its settings can be found."""
    return run(*arguments, stdin=stdin, COUNTERFLOW_HOME=NO_HOME, NO_COLOR="1")


def afresh(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command as `counterflow` does, in a process that has not loaded the engine yet."""
    return run_apart(*arguments, COUNTERFLOW_HOME=NO_HOME, NO_COLOR="1")


def looked(*arguments: object) -> str:
    """Look at files that can all be read; return what is printed."""
    done = counterflow("look", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def findings(*arguments: object) -> list[dict[str, Any]]:
    return [json.loads(line) for line in looked(*arguments, "--json").splitlines()]


def answers(kept: Path, question: str, *options: str) -> list[dict[str, Any]]:
    """Return the rows of a stored question or a statement about a kept folder."""
    done = counterflow("sql", question, "--on", kept, "--json", *options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def cut(number: int = 0) -> bytes:
    """Return the first intervals of a recording, of a system of its own if a number is given."""
    return LINUX.read_bytes()[:30_000].replace(b"AAA,host,vm", b"AAA,host,h%03d" % number if number else b"AAA,host,vm")


def test_a_folder_fits_a_screen_and_what_describes_it_is_no_mistake() -> None:
    """On a terminal of 80 columns: two systems, a README beside their recordings, and the way to the report."""
    environment = {**os.environ, "COUNTERFLOW_HOME": NO_HOME, "NO_COLOR": "1", "TERM": "xterm"}
    samples = Path(__file__).parents[2] / "samples/nmon"
    text, notes = on_terminal([sys.executable, "-m", "counterflow", "look", str(samples)], 80, environment)
    screen = text.splitlines()
    assert max(map(len, screen)) <= 80
    assert {"aixgen01", "vm"} <= set(map(str.strip, screen))
    assert "more systems" not in text
    assert f"note: {samples / 'README.md'} is no recording" in notes
    assert "--out FOLDER" in notes
    named = counterflow("look", AIX, samples / "README.md")
    assert named.returncode == 1
    assert "README.md: not read" in named.stderr


def test_gpus_and_nfs_are_reported_where_they_were_recorded(tmp_path: Path) -> None:
    """Sums and means of the lines GPU_UTIL, NFSCLIV3, NFSCLIV4 and NFSSVRV3 of the recordings, by hand."""
    files = []
    for case in ("linux_gpu", "vios"):
        (tmp_path / case).mkdir()
        files.append(golden(f"nmon/{case}").written(tmp_path / case))
    found = findings(*files, LINUX)
    names = ("gpus", "nfs", "recordings")  # none is recorded twice
    reported = [(one["name"], one["severity"], one["finding"]) for one in found if one["name"] in names]
    assert sorted(reported) == [
        ("gpus", "limit", "busiest GPU GPU1: 97 % on average, 97 % at most; at least 90 % for 100 % of the time"),
        ("nfs", "note", "NFS client: 4 operations/s on average, 4 at most; most often read of version 4"),
        ("nfs", "note", "NFS server: 12.5 operations/s on average, 12.5 at most; most often getattr of version 3"),
    ]


def test_the_work_of_a_run_is_stated_and_is_to_watch_where_some_of_it_failed(tmp_path: Path) -> None:
    """308.0 operations a second in 20 s; 1,269 + 10 failed as READ, 76 as UPDATE. The other runs have no summary."""
    runs = [
        f"""Command line: -s -l run{number}
run{number}2025-11-21 20:0{number}:00:000 0 sec: 0 operations;
run{number}2025-11-21 20:0{number}:10:000 10 sec: {number}0000 operations; [READ: Count={number}0000, Avg=500]
"""
        for number in (1, 2, 3)
    ]
    (tmp_path / "runs.txt").write_text("".join(runs), encoding="utf-8")
    golden("ycsb/operations_failed").written(tmp_path)
    found = [one for one in findings(tmp_path, "--system", "LNX1") if one["name"] == "work"]
    assert [(one["severity"], one["finding"]) for one in found] == [
        (
            "watch",
            "work of workloada: 6160 operations in 20 s, 308/s, 1355 failed; "
            "READ 0.238 ms on average; UPDATE 1.276 ms on average",
        ),
        ("note", "work of run2: 20000 operations in 10 s, 2000/s; READ 0.5 ms on average"),
        ("note", "work of run3: 30000 operations in 10 s, 3000/s; READ 0.5 ms on average"),
    ]


def test_a_full_file_system_of_njmon_is_a_limit_and_an_image_is_none(tmp_path: Path) -> None:
    """Space 99.5 % used; 900 of 1,000 inodes; an image of a snap has neither space nor inodes left, and never will."""
    text = (RECORDINGS / "njmon_v25_linux.json").read_text(encoding="utf-8")
    for key, value in (("full_percent", 99.5), ("files", 1000), ("files_free", 100)):
        text = re.sub(rf'("fs_{key}"): [\d.]+', rf"\1: {value}", text)
    image = '"/dev/loop3": {"fs_full_percent": 100.0, "fs_files": 40, "fs_files_free": 0},'
    text = text.replace('"filesystems": {', '"filesystems": {' + image)
    (tmp_path / "njmon.json").write_text(text, encoding="utf-8")
    found = [one for one in findings(tmp_path / "njmon.json") if one["name"] == "file_systems"]
    assert [(one["severity"], one["finding"]) for one in found] == [
        ("limit", "file system /dev/vda 90 % full of inodes"),
        ("limit", "file system /dev/vda 99.5 % full"),
    ]


def test_a_cd_that_nmon_notes_as_mounted_is_no_full_file_system(tmp_path: Path) -> None:
    header, *rows = re.findall(r"(?m)^JFSFILE,.*$", text := LINUX.read_text(encoding="utf-8"))
    for row in rows:
        text = text.replace(row, f"{row},100.0,100.0")
    text = text.replace(header, f'{header},/mnt/cd,/data\nBBBP,999,/bin/mount,"dcd.iso on /mnt/cd type iso9660 (ro)"')
    (tmp_path / "in.nmon").write_text(text, encoding="utf-8")
    found = [one["finding"] for one in findings(tmp_path / "in.nmon") if one["name"] == "file_systems"]
    assert found == ["file system /data 100 % full"]


def test_two_recordings_of_a_system_at_one_time_are_named(tmp_path: Path) -> None:
    """One of 62 intervals of a second, and the same as a recorder that started a second earlier would write it."""
    rows = (LINUX.parent / "linux_16n_full.nmon").read_text(encoding="utf-8")
    files = tmp_path / "files"
    files.mkdir()
    (files / "one.nmon").write_text(rows, encoding="utf-8")
    (files / "two.nmon").write_text(rows.replace("AAA,time,01:41.17", "AAA,time,01:41.16"), encoding="utf-8")
    [one] = [one for one in findings(files) if one["name"] == "recordings"]
    assert (one["system"], one["severity"]) == ("vm", "watch")
    begins = "nmon recorded it twice at the same time, for 62 s in all: sums count that time twice"
    assert one["finding"].startswith(begins)


def test_relative_paths_are_those_of_the_working_directory_from_the_first_file_to_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine is opened meanwhile, and its library changes the working directory when it is loaded."""
    for number in range(80):
        (tmp_path / f"{number:03}.nmon").write_bytes(cut())
    monkeypatch.chdir(tmp_path)
    done = afresh("look", ".")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("80 files read; ")


def test_standard_input_is_read_like_a_file() -> None:
    assert counterflow("look", "-", "--json", stdin=LINUX.read_bytes()).stdout == looked(LINUX, "--json")


def test_an_archive_of_more_days_than_the_engine_takes_at_once_is_looked_at_whole(tmp_path: Path) -> None:
    """The engine refuses an insert into more than 100 partitions, here days, unless its limit is raised."""
    text = "".join(
        line
        for line in LINUX.read_text().splitlines(keepends=True)
        if re.match(r"(AAA|ZZZZ|CPU_ALL|MEM|DISK\w+),", line) and not re.match(r"[^,]+,T(?!000[12],)\d{4},", line)
    )
    for day in (date(2026, 1, 1) + timedelta(days=n) for n in range(101)):
        of_the_day = text.replace("21-NOV-2026", f"{day:%d-%b-%Y}".upper())
        (tmp_path / f"{day}.nmon").write_text(of_the_day)
    kept = tmp_path / "kept"
    shown = looked(*tmp_path.glob("*.nmon"), "--keep", kept)
    assert "101 files read" in shown
    at = re.findall(r"^  (?:limit|watch|note) +(\S+)", shown, re.MULTILINE)
    assert set(at) == {"2026-01-01"}, "the days are alike, so the first is named"
    days = (f"(SELECT uniqExact(toDate(ts)) FROM counterflow.{table}) AS {table}" for table in ("disk", "disk_total"))
    assert answers(kept, f"SELECT {', '.join(days)}") == [{"disk": 101, "disk_total": 101}]


def test_the_report_holds_the_findings_and_boards_of_what_was_recorded_and_counts_each_record_once(
    tmp_path: Path,
) -> None:
    """A recording that is there twice counts as its manifests count it; lines of OMEGAMON have no manifests."""
    kept, twice, out = tmp_path / "kept", tmp_path / "twice.nmon", tmp_path / "report"
    twice.write_bytes(AIX.read_bytes())
    spaces = golden("omegamon_jsonl/address_spaces")
    lines = spaces.written(tmp_path)
    measured = sum(one["dataset"] not in ("config", "quality") for one in spaces.found())
    shown = looked(AIX, twice, LINUX, lines, "--keep", kept, "--out", out)
    [counted] = answers(kept, "SELECT sum(row_count) AS n FROM counterflow.manifest FINAL")
    records = counted["n"] + measured
    assert shown.startswith(f"4 files read; {records:,} records of ")
    page = (out / "report.html").read_text(encoding="utf-8")
    assert f"<dt>Records</dt><dd>{records:,}</dd>" in page
    assert "Nothing was recorded" not in page
    assert "consumed 0.56 of 0.8 entitled processors" in page
    chapters = re.findall(r"<h2>(.*?)</h2>", page)
    assert {"AIX and VIOS · aixgen01", "Linux · vm"} <= {*chapters}
    absent = ("AIX and VIOS · vm", "Linux · aixgen01", "Q Replication", "Pipeline health", "Logical database I/O")
    assert not [one for one in chapters if one.startswith((*absent, "No rule judged"))]


def test_a_kept_folder_grows_and_is_queried_by_other_commands(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert looked(AIX, "--keep", kept).startswith("1 file read; 7,316 records of 1 system, 2026-03-02 08:00:00 to ")
    again = looked(AIX, LINUX, "--keep", kept)
    assert again.startswith("1 file read; "), "the file that did not change is not read again"
    assert " records of 2 systems, 2026-03-02 08:00:00 to " in again
    assert {"aixgen01", "vm"} <= set(again.split())
    assert answers(kept, "SELECT uniqExact(system) AS n FROM counterflow.disk") == [{"n": 2}]
    refused = counterflow("sql", "DROP TABLE counterflow.disk", "--on", kept)
    assert refused.returncode == 2
    assert "readonly" in refused.stderr
    examined = counterflow("doctor", "--on", kept)
    assert examined.returncode == 0, "no input of a folder stops"
    assert examined.stdout.startswith("2 systems. Input is there for ")
    assert "parts work" not in examined.stdout  # there are none
    checked = counterflow("doctor", "vm", "--on", kept)
    assert "unknown  published rules: no IBM i counters of the system" in checked.stdout
    assert "to do: the stored question `systems` lists what was recorded\n" in checked.stdout, "in that folder too"


def test_times_are_utc_whatever_the_zone_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recording lasts from 08:00 to 12:00 UTC, which is 03:00 to 07:00 in New York."""
    monkeypatch.setenv("TZ", "America/New_York")
    kept = tmp_path / "kept"
    shown = afresh("look", AIX, "--keep", kept)
    assert " records of 1 system, 2026-03-02 08:00:00 to 2026-03-02 12:00:00" in shown.stdout
    period = ("--from", "2026-03-02 08:00", "--to", "2026-03-02 12:00")
    answer = afresh("sql", "cpu", "--on", kept, *period, "--format", "csv")
    assert answer.stdout.count("\n") == 2, "a header and the system"
    made = afresh("report", "--on", kept, "--out", tmp_path, "--no-pictures")
    assert made.returncode == 0, made.stderr
    assert "consumed 0.56 of 0.8 entitled processors" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_what_is_appended_while_a_file_is_read_is_read_by_the_next_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file grows once it has been read, while the look goes on."""
    live, kept, read = tmp_path / "live.nmon", tmp_path / "kept", reading.read
    rows = LINUX.read_bytes()
    half = rows.index(b"ZZZZ,T0015")
    live.write_bytes(rows[:half])

    def read_while_it_grows(*arguments: Any, **options: Any) -> Iterator[Any]:
        yield from read(*arguments, **options)
        with live.open("ab") as file:
            file.write(rows[half:])

    with monkeypatch.context() as patched:
        patched.setattr(reading, "read", read_while_it_grows)
        first = looked(live, "--keep", kept).splitlines()[0]
    assert live.read_bytes() == rows
    whole = looked(LINUX).splitlines()[0]
    assert first != whole
    assert looked(live, "--keep", kept).splitlines()[0] == whole


def test_a_kept_folder_refuses_to_read_a_file_again_with_other_options(tmp_path: Path) -> None:
    """It would keep the rows of both readings, whether the file has grown or not."""
    kept, live = tmp_path / "kept", tmp_path / "live.nmon"
    live.write_bytes(LINUX.read_bytes())
    looked(live, "--keep", kept)
    others = {
        ("--zone", "America/New_York"): "--zone UTC",
        ("--system", "other", "--at", "2026-03-02 08:00"): "no --at, no --system",
    }
    for options, was in others.items():
        refused = counterflow("look", AIX, live, "--keep", kept, *options)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert f"error: {live} was read with {was}\nhint: use another folder" in refused.stderr
        with live.open("ab") as file:
            file.write(b"BBBP,000,uname\n")
    assert answers(kept, "SELECT DISTINCT system FROM counterflow.disk") == [{"system": "vm"}], "nothing was read"


def test_a_kept_folder_reports_no_loss_and_gives_no_number_twice(tmp_path: Path) -> None:
    """Of files: one that grows between two looks, one that stays, and one that is read in vain each time."""
    kept, files = tmp_path / "kept", tmp_path / "files"
    files.mkdir()
    (files / "note.txt").write_text("to do\n")
    (files / "still.nmon").write_bytes(cut(1))
    rows = LINUX.read_bytes()
    for read in (rows[: rows.index(b"ZZZZ,T0015")], rows):
        (files / "live.nmon").write_bytes(read)
        assert counterflow("look", files, "--keep", kept).returncode == 1
    assert answers(kept, "lost_records") == []
    twice = "SELECT sum(rows) - groupBitmapMerge(seqs) AS twice FROM counterflow.ledger"
    assert answers(kept, twice) == [{"twice": 0}]


def test_a_look_does_not_read_what_it_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cut.nmon").write_bytes(cut())
    monkeypatch.chdir(tmp_path)
    for files in ("1 file read; ", "0 files read; "):
        done = counterflow("look", ".", "--keep", "./made", "--out", "./", "--export", "./made")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(files)
        assert "error: " not in done.stderr
    assert counterflow("look", "made").returncode == 2, "a database is not read"
    assert ". is no folder of `look`" in counterflow("sql", "systems", "--on", ".").stderr


def test_an_export_that_does_not_fit_is_reported_and_leaves_the_earlier_one(tmp_path: Path) -> None:
    """`job.parquet` takes more than 40 kB; other files take less."""
    kept, out = tmp_path / "kept", tmp_path / "out"
    words = (AIX, "--keep", kept, "--export", out)
    looked(*words)
    assert (out / "job.parquet").stat().st_size > 40_000
    before = {path: path.stat().st_ino for path in out.iterdir()}
    assert f"error: {out}: File too large\nhint: " in refused_on_a_full_disk(40_000, "look", *words)
    assert {path: path.stat().st_ino for path in out.iterdir()} == before


def refused_on_a_full_disk(most_bytes: int, *arguments: object) -> str:
    """Run a command that may write no file of more bytes: writes fail as on a full disk. Return its messages."""
    limited = "import resource; from counterflow.cli import main; "
    limited += f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most_bytes}, {most_bytes})); main()"
    command = [sys.executable, "-c", limited, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("files", "status", "message"),
    [
        ({}, 2, "no file in"),
        ({"header.nmon": b"".join(AIX.read_bytes().splitlines(keepends=True)[:20])}, 2, "no file holds an interval"),
        ({"a 'quoted' $(name).nmon": cut(), "b.png": b"\x89PNG\r\n\x1a\n\0"}, 1, "b.png"),
    ],
    ids=["an empty folder", "a header alone", "one of two"],
)
def test_what_is_no_recording_is_named_and_the_rest_goes_on(
    files: dict[str, bytes], status: int, message: str, tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    done = counterflow("look", folder)
    assert done.returncode == status, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_more_files_than_wait_at_once_are_read_once_each(tmp_path: Path) -> None:
    """Above 8 MB they are read in other processes, 64 waiting at a time; small pieces land together."""
    rows, number = LINUX.read_bytes(), 70
    few = rows[: rows.index(b"ZZZZ,T0006")] + b'BBBP,900,note,"%s"\n' % (b"x" * (9_000_000 // number))
    for host in range(number):
        (tmp_path / f"h{host:03}.nmon").write_bytes(few.replace(b"AAA,host,vm", b"AAA,host,h%03d" % host))
    of = Counter(one["system"] for one in findings(tmp_path))
    assert of.keys() == {f"h{host:03}" for host in range(number)}
    assert len(set(of.values())) == 1


def test_a_kept_folder_is_queried_block_by_block_with_one_header(tmp_path: Path) -> None:
    """Several blocks of the engine: one header, one whole document, and one sentence for an error amid rows."""
    kept = tmp_path / "kept"
    looked(LINUX, "--keep", kept)

    def sql(statement: str, *options: str) -> subprocess.CompletedProcess[str]:
        return counterflow("sql", statement, "--on", kept, *options)

    rows = 'SELECT number AS "a\n""b""", number * 2 AS twice FROM numbers(200000)'
    for option, header in (("tsv", 'a\\n"b"\ttwice\n'), ("csv", '"a\n""b""","twice"\n')):
        found = sql(rows, "--format", option).stdout
        assert found.startswith(header)
        assert found.count("twice") == 1
        assert found.count("\n") == 200_000 + header.count("\n")
    assert sql("SELECT 1 AS only WHERE 0", "--format", "csv").stdout == '"only"\n'
    assert len(json.loads(sql("SELECT number FROM numbers(200000) FORMAT JSON").stdout)["data"]) == 200_000
    broken = sql("SELECT throwIf(number = 150000, 'too many') FROM numbers(200000)")
    assert broken.returncode == 2
    assert broken.stderr.startswith("error: too many")
    script = 'set -o pipefail; "$0" -m counterflow sql --on "$1" "SELECT number FROM numbers(100000000)" | head -n 1'
    done = subprocess.run(
        ["bash", "-c", script, sys.executable, kept], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.stdout, done.stderr) == ("number\n", "")


@pytest.mark.parametrize("option", ["--out", "--keep", "--export"])
def test_a_folder_that_cannot_be_written_to_is_refused_before_anything_is_read(option: str, tmp_path: Path) -> None:
    """`/proc` accepts no file from any user, root included."""
    done = counterflow("look", AIX, option, "/proc/self/report")
    assert done.returncode == 2
    assert "error: /proc/self/report: No such file or directory" in done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout


def test_a_list_of_files_that_does_not_fit_leaves_the_folder_usable(tmp_path: Path) -> None:
    """The paths take more than 100 kB; other files take less."""
    kept, files = tmp_path / "kept", tmp_path.joinpath("files", *("deep" * 50 for _ in range(15)))
    files.mkdir(parents=True)
    for number in range(40):
        (files / f"{number}.nmon").write_bytes(cut())
    words = (files, "--keep", kept)
    assert "File too large\nhint: " in refused_on_a_full_disk(100_000, "look", *words)
    assert looked(*words).startswith("40 files read; ")
    (kept / "files.json").write_bytes(b"")
    refused = counterflow("look", *words)
    assert refused.returncode == 2
    assert f"error: {kept / 'files.json'} is not the list of the files in this folder" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_the_readers_end_when_look_is_terminated(tmp_path: Path) -> None:
    """Two large recordings are read by two processes, which must end with it.

    They are halted once they are seen, so that neither has read its file before `look` is terminated.
    """
    for name in ("first", "second"):
        rows = AIX.read_bytes()
        (tmp_path / f"{name}.nmon").write_bytes(rows + b"".join(b"BBBP,%d,note\n" % at for at in range(400_000)))
    environment = {**os.environ, "COUNTERFLOW_HOME": NO_HOME, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "counterflow", "look", str(tmp_path)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as look:
        readers = until(lambda: _readers(look.pid), every_s=0.05)
        for reader in readers:
            reader.suspend()
        look.terminate()
        for reader in readers:
            reader.resume()
        assert look.wait(PATIENCE_S) == 128 + signal.SIGTERM
    _, alive = psutil.wait_procs(readers, timeout=30)
    assert not alive
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("counterflow-")]


def _readers(pid: int) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):  # a child that has just ended
        return [one for one in psutil.Process(pid).children() if "spawn_main" in " ".join(one.cmdline())]
    return []


def simulated(case: str, folder: Path) -> Path:
    """Simulate a case; return the folder of its files."""
    done = counterflow("study", "simulate", case, "--out", folder / "story")
    assert done.returncode == 0, done.stderr
    return folder / "story"


SHORT = {
    "ADDRESS_SPACE_TYPE": "ADDR_TYPE",
    "SOURCE_ADDRESS": "SRC_ADDR",
    "TARGET_ADDRESS": "TGT_ADDR",
    "LINK_STATE": "STATE",
    "LINK_PRIORITY": "PRIORITY",
    "LINK_IN_USE": "IN_USE",
}
"""System names of columns of NRG_LINK_INFO and RDMA_LINK_INFO (IBM documentation, Db2 Mirror for i services)."""


def test_captures_with_system_names_show_the_cap_with_the_hmc_and_what_is_missing_without(tmp_path: Path) -> None:
    """The site file states 10 km, lshwres 100 Gb/s; 6 % of it is 6 Gb/s, of which 4.35 were used at most: 72.5 %."""
    story, kept = simulated("sriov-story", tmp_path), tmp_path / "kept"
    for path in story.glob("*/*_LINK_INFO.csv"):
        heading, _, rows = path.read_text(encoding="utf-8").partition("\n")
        cells = [SHORT.get(cell.strip('"'), cell) for cell in heading.split(",")]
        path.write_text("\n".join([",".join(cells), rows]), encoding="utf-8")
    for system in ("SRIOVA", "SRIOVB", "NEIGHA", "NEIGHB"):
        found = findings(story / system, "--system", system, "--keep", kept)
    assert not [one for one in found if "was capped" in one["finding"]]
    assert [one["name"] for one in found if one["system"] == "NEIGHA"] == ["not_judged"]
    lacking = {one["finding"].rpartition(": ")[2] for one in found if one["name"] == "not_judged"}
    assert lacking == {"physical load, line rate and capacity unknown"}, "all that is missing, not the first of it"
    parts = [one["finding"] for one in found if "was not judged for" in one["finding"] and one["system"] == "SRIOVA"]
    assert [text.partition(", between")[0] for text in parts] == [
        "roce_cap: 192.0.2.1 192.0.2.2 was not judged for 8 of 13 min"
    ]

    found = findings(story / "HMC", "--keep", kept)
    capped = [one for one in found if "was capped for 3 min" in one["finding"]]
    assert {(one["system"], one["severity"]) for one in capped} == {("SRIOVA", "limit"), ("SRIOVB", "limit")}
    timeline = answers(kept, "cap_timeline", "--system", "SRIOVA")
    assert {row["link_type"] for row in timeline} == {"nrg"}, "its only link has the same states"
    [at] = {one["at"] for one in capped if one["system"] == "SRIOVA"}
    [since] = [row["since"] for row in timeline if row["state"] == row["signal"] == "CAPPED"]
    assert at.startswith(since), "findings and timelines date a state by the begin of its first interval"
    headroom = answers(kept, "roce_headroom", "--system", "SRIOVA")
    [port] = [row for row in headroom if row["link_type"] == "logical_port"]
    assert (port["capacity_gbit_s"], port["out_gbit_s_max"], port["of_capacity_pct_max"]) == (6, 4.35, 72.5)

    # what landed of the line is not asked for
    findings(story / "SITE", "--keep", kept)
    mirror = counterflow("whatif", "mirror", "--on", kept, "--system", "SRIOVA", "--json")
    assert "note: SRIOVA: km 10, as it landed; --km replaces it" in mirror.stderr
    line = counterflow("whatif", "line", "--on", kept, "--system", "SRIOVA", "--json")
    of_mirror, of_line = (
        next(one["figures"] for one in map(json.loads, done.stdout.splitlines()) if one["grouping"] == "partition")
        for done in (mirror, line)
    )
    assert of_mirror["distance_us"]["value"] == pytest.approx(200)  # 10 µs a km and round trip, two of them
    assert of_line["line_pct"]["value"] == pytest.approx(of_line["line_gbits"]["value"])
    judged = counterflow("doctor", "SRIOVA", "--on", kept, "--json").stdout
    [distance] = [one for one in map(json.loads, judged.splitlines()) if one["subject"] == "mirror_distance"]
    assert (distance["status"], distance["figure"]) == ("pass", "10 km, at most 10 km")


def test_a_published_rule_that_warns_by_counters_alone_is_a_finding(tmp_path: Path) -> None:
    """The story of an end of day: `doctor` and `look` state the same share of faults, above the limit of 25 %."""
    kept = tmp_path / "kept"
    found = findings(simulated("end-of-day-story", tmp_path) / "BANKA", "--system", "BANKA", "--keep", kept)
    judged = counterflow("doctor", "BANKA", "--on", kept, "--json").stdout
    rules = [one for one in map(json.loads, judged.splitlines()) if one["kind"] == "rule"]
    warned = {one["subject"] for one in rules if one["status"] == "warn"}
    assert "batch_faulting" in warned
    assert warned <= {one["name"] for one in found}
    [faulting] = [one["finding"] for one in found if one["name"] == "batch_faulting"]
    assert faulting.startswith("batch faulting of pool 2: 47.09 % of run time")


def test_the_report_shows_what_would_lift_the_ceiling_of_a_log(tmp_path: Path) -> None:
    """The story's log is at 214 MB/s from 08:04 to 08:12, the eighth minute included: 0.1333 h."""
    story = simulated("log-ceiling-story", tmp_path)
    looked(story / "SITE", story / "ZSTORY", "--system", "ZSTORY", "--out", tmp_path)
    page = (tmp_path / "report.html").read_text()
    shown = page[page.index('<section id="whatif">') :].split("</section>")[0]
    assert (
        "ZSTORY, log of DBP1 on zhpf: 8 of 8 intervals have all inputs, from 2026-03-02 08:04 to 2026-03-02 08:12"
        in shown
    )
    [_, *rows] = [re.findall("<td[^>]*>([^<]*)", row) for row in shown.split("<tr>")[1:]]
    figures = {row[0]: row[2:6] for row in rows}
    assert figures["elapsed_h"][0] == "0.1333"
    measured, *_, high = map(float, figures["ceiling_mb_s"])
    assert measured == pytest.approx(214, rel=0.01)
    assert high == pytest.approx(594, rel=0.01)  # with zHyperLink, section 5.1
    assert "newer processor: unknown, because the log is on z17 already" in shown
