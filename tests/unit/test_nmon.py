"""nmon recordings against figures computed from the same files in other ways, and against the contracts."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import orjson
import pytest

from bench.generate_nmon import Shape, generate
from counterflow.analysis.studies.figures import Key, measured
from counterflow.analysis.studies.runs import ComparedRun
from counterflow.collectors.formats import nmon
from counterflow.collectors.records import Context, Item, Position, Reason, Record, Reject, singly
from counterflow.collectors.summary import Summaries
from counterflow.collectors.text.lines import MAX_LINE_BYTES
from counterflow.schemas.definition import datasets
from tests.golden.cases import golden
from tests.support.recordings import RECORDINGS
from tests.support.streams import found

SAMPLES = sorted(RECORDINGS.glob("*.nmon"))
LINUX = [path for path in SAMPLES if path.name.startswith("linux")]


def parse(content: bytes, position: Position | None = None, zone: tzinfo = UTC) -> list[Item]:
    return list(singly(nmon.parse(io.BytesIO(content), Context("file.nmon", zone), position)))


def rows(items: list[Item], dataset: str) -> list[dict[str, Any]]:
    return [item.fields for item in items if isinstance(item, Record) and item.dataset == dataset]


def by_hand(path: Path, section: str) -> dict[str, float]:
    """Sum a section of KB/s over time, per device, as a spreadsheet would."""
    names: dict[str, list[str]] = {}
    stamps: dict[str, datetime] = {}
    totals: dict[str, float] = defaultdict(float)
    for line in path.read_text().splitlines():
        first, tag, *rest = line.split(",")
        if first == "ZZZZ":
            stamps[tag] = datetime.strptime(" ".join(rest), "%H:%M:%S %d-%b-%Y").replace(tzinfo=UTC)
        elif first.rstrip("0123456789") == section:
            if tag not in stamps:
                names[first] = rest
                continue
            before = stamps.get(f"T{int(tag[1:]) - 1:04d}")
            seconds = (stamps[tag] - before).total_seconds() if before else 1.0
            for name, value in zip(names[first], rest, strict=True):
                totals[name] += float(value) * seconds
    return totals


@pytest.mark.parametrize("path", LINUX, ids=lambda path: path.stem)
@pytest.mark.parametrize(("section", "column"), [("DISKREAD", "read_kb"), ("DISKWRITE", "written_kb")])
def test_disk_totals_are_those_of_the_file(path: Path, section: str, column: str) -> None:
    totals: dict[str, float] = defaultdict(float)
    for row in rows(parse(path.read_bytes()), "disk"):
        if row["device_type"] != "group":
            totals[row["disk"]] += row[column]
    assert totals == pytest.approx(by_hand(path, section), rel=1e-9)


def test_read_megabytes_of_the_recording_beside_fio() -> None:
    leaves = [row["read_kb"] for row in rows(parse(LINUX[1].read_bytes()), "disk") if row["leaf"]]
    assert sum(leaves) / 1024 == pytest.approx(5994, abs=0.5)  # nmon reference, section 2


def test_cpu_of_processes_is_nearly_all_cpu() -> None:
    items = parse(LINUX[1].read_bytes())
    cpu = [r for r in rows(items, "system_cpu") if r["engine"] == "all"][1:]  # no processes in the first snapshot
    busy_ms = sum((r["user_pct"] + r["sys_pct"]) / 100 * r["logical_engines"] * r["interval_s"] * 1000 for r in cpu)
    # a process that ends between two snapshots is in no row
    assert 0.8 < sum(row["cpu_ms"] for row in rows(items, "job")) / busy_ms < 1.02


@pytest.mark.parametrize(
    ("consumed", "capped", "refused"),
    [
        ("0.253175", 0, None),
        ("1.390000", 0, None),
        ("1.410000", 0, "while 1.2 of 8 threads were busy"),
        ("0.570000", 1, "of 0.5 entitled, and capped"),
        ("2.110000", 0, "of 2 virtual processors"),
        ("8123.400000", 0, "of 2 virtual processors"),
    ],
)
@pytest.mark.parametrize("snapshot", [1, 2])
def test_the_first_physical_cpu_of_power_is_used_where_the_partition_can_have_consumed_it(
    consumed: str, capped: int, refused: str | None, snapshot: int
) -> None:
    """2 virtual processors, 0.5 entitled, 8 threads that are 85 % idle: 15 % of 8 are 1.2 busy threads.

    Limits: 1.05 x 2 = 2.1 cores; capped 1.05 x 0.5 = 0.525; 1.2 busy threads + 0.1 x 2 = 1.4. Later snapshots are
    differences for certain: they have no limit.
    """
    text = golden("nmon/linux_power").input.decode()
    text = text.replace(" 0.253175,0,", f"{consumed},{capped},").replace(",1.50,", ",0.50,")
    text = text.replace("T0001", f"T{snapshot:04d}")
    items = parse(text.encode())
    (cpu,) = rows(items, "system_cpu")
    details = [item.detail for item in items if isinstance(item, Reject)]
    if refused is None or snapshot > 1:
        assert (cpu["physical_consumed_cores"], cpu["pool_idle_cores"]) == (float(consumed), 12.25)
        assert details == []
    else:
        assert cpu.keys().isdisjoint({"physical_consumed_cores", "pool_idle_cores"})
        assert (cpu["entitled_cores"], cpu["virtual_engines"]) == (0.5, 2)
        number = f"{float(consumed):g}"
        assert details == [f"PhysicalCPU: {number} {refused}; it and pool_idle_time are taken as since boot"]


def test_of_a_line_beyond_the_limit_the_beginning_is_kept() -> None:
    """Memory is bounded whatever its length: tests/fuzz/hostile.py."""
    items = parse(golden("nmon/aix_dedicated").input + b"x" * (MAX_LINE_BYTES + 1))
    (last,) = [item for item in items if isinstance(item, Reject) and item.reason is Reason.LINE_TOO_LONG]
    assert len(last.raw) == 65_536


def test_a_position_of_a_large_system_is_small() -> None:
    out = io.BytesIO()
    generate(out, Shape(snapshots=2, disks=1200))
    positions = [item for item in parse(out.getvalue()) if isinstance(item, Position)]
    assert max(len(orjson.dumps(position.state)) for position in positions) < 32_768


def test_a_sorted_recording_with_a_long_header_is_resumed() -> None:
    whole = golden("nmon/defect_sorted_as_it_was").input
    header = b"".join(b"BBBP,%04d,ps,text\n" % n for n in range(4500))
    content = b"".join(sorted((whole + header).splitlines(keepends=True)))
    items = parse(content)
    assert len([row for row in rows(items, "config") if row["section"] == "BBBP"]) == 4500
    for at, item in enumerate(items):
        if isinstance(item, Position):
            assert found(parse(content, item)) == found(items[at:])


@pytest.mark.parametrize("case", ["clock_of_12_hours", "clock_fall_back", "cut_line"])
def test_stamps_without_dates_are_read_as_with_them(case: str) -> None:
    dated = golden(f"nmon/{case}").input
    undated = re.sub(rb"(?m)^(ZZZZ,[^,]+,[^,]+),.*$", rb"\1", dated)
    assert undated != dated
    with_dates, without = (parse(content, zone=ZoneInfo("Europe/Berlin")) for content in (dated, undated))
    assert [i for i in without if isinstance(i, Record)] == [i for i in with_dates if isinstance(i, Record)]
    reasons = [i.reason for i in without if isinstance(i, Reject)]
    assert reasons.count(Reason.INFERRED) == 1


@pytest.mark.parametrize(
    ("path", "separator"),
    [*((path, b",") for path in SAMPLES), (LINUX[0], b";")],
    ids=lambda of: getattr(of, "stem", of),
)
def test_a_recording_that_a_spreadsheet_padded_has_the_figures_it_had(path: Path, separator: bytes) -> None:
    *lines, end = path.read_bytes().replace(b",", separator).split(b"\n")
    width = max(line.count(separator) for line in lines)
    padded = [line + separator * (width - line.count(separator)) for line in lines]
    expected, read = (parse(b"\n".join([*each, end])) for each in (lines, padded))
    for dataset in datasets():
        if dataset != "config":  # AAA,disks of Linux ends with an empty field of its own
            assert rows(read, dataset) == rows(expected, dataset)
    before, now = ([item.reason for item in items if isinstance(item, Reject)] for items in (expected, read))
    assert now == [Reason.FIELD_COUNT, *before]


HEAD = """AAA,progname,nmon
AAA,version,16n
AAA,host,lin1
AAA,OS,Linux,6.1.0,#1 SMP,x86_64
AAA,time,10:00.04
AAA,date,05-MAR-2024
AAA,interval,5
CPU_ALL,CPU Total lin1,User%,Sys%,Wait%,Idle%,Steal%,Busy,CPUs
"""
TOP = "TOP,+PID,Time,%CPU,%Usr,%Sys,Size,ResSet,ResText,ResData,ShdLib,MinorFault,MajorFault,Command\n"
SNAPSHOTS = """ZZZZ,T0001,10:00:05,05-MAR-2024
CPU_ALL,T0001,90.0,5.0,0.0,5.0,0.0,,2
ZZZZ,T0002,10:00:10,05-MAR-2024
CPU_ALL,T0002,40.0,10.0,0.0,50.0,0.0,,2
ZZZZ,T0003,10:00:15,05-MAR-2024
CPU_ALL,T0003,20.0,10.0,0.0,70.0,0.0,,2
"""
COLUMNS = """busy_pct user_pct sys_pct cpu_base logical_engines virtual_engines physical_consumed_cores
physical_user_cores physical_sys_cores cpu_ms configured_cpu_ms"""


def summarised(items: list[Item]) -> dict[str, Any]:
    summaries = Summaries("lin1.nmon")
    for item in items:
        summaries.add(item)
    (summary,) = summaries.of
    return summary.as_dict()


def studied(items: list[Item], begin: str, end: str) -> float | None:
    """Return the CPU of the run as `study compare` computes it, from rows as its queries return them."""
    rows: dict[str, list[dict[str, Any]]] = {"processors": [], "recorded": []}
    for item in items:
        if not isinstance(item, Record):
            continue
        f = item.fields
        row = {"end_s": datetime.fromisoformat(f["ts"]).timestamp(), "seconds": f.get("interval_s")}
        row |= {"system": f["system"], "boot_id": f["boot_id"]}
        if item.dataset == "system_cpu":
            cpu = {name: f.get(name) for name in COLUMNS.split()}
            rows["processors"].append({**row, "engine_type": f["engine_type"], **cpu})
        elif item.dataset == "manifest" and f["counted"] == "job":
            rows["recorded"].append(row)
    times = (datetime.fromisoformat(f"2024-03-05T{time}Z").timestamp() for time in (begin, end))
    return measured(ComparedRun("r", *times, ("lin1",)), rows).figures[Key("cpu", "lin1", "core", "busy_pct")].value


@pytest.mark.parametrize(("processes", "expected", "left_out"), [(True, 40.0, 1), (False, 45.0, 0)])
def test_summary_and_study_of_one_recording_have_one_cpu(processes: bool, expected: float, left_out: int) -> None:
    """1 s of 95 %, 5 s of 50 %, 5 s of 30 %.

    All three: (95 + 250 + 150) / 11 = 45. Where processes are recorded the first has none: (250 + 150) / 10 = 40.
    """
    items = parse((HEAD + (TOP if processes else "") + SNAPSHOTS).encode())
    summary = summarised(items)
    assert (summary["cpu_pct_avg"], summary["cpu_left_out"], summary["snapshots"]) == (expected, left_out, 3)
    assert summary["cpu_pct_max"] == (50.0 if processes else 95.0)
    assert studied(items, "10:00:04", "10:00:15") == pytest.approx(expected)


def test_a_run_that_begins_within_a_recording_keeps_its_first_interval() -> None:
    """Its first interval has processes: 5 s of 50 % and 5 s of 30 % are 40."""
    assert studied(parse((HEAD + TOP + SNAPSHOTS).encode()), "10:00:05", "10:00:15") == pytest.approx(40)


def test_a_recording_of_one_snapshot_has_a_figure() -> None:
    """Nothing shows that processes are recorded, and 95 % is all there is."""
    alone = parse((HEAD + TOP + "".join(SNAPSHOTS.splitlines(keepends=True)[:2])).encode())
    assert (summarised(alone)["cpu_pct_avg"], studied(alone, "10:00:04", "10:00:05")) == (95.0, 95.0)


def test_each_recording_of_a_file_has_its_first_snapshot() -> None:
    """Twice (50 x 5 + 30 x 5) / 10, a day apart: 40, and two snapshots are left out."""
    once = HEAD + TOP + SNAPSHOTS
    summary = summarised(parse((once + once.replace("05-MAR", "06-MAR")).encode()))
    assert (summary["cpu_pct_avg"], summary["cpu_left_out"], summary["snapshots"]) == (40.0, 2, 6)
