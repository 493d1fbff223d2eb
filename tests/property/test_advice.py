"""Whatever a file begins with, the advice is one printable line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.advice import advice
from tests.golden.cases import cases

HEADS = [case.input[:20_000] for case in cases()]
BLANK = st.text("\f\n\r\t \u00a0\u2003", max_size=40).map(str.encode)
ANY = st.one_of(st.binary(max_size=400), BLANK, st.sampled_from(HEADS))


@given(ANY, ANY, st.integers(0, 20_000), st.integers(0, 400))
def test_the_advice_is_one_printable_line(one: bytes, other: bytes, cut: int, until: int) -> None:
    line = advice(one[:cut] + other[:until])
    assert line
    assert line.isprintable()
    assert len(line) < 600
