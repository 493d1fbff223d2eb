"""Wherever an export and the one beside it are cut, a resumed parse yields the rest; a number has one reading."""

from __future__ import annotations

import io
from collections.abc import Callable
from zoneinfo import ZoneInfo

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import ibmi_tables
from counterflow.collectors.formats.ibmi_tables import read_alone
from counterflow.collectors.records import Context, Item, Neighbour, Position, Record, singly
from counterflow.collectors.text.numbers import number_of, numbers_of
from tests.support.ibmi_export import write
from tests.support.streams import newest_position

BERLIN = ZoneInfo("Europe/Berlin")
TIME = ("INTNUM", "DTETIM", "INTSEC", "DTECEN")


def when(interval: int) -> dict[str, object]:
    minutes = 15 * interval
    stamp = f"261025{minutes // 60:02}{minutes % 60:02}00"
    return {"INTNUM": interval, "DTETIM": stamp, "INTSEC": 900, "DTECEN": "1", "DTCEN": "1"}


def export(table: str, rows: list[dict[str, object]], *names: str, separator: str = ",", decimal: str = ".") -> bytes:
    out = io.BytesIO()
    write(out, table, rows, *names, separator=separator, decimal=decimal)
    return out.getvalue()


def jobs(table: str, *names: str) -> bytes:
    rows = [
        {
            **when(interval),
            "JBNAME": name,
            "JBUSER": "ANNA",
            "JBNBR": f"{task:06}",
            "JBTDE": f"{task:016X}",
            "JBSTSF": 2 if (task + interval) % 4 == 0 else 0,
            "JBSSYS": "QBATCH",
            "JBCPU": 12.5 * task,
            "JBPW": task % 2,
            "JBLRD": 100 * task,
        }
        for interval in range(1, 5)
        for task, name in enumerate(("A", 'B"C', "D,E", "F"), 1)
        if table == "QAPMJOBMI" or task != interval
    ]
    return export(table, rows, *names)


MI = (*TIME, "JBNAME", "JBUSER", "JBNBR", "JBTDE", "JBSTSF", "JBCPU", "JBPW")
OS = ("INTNUM", "DTETIM", "INTSEC", "DTCEN", "JBNAME", "JBUSER", "JBNBR", "JBTDE", "JBSTSF", "JBSSYS", "JBLRD")
DISK = (*TIME, "DSDRN", "DSRDS", "DSWRTS", "DSNBSY", "DSSMPL", "DSTYPE")
DISKS = [
    {**when(interval), "DSDRN": f"DMP{disk:03}", "DSRDS": disk * interval, "DSNBSY": 9, "DSSMPL": 10, "DSTYPE": "2107"}
    for interval in range(1, 6)
    for disk in range(3)
]
WHOLE = {
    "QAPMJOBMI.csv": jobs("QAPMJOBMI", *MI),
    "QAPMDISK.csv": export("QAPMDISK", DISKS, *DISK, separator=";", decimal=","),
    "two.csv": export("QAPMDISK", DISKS[:6], *DISK) + jobs("QAPMJOBOS", *OS),
}
BESIDE = jobs("QAPMJOBOS", *OS)


def neighbours(files: dict[str, bytes], *, read_alone: bool = False) -> Callable[[str, str], Neighbour | None]:
    return lambda own, other: Neighbour(io.BytesIO(files[other]), read_alone) if other in files else None


def parse(
    content: bytes, file: str, *, complete: bool = True, position: Position | None = None, beside: bytes = BESIDE
) -> list[Item]:
    context = Context(file, BERLIN, "SYSA", complete=complete, beside=neighbours({"QAPMJOBOS": beside}))
    return list(ibmi_tables.parse(io.BytesIO(content), context, position))


def found(items: list[Item]) -> list[Item]:
    return [item for item in singly(items) if not isinstance(item, Position)]


def stored(position: Position) -> Position:
    return Position(**orjson.loads(orjson.dumps(position)))


