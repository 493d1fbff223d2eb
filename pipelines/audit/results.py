"""Compares every result with a computation from the counters that landed: `pipelines/jobs/<job>/batch.sql`.

Each is one ClickHouse SELECT (`Job.batch`), written from the definition of the dataset, not from the job's own SQL.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from counterflow.base.clickhouse import ClickHouse, Settings
from counterflow.base.spans import by_span, literal
from counterflow.pipelines.jobs import Job, all_jobs
from counterflow.schemas.definition import datasets

RELATIVE = 1e-9
"""Two figures are equal within this share of the greater: a float sum depends on the order of its terms."""

_STEPS = {
    "judge": "a verdict depends on earlier verdicts and their arrival; its input is audited and can be judged again "
    "with: counterflow rules replay {job}",
    "wire": "the hops are followed in Python; link_load is audited against the wires that are stored",
}
NOT_AUDITED: Mapping[str, str] = {
    name: _STEPS[job.step.name].format(job=name) for name, job in all_jobs().items() if job.step
}
"""Jobs without a recomputation, those with a step in Python, and why."""

_TEMPLATE = """
SELECT
  {key}, stored_n IS NOT NULL AS is_stored, of_n IS NOT NULL AS is_recomputed,
  arrayFilter(d -> d.4, [{pairs}]) AS found,
  multiIf(empty(found), 'right', greatest(ifNull(stored_at, 0), ifNull(of_at, 0)) > {{late:UInt32}}, 'pending', 'wrong')
    AS outcome
FROM
(
  SELECT {key}, n AS stored_n, toUnixTimestamp(landed_at) AS stored_at{stored}
  FROM counterflow.{dataset} FINAL
  WHERE ts >= {{from:DateTime64(3, 'UTC')}} AND ts < {{to:DateTime64(3, 'UTC')}}
) AS s
FULL JOIN
(
  SELECT {key}, n AS of_n, toUnixTimestamp(landed_at) AS of_at{recomputed}
  FROM ({sql})
) AS r USING ({key})
"""

_SHOWN = 5
"""Differences of a dataset that are returned at most."""
_SETTINGS: Settings = {"join_use_nulls": 1, "max_execution_time": 60}


class WrongFigure(NamedTuple):
    """One figure of one result; None is null or a missing result."""

    key: dict[str, Any]
    column: str
    stored: str | None
    recomputed: str | None


class AuditOutcome(NamedTuple):
    """The audit of one dataset.

    Of `checked` results, `wrong` differ, are absent (`missing`) or should not exist. `pending` results differ too, but
    their input landed so recently that the job may still be at work.
    """

    dataset: str
    checked: int
    wrong: int
    missing: int
    pending: int
    differences: tuple[WrongFigure, ...]


def audited() -> dict[str, Job]:
    """Return the jobs whose results are audited, by the dataset of their results."""
    return {dataset: job for job in all_jobs().values() if job.step is None for dataset in job.writes}


def compare(client: ClickHouse, dataset: str, begin: datetime, end: datetime, late: datetime) -> AuditOutcome:
    """Compare the results of a dataset whose intervals end from `begin` up to, but excluding, `end`.

    Each query covers a day, or less where a day exceeds the server's limits. A result whose input landed after `late`
    may still change.
    """
    statement = _statement(client, dataset)
    key, unsure_from = datasets()[dataset].key, int(late.timestamp())
    checked = wrong = missing = pending = 0
    differences: list[WrongFigure] = []

    def query(begin: datetime, end: datetime) -> dict[str, Any]:
        wire = {**_SETTINGS, "param_from": literal(begin), "param_to": literal(end), "param_late": unsure_from}
        [counts] = client.rows(_COUNTS.format(statement=statement), wire)
        if counts["wrong"] and (left := _SHOWN - len(differences)) > 0:
            rows = client.rows(_DIFFERENCES.format(statement=statement, key=_key(dataset), show=left), wire)
            differences.extend(
                WrongFigure({name: row[name] for name in key}, row["column"], row["stored"], row["recomputed"])
                for row in rows
            )
        return counts

    for counts in by_span(begin, end, query):
        checked += counts["checked"]
        wrong += counts["wrong"]
        missing += counts["missing"]
        pending += counts["pending"]
    return AuditOutcome(dataset, checked, wrong, missing, pending, tuple(differences))


_COUNTS = """
SELECT
  countIf(outcome != 'pending') AS checked, countIf(outcome = 'wrong') AS wrong,
  countIf(outcome = 'wrong' AND NOT is_stored) AS missing, countIf(outcome = 'pending') AS pending
FROM ({statement})
"""

_DIFFERENCES = """
SELECT {key}, d.1 AS column, d.2 AS stored, d.3 AS recomputed
FROM ({statement})
ARRAY JOIN found AS d, arrayEnumerate(found) AS place
WHERE outcome = 'wrong'
ORDER BY ts, {key}, place
LIMIT {show}
"""


def _statement(client: ClickHouse, dataset: str) -> str:
    sql = audited()[dataset].batch
    now = literal(datetime.now(UTC))
    columns = client.rows(f"DESCRIBE TABLE ({sql}\n)", {**_SETTINGS, "param_from": now, "param_to": now})
    types = {row["name"]: row["type"] for row in columns}
    figures = [name for name in types if name not in {*datasets()[dataset].key, "n", "landed_at"}]
    alone = "stored_n IS NULL OR of_n IS NULL"
    pairs = ["('n', toString(stored_n), toString(of_n), ifNull(stored_n != of_n, 1))"] + [
        f"('{name}', toString(`stored_{name}`), toString(`of_{name}`), NOT ({alone}) AND {_differ(name, types[name])})"
        for name in figures
    ]
    return _TEMPLATE.format(
        key=_key(dataset),
        dataset=dataset,
        sql=f"{sql}\n",
        pairs=", ".join(pairs),
        stored="".join(f", `{name}` AS `stored_{name}`" for name in figures),
        recomputed="".join(f", `{name}` AS `of_{name}`" for name in figures),
    )


def _differ(name: str, kind: str) -> str:
    stored, of = f"`stored_{name}`", f"`of_{name}`"
    if "Float" in kind:
        differ = f"abs({stored} - {of}) > {RELATIVE} * greatest(abs({stored}), abs({of})) + 1e-12"
    else:
        differ = f"{stored} != {of}"
    return f"ifNull({differ}, ({stored} IS NULL) != ({of} IS NULL))"


def _key(dataset: str) -> str:
    return ", ".join(f"`{name}`" for name in datasets()[dataset].key)
