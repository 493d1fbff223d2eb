"""Answers to "what is wrong?" on the terminal, in one form whatever was examined, at most 80 columns wide."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

import click

from counterflow.analysis.answer import STATUSES, Answer, Need
from counterflow.base.inert import inert
from counterflow.cli._table import console, table

_WIDTH = 80
_INDENT = 9
_NAMED = 5
"""Maximum number of subjects that lack one input and are named."""
_SHOWN = 5
"""Maximum number of changes shown of one measure."""


def show(answers: Collection[Answer]) -> None:
    """Print the answers by system, passes first, and what calls for action last."""
    width = min(_WIDTH, console().width)
    for system in dict.fromkeys(one.system for one in answers):
        of = [one for one in answers if one.system == system]
        if system is not None:
            counted = Counter(one.status for one in of)
            counts = ", ".join(f"{counted[status]} {status}" for status in STATUSES if counted[status])
            click.echo(f"\n{wrapped(f'System {system}: {counts}')}")
        for status in STATUSES:
            for line in _lines([one for one in of if one.status == status], width):
                click.echo(line)


def show_changes(changes: Sequence[Answer], titles: dict[str, str], statements: dict[str, str]) -> None:
    """Print how rates changed, the name that explains most of each measure first.

    `titles` are those of the measures; `statements` are those to print below them.
    """
    out = console()
    for measure, of in groupby(changes, key=lambda one: one.subject):
        rows = [
            {
                "name": one.entity,
                **{name: float(f"{one.details[name]:.4g}") for name in ("before", "during", "change")},
                "explains %": round(one.details["explains_pct"], 1),
            }
            for one in of
        ]
        out.print("")
        out.print(wrapped(titles[measure]), style="bold", markup=False)
        out.print(table(rows[:_SHOWN]))
        if measure in statements:
            out.print(statements[measure], markup=False)


def wrapped(text: str) -> str:
    """Return a sentence in lines of at most 80 columns, or fewer on a narrower terminal."""
    return textwrap.fill(inert(text), min(_WIDTH, console().width), subsequent_indent="  ", break_long_words=False)


def _lines(answers: Sequence[Answer], width: int) -> Iterable[str]:
    """Return the lines of answers of one status."""
    arrived = [one for one in answers if one.status == "pass" and one.kind != "rule"]
    if arrived:
        yield from _entry("pass", f"Input arrives for {_names(arrived)}.", (), width)
    yield from _lacking([one for one in answers if one.needs], width)
    left = [one for one in answers if one not in arrived and not one.needs]
    for one in left:
        if one.kind == "rule":
            yield from _rule(one, width)
    inputs = sorted((one for one in left if one.kind != "rule"), key=lambda one: one.raises)
    for (status, remedy), of in _alike(inputs):
        affects = dict.fromkeys(name for one in of if one.raises for name in one.details.get("affects", ()))
        more = [f"to do: {remedy}", *([f"affects: {', '.join(affects)}"] if affects else ())]
        yield from _entry(status, f"{_names(of)}: {_reason(of)}", more, width)


def _rule(one: Answer, width: int) -> Iterable[str]:
    found = ": ".join(filter(None, (one.about, one.figure or one.why)))
    if one.remedy is None:
        return _entry(one.status, f"{found} [{one.source}]", (), width)
    rule = one.why if one.figure else None
    more = (rule, f"to do: {one.remedy}", f"source: {one.source}" if one.source else None)
    return _entry(one.status, found, filter(None, more), width)


def _alike(answers: Sequence[Answer]) -> Iterable[tuple[tuple[str, str | None], list[Answer]]]:
    """Return the answers of one status that one remedy helps, in the order of the first of each."""
    found: dict[tuple[str, str | None], list[Answer]] = {}
    for one in answers:
        found.setdefault((one.status, one.remedy), []).append(one)
    return found.items()


def _reason(alike: Sequence[Answer]) -> str:
    if all(one.details.get("input") == "stopped" for one in alike):
        return f"nothing has arrived since {max(one.details['newest'] for one in alike):%F %T}"
    return "; ".join(dict.fromkeys(one.why or "" for one in alike))


def _lacking(answers: Sequence[Answer], width: int) -> Iterable[str]:
    """Return what rules lack, by input, since many rules lack the same one."""
    lacked: dict[tuple[str, Need], list[Answer]] = {}
    for one in answers:
        for need in one.needs.items():
            lacked.setdefault(need, []).append(one)
    facts = [f"{name}: {_rules(of)}" for (name, need), of in lacked.items() if need.kind == "fact"]
    counters = [f"{_rules(of)}: {need.text}" for (_, need), of in lacked.items() if need.kind == "counter"]
    if counters:
        yield from _entry("unknown", "Rules lack what was not collected:", counters, width)
    if facts:
        how = "Rules lack facts that a person knows. --facts FILE states them; docs/doctor.md has their meaning:"
        yield from _entry("unknown", how, facts, width)


def _rules(answers: Sequence[Answer]) -> str:
    names = list(dict.fromkeys(one.subject for one in answers))
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _names(answers: Sequence[Answer]) -> str:
    """Return the subjects, each once, with their entities."""
    entities: dict[str, list[str]] = {}
    for one in answers:
        entities.setdefault(one.subject, []).extend(filter(None, (one.entity,)))
    return ", ".join(f"{name} of {' and '.join(of)}" if of else name for name, of in entities.items())


def _entry(status: str, text: str, more: Iterable[str], width: int) -> Iterable[str]:
    indent = " " * _INDENT
    for first, words in ((f"{status:<{_INDENT}}", text), *((indent, line) for line in more)):
        folded = indent if first != indent else f"{indent}  "
        yield textwrap.fill(
            inert(words), width, initial_indent=first, subsequent_indent=folded, break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip
