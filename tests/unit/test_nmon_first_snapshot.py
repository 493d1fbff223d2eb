"""The first snapshot of a recording, as `counterflow look --summary` and the studies count it."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pytest

from counterflow.analysis.studies.figures import Key, measured
from counterflow.analysis.studies.runs import Run
from counterflow.collectors.formats.nmon import FORMAT
from counterflow.collectors.records import Context, Item, Record, singly
from counterflow.collectors.summary import Summaries

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


def items_of(text: str) -> list[Item]:
    return list(singly(FORMAT.parse(io.BytesIO(text.encode()), Context("lin1.nmon", UTC))))


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
        row |= {"system": f["system"], "recording": f["boot_id"]}
        if item.dataset == "system_cpu":
            cpu = {name: f.get(name) for name in COLUMNS.split()}
            rows["processors"].append({**row, "engine_type": f["engine_type"], **cpu})
        elif item.dataset == "manifest" and f["counted"] == "job":
            rows["recorded"].append(row)
    times = (datetime.fromisoformat(f"2024-03-05T{time}Z").timestamp() for time in (begin, end))
    return measured(Run("r", *times, ("lin1",)), rows).figures[Key("cpu", "lin1", "core", "busy_pct")].value


@pytest.mark.parametrize(("processes", "expected", "left_out"), [(True, 40.0, 1), (False, 45.0, 0)])
def test_summary_and_study_of_one_recording_have_one_cpu(processes: bool, expected: float, left_out: int) -> None:
    """1 s of 95 %, 5 s of 50 %, 5 s of 30 %.

    All three: (95 + 250 + 150) / 11 = 45. Where processes are recorded the first has none: (250 + 150) / 10 = 40.
    """
    items = items_of(HEAD + (TOP if processes else "") + SNAPSHOTS)
    summary = summarised(items)
    assert (summary["cpu_pct_avg"], summary["cpu_left_out"], summary["snapshots"]) == (expected, left_out, 3)
    assert summary["cpu_pct_max"] == (50.0 if processes else 95.0)
    assert studied(items, "10:00:04", "10:00:15") == pytest.approx(expected)


def test_a_run_that_begins_within_a_recording_keeps_its_first_interval() -> None:
    """Its first interval has processes: 5 s of 50 % and 5 s of 30 % are 40."""
    assert studied(items_of(HEAD + TOP + SNAPSHOTS), "10:00:05", "10:00:15") == pytest.approx(40)


def test_a_recording_of_one_snapshot_has_a_figure() -> None:
    """Nothing shows that processes are recorded, and 95 % is all there is."""
    alone = items_of(HEAD + TOP + "".join(SNAPSHOTS.splitlines(keepends=True)[:2]))
    assert (summarised(alone)["cpu_pct_avg"], studied(alone, "10:00:04", "10:00:05")) == (95.0, 95.0)


def test_each_recording_of_a_file_has_its_first_snapshot() -> None:
    """Twice (50 x 5 + 30 x 5) / 10, a day apart: 40, and two snapshots are left out."""
    once = HEAD + TOP + SNAPSHOTS
    summary = summarised(items_of(once + once.replace("05-MAR", "06-MAR")))
    assert (summary["cpu_pct_avg"], summary["cpu_left_out"], summary["snapshots"]) == (40.0, 2, 6)