@pytest.mark.parametrize("file", WHOLE)
@given(data=st.data())
def test_a_split_anywhere_changes_nothing(file: str, data: st.DataObject) -> None:
    content = WHOLE[file]
    cut = data.draw(st.integers(0, len(content)))
    beside = data.draw(st.integers(0, len(BESIDE)))
    first = parse(content[:cut], file, complete=False, beside=BESIDE[:beside])
    rest = parse(content, file, position=newest_position(first))
    assert found(first) + found(rest) == found(parse(content, file))


def test_a_half_that_comes_late_is_read_with_the_first() -> None:
    """QAPMJOBMI was read alone; QAPMJOBOS comes later and yields the whole jobs, in any number of steps."""
    first = WHOLE["QAPMJOBMI.csv"]
    joined = found(parse(first, "QAPMJOBMI.csv"))
    context = Context("QAPMJOBOS.csv", BERLIN, "SYSA", beside=neighbours({"QAPMJOBMI": first}, read_alone=True))
    items = list(ibmi_tables.parse(io.BytesIO(BESIDE), context))
    assert found(items) == joined
    positions = [at for at, item in enumerate(items) if isinstance(item, Position)]
    assert len(positions) > 2
    for at in positions:
        position = items[at]
        assert isinstance(position, Position)
        assert found(list(ibmi_tables.parse(io.BytesIO(BESIDE), context, stored(position)))) == found(items[at:])


def test_a_half_that_comes_while_the_first_is_read_changes_nothing_of_it() -> None:
    content = WHOLE["QAPMJOBMI.csv"]
    alone = Context("QAPMJOBMI.csv", BERLIN, "SYSA")
    items = list(ibmi_tables.parse(io.BytesIO(content), alone))
    at, position = next((at, item) for at, item in enumerate(items) if isinstance(item, Position))
    assert found(parse(content, "QAPMJOBMI.csv", position=stored(position))) == found(items[at:])
    assert read_alone(position)
    assert not any(read_alone(i) for i in parse(content, "QAPMJOBMI.csv") if isinstance(i, Position))


WRITTEN = st.one_of(
    st.decimals(-(10**9), 10**9, places=3).map(str),
    st.integers(0, 10**20).map(str),
    st.sampled_from([".5", "-.5", "007", "+3", " 4 ", "1E3", "1e3", "1,5", "1,2,3", "", "true", "null", "[1]", '"1"']),
)


@given(values=st.lists(WRITTEN, min_size=1, max_size=6))
def test_the_numbers_of_a_row_are_those_of_each_value(values: list[str]) -> None:
    try:
        together = numbers_of(values)
    except ValueError:
        assert any(not value.isdecimal() for value in values)
    else:
        assert together == tuple(map(number_of, values))
        assert min(together) >= 0


TEXTS = st.text("AZ09 .,;-_/\\\"'\tée\x00", max_size=10).map(lambda text: '"' + text.replace('"', '""') + '"')
NUMBERS = st.one_of(WRITTEN, st.sampled_from(["-0", "1e400", "nan", "1_0", "12.", "00", "-7"])).filter(
    lambda written: "," not in written and '"' not in written
)
ROWS = st.tuples(TEXTS, NUMBERS, NUMBERS, NUMBERS, st.one_of(NUMBERS, TEXTS), st.one_of(NUMBERS, TEXTS))


@given(rows=st.lists(ROWS, max_size=4))
def test_a_row_is_read_alike_whatever_separates_its_values(rows: list[tuple[str, ...]]) -> None:
    """Most rows separated by commas are typed at once, those separated by tabs value by value."""

    def items_of(separator: str) -> list[tuple[object, ...]]:
        lines = [(*TIME, "JBTDE", "JBNAME", "JBCPU", "JBPW", "JBBTA", "NEW", "JBPAGF")]
        lines += [("1", '"261025001500"', "900", '"1"', f'"{task:016X}"', *row) for task, row in enumerate(rows)]
        content = "".join(separator.join(line) + "\r\n" for line in lines).encode()
        return [
            (item.dataset, item.fields) if isinstance(item, Record) else (item.reason, item.detail, item.line)
            for item in found(parse(content, "QAPMJOBMI.csv", beside=b""))
        ]

    assert items_of(",") == items_of("\t")
