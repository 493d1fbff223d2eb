"""Published figures recomputed: all are as documents print them, and a changed input or expectation fails."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.golden.published_figures import Document, PublishedFigure, documents, evaluated, outcomes

EVERY = [check for document in documents() for check in document.checks]
PRINTED = [check for check in EVERY if check.published is not None]


def test_every_published_figure_is_accounted_for() -> None:
    checks = list(outcomes(documents()))
    assert [f"{check.document}: {check.id} is {check.computed}" for check in checks if not check.ok] == []
    assert Counter(check.expect for check in checks) == {
        "reproduced": 153,
        "cut": 6,
        "source_error": 12,
        "counter_check": 1,
    }
    names = [(check.document, check.id) for check in checks]
    assert len(set(names)) == len(names) == 172


def changed(check: PublishedFigure, **to: Any) -> list[str]:
    """Return the failures when a check is changed."""
    [document] = [d for d in documents() if check in d.checks]
    checks = tuple(c.model_copy(update=to) if c is check else c for c in document.checks)
    found = outcomes([Document(document=document.document, checks=checks)])
    return [outcome.id for outcome in found if not outcome.ok]


@pytest.mark.parametrize("check", PRINTED, ids=lambda check: check.id)
def test_another_expectation_fails(check: PublishedFigure) -> None:
    """A check of an error in the document fails where the document prints what its own numbers give."""
    first = next(o for o in outcomes(documents()) if o.id.split("/")[0] == check.id)
    assert first.computed is not None
    wrong = first.computed if check.expect in ("source_error", "counter_check") else first.computed * 1.5 + 3
    assert changed(check, published=f"{wrong:.4f}", tolerance=None)


@pytest.mark.parametrize("check", EVERY, ids=lambda check: check.id)
def test_another_input_gives_another_figure(check: PublishedFigure) -> None:
    """Each cell and number matters: doubled, the computed side moves, so it does not come from what is expected."""
    before = [o.computed for o in outcomes(documents()) if o.id.split("/")[0] == check.id]

    def doubled(expression: Any, wanted: int, seen: list[int]) -> Any:
        if isinstance(expression, dict):
            return {name: doubled(value, wanted, seen) for name, value in expression.items()}
        if isinstance(expression, list):
            return [doubled(value, wanted, seen) for value in expression]
        seen.append(1)
        return {"total": [expression, expression]} if len(seen) == wanted else expression

    seen: list[int] = []
    doubled(check.computed, 0, seen)
    assert seen
    for number in range(1, len(seen) + 1):
        other = check.model_copy(update={"computed": doubled(check.computed, number, [])})
        [document] = [d for d in documents() if check in d.checks]
        after = [o.computed for o in outcomes([document.model_copy(update={"checks": (other,)})])]
        assert after != before, number


@pytest.mark.parametrize(
    ("expression", "mistake"),
    [
        ({"__import__": ["zhyperlink/z17-zhl-ds8a50/log_mb_s"]}, "there is no formula `__import__`"),
        ({"total": ["1 + 1"]}, "there is no cell `1 \\+ 1`"),
        ("zhyperlink/z17/log_mb_s", "names 0 cells"),
    ],
)
def test_a_check_names_formulas_and_cells_and_nothing_else(expression: Any, mistake: str) -> None:
    with pytest.raises(LookupError, match=mistake):
        evaluated(expression, {})


def test_cut_is_not_rounded() -> None:
    [check] = [c for c in EVERY if c.id == "z17-zhl-log-rate"]  # 177.57
    assert changed(check, published="178")
    assert changed(check, expect="reproduced")
    assert not changed(check, published="177.5")
