"""A job is a folder with its question as Flink SQL, `<job>/query.sql`: the same bytes in tests and in production."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from counterflow.base.errors import CounterflowError
from counterflow.pipelines.rules import rules

FOLDER = Path(__file__).parent


class Job(BaseModel):
    """One Flink job.

    Parameters
    ----------
    name : of its folder, and of the job on the cluster.
    query : Flink SQL over tables named as the datasets: views, and one or several INSERTs that name their columns.
    parallelism : subtasks. One is more than enough; with more, no job loses rows.
    state_ttl : how long Flink keeps the state of an interval after its last row, by the cluster's clock. An hour
        outlives a restart of any component. Rows of one interval that arrive further apart make partial results: `n`
        shows it, `counterflow jobs rerun` corrects it. Duplicated rows that far apart repeat the same results.
    rule : the rule of the same name that the job judges with. The query creates a view `intervals`, whose columns
        `system`, `entity_type` and `entity` identify the judged entity, and inserts from `judged`.

    A query selects the rows of a dataset by its name, and each row once with the prefix `distinct_`. With the prefix
    `slots_of_` or `minutes_of_` it selects rows of a view of its own by slots of time (`pipelines.jobs.slots`). Rows
    of a dataset with `prev_ts` have `apart_s`, the seconds since then.
    A query that inserts from `wired` creates the view `known`: links and settings that `pipelines.wiring` wires.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    query: str
    parallelism: int = Field(default=1, ge=1)
    state_ttl: str = "1 h"
    rule: str | None = None

    @property
    def step(self) -> str | None:
        """The step in Python between the views and the INSERTs, one of `driver.STEPS`."""
        return "judge" if self.rule else "wire" if "wired" in self.reads else None

    @property
    def statements(self) -> list[str]:
        """The statements of the query, without comments."""
        code = re.sub(r"^\s*--.*$", "", self.query, flags=re.MULTILINE)
        return [statement.strip() for statement in code.split(";") if statement.strip()]

    @property
    def words(self) -> set[str]:
        """Every name in the statements, a superset of the columns that the job uses."""
        return set(re.findall(r"\w+", " ".join(self.statements)))

    @property
    def selects(self) -> set[str]:
        """What the statements select from: datasets, datasets with the prefix `distinct_`, and own views."""
        return set(re.findall(r"\b(?:FROM|JOIN)\s+`?(\w+)", " ".join(self.statements)))

    @property
    def reads(self) -> set[str]:
        """The same names without the prefix `distinct_`."""
        return {name.removeprefix("distinct_") for name in self.selects}

    def condition(self, view: str) -> str:
        """Return the predicate that every statement applies first to a view, where a frame as a whole can fail it.

        That is `source = …`, or that a column is not null. Flink would unnest and deduplicate the frame all the same.
        """
        condition = r"(source = '\w+'|\w+ IS NOT NULL)(?![^()]*\bOR\b)"
        first = rf"\b(?:FROM|JOIN)\s+{view}\b(?:\s+WHERE\s+{condition})?"
        found = set(re.findall(first, " ".join(self.statements)))
        return found.pop() if len(found) == 1 else ""

    @property
    def judged(self) -> str:
        """The predicate of the rows of the rule's dataset that the job judges; Flink's SQL and ClickHouse's alike."""
        view = next(statement for statement in self.statements if "VIEW intervals AS" in statement)
        return view.rpartition("WHERE ")[2]

    @property
    def writes(self) -> set[str]:
        """The datasets that the statements insert into."""
        return set(re.findall(r"\bINSERT\s+INTO\s+`?(\w+)", " ".join(self.statements)))


@cache
def all_jobs() -> dict[str, Job]:
    """Return all jobs by name, sorted."""
    return {path.parent.name: _job(path) for path in sorted(FOLDER.glob("*/query.sql"))}


def _job(path: Path) -> Job:
    name = path.parent.name
    return Job(name=name, query=path.read_text(encoding="utf-8"), rule=name if name in rules() else None)


def stages(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Yield jobs in groups, each group after those whose results it reads; no job reads the verdicts of rules."""
    by_name = {job.name: job for job in jobs}
    writer = {dataset: name for name, job in by_name.items() for dataset in job.writes if not job.rule}
    needs = {name: {writer[read] for read in job.reads & writer.keys()} - {name} for name, job in by_name.items()}
    waiting = TopologicalSorter(needs)
    waiting.prepare()
    while ready := waiting.get_ready():
        yield [by_name[name] for name in ready]
        waiting.done(*ready)


def chosen(names: Iterable[str] = ()) -> list[Job]:
    """Return the jobs with these names, all when none is given; raises `CounterflowError` for an unknown name."""
    jobs = all_jobs()
    names = list(names) or list(jobs)
    if unknown := [name for name in names if name not in jobs]:
        raise CounterflowError(f"there is no job {', '.join(unknown)}", hint=f"jobs: {', '.join(jobs)}", exit_code=2)
    return [jobs[name] for name in names]
