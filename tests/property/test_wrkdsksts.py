"""Prints of WRKDSKSTS: intervals against an independent computation.

The prints are made here: no verbatim print is public (format `wrkdsksts`). The order of records and columns is that of
IBM's JTOpenLite; the widths are ours.
"""

from __future__ import annotations

import io
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import wrkdsksts
from counterflow.collectors.records import Context, Record, Reject


def number(value: float) -> str:
    """Return a number as green screens print it: one decimal, no zero before the point."""
    return f"{value:.1f}".removeprefix("0") if value < 1 else f"{value:.1f}"


def printed(rates: tuple[float, float], kb: float, seconds: int, time: str) -> str:
    """Return a print of one unit, at reads and writes of `kb` per second, which began so many seconds before."""
    elapsed = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    figures = zip((52.3, sum(rates), kb, *rates, kb, kb), (7, 7, 8, 8, 7, 7, 7), strict=True)
    row = "".join(f"{number(value):>{width}}" for value, width in figures)
    return (
        f"  5770SS1 V7R5M0 220415 {'Disk Status':^60}   PROD01  26/325 {time}     Page    1\n"
        f"  Elapsed time . . . . . . :   {elapsed}{'':40}System name . . . . :   PROD01\n"
        f"     7  4327   70564{row}    10    1   MRR   ACTIVE\n"
        "                          * * * * *  E N D  O F  L I S T I N G  * * * * *\n"
    )


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
    after = (round(first[0] + more[0], 1), round(first[1] + more[1], 1))
    minutes, left = divmod(then, 60)
    text = printed(first, kb, seconds, "10:00:00")
    text += printed(after, kb, seconds + then, f"1{minutes // 60}:{minutes % 60:02}:{left:02}")
    items = list(wrkdsksts.parse(io.BytesIO(text.encode()), Context("file", UTC)))
    assert [item for item in items if isinstance(item, Reject)] == []
    one, two = (item.fields for item in items if isinstance(item, Record) and item.dataset == "disk")
    assert (one["interval_s"], two["interval_s"]) == (seconds, then)
    assert one["reads"] == pytest.approx(first[0] * seconds, abs=0.001)
    for column, kbs, at in (("reads", "read_kb", 0), ("writes", "written_kb", 1)):
        expected = after[at] * (seconds + then) - first[at] * seconds
        assert two[column] == pytest.approx(expected, abs=0.001)
        assert two[kbs] == pytest.approx(expected * kb, abs=0.01)
    assert two["transfers"] == pytest.approx(two["reads"] + two["writes"], abs=0.01)
