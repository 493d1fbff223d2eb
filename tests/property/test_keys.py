"""No two rows of one input have one key, whatever its stamps are: of two rows with one key a table keeps one."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterflow.collectors.formats import formats
from counterflow.schemas.definition import datasets
from tests.golden.cases import Case, cases

TIME = re.compile(rb"\d\d[:.]\d\d[:.]\d\d|(?<!\d)(?:\d{12}|\d{14})(?!\d)")


def rows(case: Case, content: bytes) -> Counter[tuple[Any, ...]]:
    """Return how many rows have each key."""
    changed = replace(case, files={**case.files, case.input_name: content})
    return Counter(
        (row["dataset"], *(row["fields"].get(column) for column in datasets()[row["dataset"]].key))
        for row in changed.found()
        if "fields" in row
    )


def twice(keys: Counter[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [key for key, count in keys.items() if count > 1]


@pytest.mark.parametrize("name", sorted(formats()))
@settings(max_examples=150, deadline=None)
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
    assert twice(rows(case, content)) == []
