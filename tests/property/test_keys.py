"""No two rows of one input have one key, whatever its stamps are: of two rows with one key a table keeps one."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import formats
from counterflow.collectors.records import Context, Record, singly
from counterflow.schemas.definition import datasets
from tests.golden.cases import Case, cases

TIME = re.compile(rb"\d\d[:.]\d\d[:.]\d\d|(?<!\d)(?:\d{12}|\d{14})(?!\d)")
BLOCKS_REPEAT = {"ibmi_tables"}
"""A member that is joined twice repeats its intervals, by number and time: a table keeps them once. Views: below."""
NEWEST_COUNTS = ("config", "manifest")
"""Of settings and counts of rows that are stated twice for an instant, the newest counts."""


def rows(case: Case, content: bytes) -> Counter[tuple[Any, ...]]:
    """Return how many rows have each key."""
    changed = replace(case, files={**case.files, case.input_name: content})
    return Counter(
        (row["dataset"], *(row["fields"].get(column) for column in datasets()[row["dataset"]].key))
        for row in changed.found()
        if "fields" in row and row["dataset"] not in NEWEST_COUNTS
    )


@pytest.mark.parametrize("name", sorted(formats().keys() - BLOCKS_REPEAT))
@given(data=st.data())
def test_stamps_that_repeat_or_go_back_give_no_two_rows_one_key(name: str, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(cases(name)))
    content = case.input
    places = [match.span() for match in TIME.finditer(content)]
    for _ in range(data.draw(st.integers(0, 3)) if places else 0):
        begin, end = data.draw(st.sampled_from(places))
        alike = [place for place in places if place[1] - place[0] == end - begin]
        first, last = data.draw(st.sampled_from(alike))
        content = content[:begin] + content[first:last] + content[end:]
    assert [key for key, count in rows(case, content).items() if count > 1] == []


def fields(name: str, text: str, dataset: str, file: str = "input") -> list[dict[str, Any]]:
    """Return what a format gives of a dataset."""
    found = singly(formats()[name].parse(BytesIO(text.encode()), Context(file, UTC, "SYS1")))
    return [item.fields for item in found if isinstance(item, Record) and item.dataset == dataset]


SYSTEM = "INTNUM,DTETIM,INTSEC,DTECEN,SYSPTU,SYSCTA,SYSUTA\n"


@given(st.lists(st.sampled_from([-3600, -1, 0, 0, 300]), min_size=1, max_size=8))
def test_intervals_of_collection_services_are_told_apart_by_their_numbers(steps: list[int]) -> None:
    at, lines = datetime(2026, 7, 14, 5), [SYSTEM]  # noqa: DTZ001 - local, as written
    for number, step in enumerate([0, *steps], start=1):
        at += timedelta(seconds=step)
        lines.append(f'{number},"{at:%y%m%d%H%M%S}",300,"1",1000,{number}000,3000\n')
    used = [row["ts"] for row in fields("ibmi_tables", "".join(lines), "system_cpu", "QAPMSYSTEM.csv")]
    assert len(used) == len(set(used)) == len(steps) + 1


SAMPLES = st.lists(
    st.tuples(st.sampled_from([-300, 0, 0, 300]), st.lists(st.integers(0, 2), min_size=2, max_size=2)),
    min_size=1,
    max_size=8,
)


@given(SAMPLES)
def test_samples_of_a_view_that_state_one_time_are_each_kept_once(samples: list[tuple[int, list[int]]]) -> None:
    """Samples of two groups; of rows that follow each other, one that is equal in all is the same row."""
    at, lines = datetime(2026, 7, 14, 5, tzinfo=UTC), ["SAMPLE_TIME,NRG_NAME,LINK_COUNT,ACTIVE_LINK_COUNT\n"]
    distinct = set()
    for step, links in samples:
        at += timedelta(seconds=step)
        lines += [f"{at:%Y-%m-%d %H:%M:%S},{name},2,{n}\n" for name, n in zip("AB", links, strict=True)]
        distinct |= {(at, name, n) for name, n in zip("AB", links, strict=True)}
    rows = fields("ibmi_tables", "".join(lines), "link")
    assert len({(row["ts"], row["link"]) for row in rows}) == len(rows)
    second = [(datetime.fromisoformat(row["ts"]).replace(microsecond=0), row["link"]) for row in rows]
    assert {(*one, row["active_link_count"]) for one, row in zip(second, rows, strict=True)} == distinct


RECORDERS = {
    "nmon": (
        "AAA,progname,nmon\nAAA,host,h\nAAA,OS,Linux\nAAA,time,08:00.00\nAAA,date,02-MAR-2026\nAAA,interval,1\n"
        "CPU_ALL,CPU Total,User%,Sys%,Wait%,Idle%\n",
        lambda n, at: f"ZZZZ,T{n:04},{at:%H:%M:%S},{at:%d-%b-%Y}\nCPU_ALL,T{n:04},{n}.0,0.0,0.0,50.0\n",
        "",
    ),
    "njmon": (
        "",
        lambda n, at: (
            f'{{"timestamp": {{"UTC": "{at:%Y-%m-%dT%H:%M:%S}", "snapshot_seconds": 1, "snapshot_loop": {n - 1}}}, '
            f'"identity": {{"hostname": "h"}}, "cpu_total": {{"user": {n}.0, "sys": 0.0, "idle": 50.0}}}}\n'
        ),
        "",
    ),
    "ibmi_tables": (
        "SAMPLE_TIME,ELAPSED_TIME,ELAPSED_CPU_USED,TOTAL_JOBS_IN_SYSTEM\n",
        lambda n, at: f"{at:%Y-%m-%d %H:%M:%S},1,{n},{200 + n % 3}\n",
        "",
    ),
    "sysstat": (
        '{"sysstat":{"hosts":[{"nodename":"h","statistics":[{"timestamp":{}}',
        lambda n, at: (
            f',{{"timestamp":{{"date":"{at:%Y-%m-%d}","time":"{at:%H:%M:%S}","utc":1,"interval":1}},'
            f'"cpu-load":[{{"cpu":"all","user":{n},"idle":50}}]}}'
        ),
        "]}]}}",
    ),
}
"""A recording at 1 s: its beginning, a sample by its number and stamp, its end."""


@pytest.mark.parametrize("name", RECORDERS)
@given(st.lists(st.sampled_from([-3600, -2, 0, 0, 1, 1, 1, 2]), min_size=1, max_size=40))
def test_each_sample_of_a_recorder_is_one_row_whatever_its_stamp(name: str, steps: list[int]) -> None:
    begin, sample, end = RECORDERS[name]
    at, text = datetime(2026, 3, 2, 12, tzinfo=UTC), begin
    for number, step in enumerate([0, *steps], start=1):
        at += timedelta(seconds=step)
        text += sample(number, at)
    processors = fields(name, text + end, "system_cpu")
    used = [row.get("user_pct", row.get("busy_pct")) for row in processors]
    assert used == [float(n) for n in range(1, len(steps) + 2)]
    assert len({row["ts"] for row in processors}) == len(steps) + 1


@pytest.mark.parametrize(
    "name", sorted(RECORDERS.keys() - {"ibmi_tables"})
)  # whose samples state their length themselves
@given(st.lists(st.floats(0.5, 1.5), min_size=1, max_size=40))
def test_stamps_cut_to_seconds_preserve_the_time_of_the_recording(name: str, drift: list[float]) -> None:
    """Samples an exact second apart, whose stamps are cut up to half a second early or late."""
    begin, sample, end = RECORDERS[name]
    start, text = datetime(2026, 3, 2, 12, tzinfo=UTC), begin
    stamps = [start, *(start + timedelta(seconds=int(n + shift)) for n, shift in enumerate(drift))]
    for number, at in enumerate(stamps, start=1):
        text += sample(number, at.replace(microsecond=0))
    lengths = [row["interval_s"] for row in fields(name, text + end, "system_cpu")]
    assert len(lengths) == len(stamps)
    assert abs(sum(lengths[1:]) - len(drift)) <= 2
