"""Prints of WRKDSKSTS: intervals against an independent computation."""

from __future__ import annotations

import io
from datetime import UTC
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats.wrkdsksts import FORMAT
from counterflow.collectors.records import Context, Item, Record, Reject
from tests.support.streams import found
from tests.support.wrkdsksts_text import GERMAN, Unit, printed

UNITS = [
    Unit(1, 14.2, 8.5, 9.1, 5.1, 7.2, 10.8, 3),
    Unit(2, 0.5, 4.0, 0.3, 0.2, 4.0, 4.0, 0, state="HDW FAIL", protection="DPY"),
    Unit(3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, protection=""),
]


def parse(content: bytes) -> list[Item]:
    return found(list(FORMAT.parse(io.BytesIO(content), Context("file", UTC))))


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
