"""Prints of WRKDSKSTS: intervals against an independent computation.

The prints are made here: no verbatim print is public (format `wrkdsksts`). The order of records and columns is that of
IBM's JTOpenLite; the widths are ours.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import wrkdsksts
from counterflow.collectors.records import Context, Item, Record, Reject
from tests.support.streams import found


class Unit(NamedTuple):
    """One disk unit; rates are per second since the reset."""

    number: int
    io: float
    size_kb: float
    reads: float
    writes: float
    read_kb: float
    written_kb: float
    busy: int
    size: int = 70564
    used: float = 52.3
    protection: str = "MRR"
    state: str = "ACTIVE"


ENGLISH = ("Disk Status", "Elapsed time . . . . . . :", "System name . . . . :", "Page")
GERMAN = ("Plattenstatus", "Abgelaufene Zeit . . . . :", "Systemname . . . . . :", "Seite")


def number(value: float, comma: bool = False) -> str:
    """Return a number as green screens print it: one decimal, no zero before the point."""
    written = f"{value:.1f}"
    written = written[1:] if written.startswith("0.") else written
    return written.replace(".", ",") if comma else written


def row(unit: Unit, *, comma: bool = False) -> str:
    """Return the line of a unit, as it is printed."""
    means = (unit.used, unit.io, unit.size_kb, unit.reads, unit.writes, unit.read_kb, unit.written_kb)
    widths = (7, 7, 8, 8, 7, 7, 7)
    figures = "".join(f"{number(value, comma):>{width}}" for value, width in zip(means, widths, strict=True))
    line = f" {unit.number:>4}  4327{unit.size:>8}{figures}{unit.busy:>6}"
    return f"{line}    1   {unit.protection:<6}{unit.state:<11}"


def printed(
    units: Sequence[Unit],
    seconds: int,
    *,
    time: str = "18:50:00",
    words: tuple[str, str, str, str] = ENGLISH,
    comma: bool = False,
    control: bool = False,
) -> str:
    """Return a print, with its headings on every page; `control` puts carriage control before each line."""
    title, label, name, page_word = words
    elapsed = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    lines: list[str] = []
    for page, start in enumerate(range(0, len(units), 50), 1):
        lines += [
            f"1 5770SS1 V7R5M0 220415 {title:^60}   PROD01  26/325 {time}     {page_word} {page:>4}",
            f"  {label}   {elapsed}{'':40}{name}   PROD01",
            "                 Size      %    I/O  Request    Read  Write   Read  Write     %       -Protection-",
            "  Unit  Type      (M)   Used    Rqs Size (K)    Rqs    Rqs    (K)    (K)  Busy  ASP   Type  Status",
            *(" " + row(unit, comma=comma) for unit in units[start : start + 50]),
        ]
    lines.append("                          * * * * *  E N D  O F  L I S T I N G  * * * * *")
    return "".join((line if control else " " + line[1:]).rstrip() + "\n" for line in lines)


UNITS = [
    Unit(1, 14.2, 8.5, 9.1, 5.1, 7.2, 10.8, 3),
    Unit(2, 0.5, 4.0, 0.3, 0.2, 4.0, 4.0, 0, state="HDW FAIL", protection="DPY"),
    Unit(3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, protection=""),
]


def parse(content: bytes) -> list[Item]:
    return found(list(wrkdsksts.parse(io.BytesIO(content), Context("file", UTC))))


def disks(content: str) -> list[dict[str, Any]]:
    items = parse(content.encode())
    assert [item for item in items if isinstance(item, Reject)] == []
    return [item.fields for item in items if isinstance(item, Record) and item.dataset == "disk"]


tenths = st.integers(0, 9999).map(lambda number: number / 10)


@given(
    first=st.tuples(tenths, tenths),
    more=st.tuples(tenths, tenths),
    seconds=st.integers(1, 80_000),
    then=st.integers(1, 3600),
    kb=tenths,
)
def test_rates_without_a_reset_become_amounts_of_the_interval(
    first: tuple[float, float], more: tuple[float, float], seconds: int, then: int, kb: float
) -> None:
    def unit(rates: tuple[float, float]) -> Unit:
        return Unit(7, round(sum(rates), 1), kb, *rates, kb, kb, 10)

    after = (round(first[0] + more[0], 1), round(first[1] + more[1], 1))
    minutes, left = divmod(then, 60)
    text = printed([unit(first)], seconds, time="10:00:00")
    text += printed([unit(after)], seconds + then, time=f"1{minutes // 60}:{minutes % 60:02}:{left:02}")
    one, two = disks(text)
    assert (one["interval_s"], two["interval_s"]) == (seconds, then)
    assert one["reads"] == pytest.approx(first[0] * seconds, abs=0.001)
    for column, at in (("reads", 0), ("writes", 1)):
        expected = after[at] * (seconds + then) - first[at] * seconds
        assert two[column] == pytest.approx(expected, abs=0.001)
        kbs = {"reads": "read_kb", "writes": "written_kb"}[column]
        assert two[kbs] == pytest.approx(expected * kb, abs=0.01)
    assert two["transfers"] == pytest.approx(two["reads"] + two["writes"], abs=0.01)


@pytest.mark.parametrize(("words", "comma"), [(("Disk Status", "Elapsed:", "System:", "Page"), False), (GERMAN, True)])
def test_no_word_of_a_heading_matters(words: tuple[str, str, str, str], comma: bool) -> None:
    assert disks(printed(UNITS, 300, words=words, comma=comma)) == disks(printed(UNITS, 300))


def test_a_thousand_units_on_many_pages() -> None:
    units = [UNITS[0]._replace(number=number) for number in range(1, 1_001)]
    rows = disks(printed(units, 300, control=True))
    assert [row["disk"] for row in rows] == [str(number) for number in range(1, 1_001)]


def test_columns_that_run_together_are_cut_where_they_end_elsewhere() -> None:
    wide = UNITS[0]._replace(number=9999, size=99999999, used=100.0, io=99999.9, reads=999999.9, writes=99999.9)
    assert "99999999  100.099999.9" in printed([wide], 300)
    (_, found) = disks(printed([UNITS[0], wide], 300))
    assert (found["disk"], found["capacity_mb"], found["used_pct"]) == ("9999", 99_999_999, 100.0)
    assert found["reads"] == pytest.approx(999_999.9 * 300)
