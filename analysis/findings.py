"""Findings: what limited a system, each by a stated rule in a `.sql` file below `findings/`.

The first line of a file is the question, the second its rule. A statement takes `systems`, `since` and `until` as
stored questions do, and the `states` of verdicts with the `words` for each. It returns `system`, `severity` (limit,
watch, note), `at` (the worst moment, UTC; the first of several equal ones; null where nothing states it) and `finding`,
a sentence with its figures.

A published rule of `doctor SYSTEM` that warns by counters alone is a finding too, to watch: one set of rules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from counterflow.analysis.checks.report import answers, measured, with_facts
from counterflow.analysis.queries import BEGINNING, END, read, restricted
from counterflow.base.clickhouse import ClickHouse
from counterflow.pipelines.rules import words

FOLDER = Path(__file__).parent / "findings"
SEVERITIES = ("limit", "watch", "note")
"""The worst first: a limit was hit; something to watch; a figure to know."""


class Finding(NamedTuple):
    """One finding about one system; `name` and `rule` are those of its file."""

    name: str
    rule: str
    system: str
    severity: str
    at: str | None
    finding: str

    @property
    def rank(self) -> int:
        """0 for the worst severity."""
        return SEVERITIES.index(self.severity)


def findings(
    client: ClickHouse, systems: Collection[str] = (), since: str = BEGINNING, until: str = END
) -> list[Finding]:
    """Return all findings, grouped by system, the worst first.

    Raises
    ------
    ClickHouseError : the server refused a statement.
    """
    given = {
        "param_systems": sorted(systems),
        "param_since": since,
        "param_until": until,
        "param_states": [*words()],
        "param_words": [*words().values()],
    }
    found = []
    for path in sorted(FOLDER.glob("*.sql")):
        _, rule, statement = read(path).split("\n", 2)
        for row in client.rows(statement, given):
            found.append(Finding(path.stem, rule.removeprefix("-- rule: "), **row))
    found += _of_checks(client, systems, since, until)
    return sorted(found, key=lambda one: (one.system, one.rank, one.name, one.finding))


def _of_checks(client: ClickHouse, systems: Collection[str], since: str, until: str) -> Iterator[Finding]:
    for answer in answers(with_facts(measured(client, restricted(systems, since, until)), None)):
        if answer.system is not None and answer.status == "warn":
            subject = " of ".join(filter(None, (answer.subject.replace("_", " "), answer.entity)))
            rule = f"{answer.why} {answer.source}"
            yield Finding(answer.subject, rule, answer.system, "watch", None, f"{subject}: {answer.figure}")


def worst_first(found: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Return the findings by system: the system with most limits first, and among equals the one with most to watch."""
    by_system: dict[str, list[Finding]] = {}
    for one in found:
        by_system.setdefault(one.system, []).append(one)

    def weight(system: str) -> tuple[int, ...]:
        return tuple(-sum(one.severity == severity for one in by_system[system]) for severity in SEVERITIES[:2])

    return {system: by_system[system] for system in sorted(by_system, key=lambda system: (weight(system), system))}
