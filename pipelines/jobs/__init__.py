"""A job is a folder: its statements as Flink SQL, `stream.sql`, and what they read and write, `job.yaml`.

`stream.sql` has the same bytes in tests and in production. `batch.sql` beside it is the same question as one ClickHouse
SELECT (`pipelines.batch`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, model_validator

from counterflow.base.errors import CounterflowError
from counterflow.base.strict import Strict
from counterflow.schemas.definition import datasets

FOLDER = Path(__file__).parent


class Read(Strict):
    """What a job reads of one dataset; its statements select it from a view of the dataset's name.

    Parameters
    ----------
    columns : of the view, besides its key and `pt`, when Flink read the row. `apart_s` is the seconds from `prev_ts`,
        which the view then has too, to `ts`.
    distinct : whether the view has the rows of each natural key once, as the first of them to arrive. The key is
        system, one column and ts; the query counts rows of other keys itself (`arrival` in `log_load/stream.sql`).
    where : predicate of frames, over columns that a frame has once, as `source`, or leaves out: the view has no rows of
        others. What is not null of a frame may be null of its row.
    rows : predicate of the view's rows, in Flink's SQL and ClickHouse's alike.
    """

    columns: tuple[str, ...] = ()
    distinct: bool = False
    where: str = ""
    rows: str = ""


class Step(Strict):
    """A step in Python between the views and the INSERTs, `driver.STEPS`.

    Parameters
    ----------
    reads, makes : the view that it reads, and the one that it makes of it.
    rule : the rule that judges the rows of the view, for `judge`.
    """

    name: Literal["judge", "wire"]
    reads: str
    makes: str
    rule: str | None = None

    @model_validator(mode="after")
    def _judges_by_a_rule(self) -> Step:
        if (self.rule is not None) != (self.name == "judge"):
            raise ValueError("the step `judge` has a `rule`, and no other has one")
        return self


class Job(Strict):
    """One Flink job.

    Parameters
    ----------
    name : of its folder, and of the job on the cluster.
    query : Flink SQL: views over those of the datasets, and one or several INSERTs that name their columns.
    of : the dataset to whose rows its results belong: a batch computes the days that have such rows.
    reads, writes : the datasets that it reads, and those that it inserts into.
    slots, minutes : of its own views, those that it also selects by slot or minute, as `slots_of_<view>` and
        `minutes_of_<view>` (`pipelines.submission.slots`).
    step : in Python.
    parallelism : subtasks. One is more than enough; with more, no job loses rows.
    state_ttl : how long Flink keeps the state of an interval after its last row, by the cluster's clock. An hour
        outlives a restart of any component. Rows of one interval that arrive further apart make partial results: `n`
        shows it, `counterflow jobs rerun` corrects it. Duplicated rows that far apart repeat the same results.
    """

    name: str
    query: str
    of: str
    reads: dict[str, Read]
    writes: frozenset[str]
    slots: tuple[str, ...] = ()
    minutes: tuple[str, ...] = ()
    step: Step | None = None
    parallelism: int = Field(default=1, ge=1)
    state_ttl: str = "1 h"

    @property
    def rule(self) -> str | None:
        """The rule that the job judges with."""
        return self.step.rule if self.step else None

    @property
    def statements(self) -> list[str]:
        """The statements of the query, without comments: no text in them may contain a semicolon."""
        lines = (line for line in self.query.splitlines() if not line.lstrip().startswith("--"))
        return [statement.strip() for statement in "\n".join(lines).split(";") if statement.strip()]

    @property
    def batch(self) -> str:
        """The SELECT of `batch.sql` over the tables: of its results, or of the intervals that its rule judges.

        It selects those with `{from:DateTime64(3, 'UTC')}` <= ts < `{to:DateTime64(3, 'UTC')}`, of all systems: of a
        result every column of the dataset and `landed_at`, when its newest input row landed; of an interval its
        columns, `entity_type` and `entity`. It reads tables with `FINAL`. Joins yield NULL for an unmatched row.
        """
        return (FOLDER / self.name / "batch.sql").read_text(encoding="utf-8")


@cache
def all_jobs() -> dict[str, Job]:
    """Return all jobs by name, sorted; raises `CounterflowError` where a `job.yaml` is wrong."""
    return {path.parent.name: _job(path) for path in sorted(FOLDER.glob("*/job.yaml"))}


def _job(path: Path) -> Job:
    query = path.with_name("stream.sql").read_text(encoding="utf-8")
    try:
        stated = yaml.safe_load(path.read_text(encoding="utf-8"))
        job = Job(name=path.parent.name, query=query, **stated)
        if wrong := [*_mistakes(job)]:
            raise ValueError("; ".join(wrong))
    except (yaml.YAMLError, TypeError, ValueError) as error:
        raise CounterflowError(f"{path}: {error}", hint="see CONTRIBUTING.md, Add a job", exit_code=2) from None
    return job


def _mistakes(job: Job) -> Iterator[str]:
    """Yield what a job reads or writes that no definition has, and where no view can be made of what it reads."""
    if unknown := {*job.reads, *job.writes, job.of} - datasets().keys():
        yield f"there is no dataset `{'`, `'.join(sorted(unknown))}` in schemas/datasets/"
        return
    for name, read in job.reads.items():
        dataset = datasets()[name]
        entity = [column for column in dataset.key if column in dataset.columns]
        for column in read.columns:
            if column not in dataset.all_columns and column != "apart_s":
                yield f"reads.{name}: `{name}` has no column `{column}`"
        if read.distinct and len(entity) != 1:
            names = " and ".join(entity)
            yield f"reads.{name}: `distinct` needs a key of one column, not of {names}: count rows as log_load does"


def stages(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Yield jobs in groups, each group after those whose results it reads; no job reads the verdicts of rules."""
    by_name = {job.name: job for job in jobs}
    writer = {dataset: name for name, job in by_name.items() for dataset in job.writes if not job.rule}
    needs = {name: {writer[read] for read in job.reads if read in writer} - {name} for name, job in by_name.items()}
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
