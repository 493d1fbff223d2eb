"""Does the input of each verdict, KPI, alert and board arrive, and if not, why, and what helps?

A verdict has a statement of its own, `<rule>.sql`. It returns a row for each judged thing: `system`, `entity`, `since`,
`newest`, and, where its newest interval cannot be judged, `why` and `advice`; `{judged}` stands for the predicate of
the rows that the rule's job judges. All else follows from the definitions: a result from the manifests that it counts
(`counts:`), a view from what it reads (`reads:`), an alert or a board from the tables and metrics that it reads.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from counterflow.analysis.answer import Answer, Status
from counterflow.base.clickhouse import ClickHouse
from counterflow.dashboards.alerting import alerts
from counterflow.dashboards.definition import boards, charts, metrics_of, tables_of
from counterflow.pipelines.exporter.watched import watched
from counterflow.pipelines.jobs import all_jobs
from counterflow.schemas.definition import Dataset, datasets, published
from counterflow.schemas.mapping import counters_by_source, mappings

FOLDER = Path(__file__).parent

LATE = timedelta(minutes=15)
"""A result is late if it ends this long before its input."""
STOPPED = timedelta(hours=1)
"""Input has stopped if its newest row is older than this."""

STATUSES: dict[str, Status] = {
    "ok": "pass",
    "absent": "unknown",
    "unknown": "unknown",
    "late": "warn",
    "stopped": "warn",
    "missing": "fail",
}
"""Status of the answer by what is known of the input; `absent` is input that the system never had."""


class Arrival(NamedTuple):
    """First and newest `ts` of a dataset's rows, and the sources that sent them (of counters)."""

    since: datetime
    newest: datetime
    sources: tuple[str, ...] = ()


def _answer(
    kind: str,
    system: str,
    subject: str,
    entity: str | None,
    status: str,
    since: datetime | None = None,
    newest: datetime | None = None,
    why: str | None = None,
    remedy: str | None = None,
    affects: tuple[str, ...] = (),
) -> Answer:
    """Return whether one subject can be judged on one system; `details` have `input`, a key of `STATUSES`, and times.

    `affects` are the alerts and boards that depend on a verdict or KPI.
    """
    ends = f"newest interval ends at {newest:%F %T}" if newest else None
    source = ", ".join(_read_by(kind, subject)) or None
    details = {"input": status, "since": since, "newest": newest, "affects": affects}
    raises = status not in ("ok", "absent")
    return Answer(kind, system, subject, entity, STATUSES[status], raises, ends, why, source, remedy, details=details)


def examine(client: ClickHouse, systems: Collection[str] = (), at: datetime | None = None) -> list[Answer]:
    """Return the answers of every verdict, KPI, alert and board on each system; `at` stands for now.

    Raises
    ------
    ClickHouseError, httpx.TransportError : the server refuses a statement, or does not answer.
    """
    at = at or datetime.now(UTC)
    arrived = arrivals(client, systems)
    direct = [
        one
        for system, found in arrived.items()
        for one in (*_verdicts_absent(system, found), *_kpis(system, found, at))
    ]
    direct += _verdicts(client, arrived, at)
    direct = [one for one in direct if one.kind == "kpi" or not _superseded(one, direct)]
    return [*direct, *_dependents(direct)]


def arrivals(client: ClickHouse, systems: Collection[str] = ()) -> dict[str, dict[str, Arrival]]:
    """Return the first and newest `ts` by system and dataset, of systems that have counters or results."""
    each = (
        f"SELECT '{name}' AS dataset, toString(system) AS system, min(ts) AS since, max(ts) AS newest "
        f"FROM counterflow.{name} "
        "WHERE empty({systems:Array(String)}) OR has({systems:Array(String)}, system) GROUP BY system"
        for name in published()
        if name != "deadletter"
    )
    parameters = {"param_systems": sorted(systems)}
    sent = {(row["system"], row["counted"]): tuple(row["sources"]) for row in client.rows(_SOURCES, parameters)}
    found: dict[str, dict[str, Arrival]] = {}
    for row in client.rows(" UNION ALL ".join(each), parameters):
        system, name = row["system"], row["dataset"]
        arrival = Arrival(_moment(row["since"]), _moment(row["newest"]), sent.get((system, name), ()))
        found.setdefault(system, {})[name] = arrival
    known = {name for name, dataset in published().items() if dataset.lists_systems or dataset.role == "result"}
    return {system: of for system, of in sorted(found.items()) if known & of.keys()}


_SOURCES = """
SELECT toString(system) AS system, toString(counted) AS counted, groupUniqArray(toString(source)) AS sources
FROM counterflow.manifest
WHERE empty({systems:Array(String)}) OR has({systems:Array(String)}, system)
GROUP BY system, counted
"""


@cache
def inputs(result: str) -> tuple[str, ...]:
    """Return the counters from which a result or a view is computed."""
    reads, counts = datasets()[result].reads, datasets()[result].counts
    if reads:
        each = ((name,) if name in published() else inputs(name) for name in reads)
        return tuple(dict.fromkeys(name for names in each for name in names))
    if counts is not None:
        return counts.manifests
    jobs = [job for job in all_jobs().values() if result in job.writes]
    return tuple(sorted(name for job in jobs for name in job.reads if name != "config"))


def affected(dataset: str, rule: str | None = None) -> tuple[str, ...]:
    """Return the alerts and boards that read a result, `alert X` and `board Y`; of verdicts those of one rule."""
    metrics = {f"counterflow_{name}" for name in watched()[dataset].figures} if dataset in watched() else set()
    if dataset == "verdict":
        metrics = {"counterflow_verdict_state"}
    drawn = {name for name, chart in charts().items() if dataset in chart.reads and (rule is None or rule in chart.sql)}
    found = []
    for alert in alerts().values():
        text = f"{alert.expr or ''} {alert.grafana.sql if alert.grafana else ''}"
        reads = dataset in tables_of(text) or bool(metrics & metrics_of(text))
        if reads and (rule is None or re.search(rf"['\"]{rule}['\"]", text)):
            found.append(f"alert {alert.title}")
    return (*found, *(f"board {name}" for name, board in boards().items() if drawn & set(board.charts)))


def _read_by(kind: str, subject: str) -> tuple[str, ...]:
    """Return the counters from which a verdict or a KPI is computed; none of an alert or a board, which read those."""
    from counterflow.pipelines.rules import rules

    of = {"verdict": lambda: inputs(rules()[subject].dataset), "kpi": lambda: inputs(subject)}
    return of[kind]() if kind in of else ()


def _required(dataset: Dataset) -> str | None:
    """Return the counters without which a view has no row; a result needs none of its counters more than another."""
    return inputs(dataset.dataset)[0] if dataset.counts is None else None


def _feeds(dataset: Dataset, arrived: Mapping[str, Arrival]) -> list[Arrival]:
    """Return the input of a result or a view that arrives; none where the dataset that a view requires is missing."""
    required = _required(dataset)
    if required is not None and required not in arrived:
        return []
    of = (dataset.source if dataset.counts is None else dataset.counts.source) or ""
    found = [arrived[name] for name in inputs(dataset.dataset) if name in arrived]
    return [one for one in found if any(source.startswith(of) for source in one.sources)]


def _kpis(system: str, arrived: Mapping[str, Arrival], at: datetime) -> Iterator[Answer]:
    for name, dataset in datasets().items():
        if dataset.counts is None and dataset.role != "view":
            continue
        needed, present = inputs(name), _feeds(dataset, arrived)
        affects = affected(name)
        if not present:
            why = f"no {_required(dataset) or ' or '.join(needed)} arrives"
            advice = f"collect one of: {_sources(needed)}"
            yield _answer("kpi", system, name, None, "absent", why=why, remedy=advice, affects=affects)
            continue
        since, newest = min(one.since for one in present), max(one.newest for one in present)
        status, why, advice = "ok", "", ""
        result = arrived.get(name)
        if result is None and dataset.role == "result":
            status, why = "missing", f"{' and '.join(needed)} arrives, but no {name} is computed"
            advice = "counterflow jobs list; counterflow sql provisional_results"
        elif result is not None and result.newest < newest - LATE:
            status, why = "late", f"{name} ends at {result.newest:%F %T}, its input at {newest:%F %T}"
            advice = "counterflow jobs list"
        elif newest < at - STOPPED:
            status, why = "stopped", f"no {' or '.join(needed)} since {newest:%F %T}"
            advice = f"see whether the agent of {system} runs: counterflow sql landing_delay"
        yield _answer("kpi", system, name, None, status, since, newest, why or None, advice or None, affects)


def _verdicts(client: ClickHouse, arrived: Mapping[str, Mapping[str, Arrival]], at: datetime) -> Iterator[Answer]:
    for path in sorted(FOLDER.glob("*.sql")):
        rule = path.stem
        affects = affected("verdict", rule)
        statement = path.read_text(encoding="utf-8").replace("{judged}", all_jobs()[rule].batch)
        ever = {"param_from": "2000-01-01", "param_to": "2200-01-01"}
        for row in client.rows(statement, {**ever, "param_systems": sorted(arrived)}):
            since, newest = _moment(row["since"]), _moment(row["newest"])
            status, why, advice = ("unknown", row["why"], row["advice"]) if row["why"] else ("ok", None, None)
            if status == "ok" and newest < at - STOPPED:
                status, why = "stopped", f"no interval since {newest:%F %T}"
                advice = f"see whether the agent of {row['system']} runs: counterflow sql landing_delay"
            judged = row["system"], rule, row["entity"]
            yield _answer("verdict", *judged, status, since, newest, why, advice, affects)


def _verdicts_absent(system: str, arrived: Mapping[str, Arrival]) -> Iterator[Answer]:
    from counterflow.pipelines.rules import rules

    for name, rule in rules().items():
        needed = inputs(rule.dataset)
        why = f"no {' or '.join(needed)} that the rule judges arrives"
        advice = f"collect one of: {_sources(needed)}"
        affects = affected("verdict", name)
        yield _answer("verdict", system, name, None, "absent", why=why, remedy=advice, affects=affects)


def _sources(names: Collection[str]) -> str:
    return ", ".join(sorted({source for name in names for source in counters_by_source(name, mappings())}))


def _superseded(answer: Answer, others: Collection[Answer]) -> bool:
    same = (other for other in others if other[:3] == answer[:3])
    return _absent(answer) and not all(map(_absent, same))


def _absent(answer: Answer) -> bool:
    return bool(answer.details["input"] == "absent")


def _dependents(direct: Collection[Answer]) -> Iterator[Answer]:
    """Yield alerts and boards by system, each with the first status that raises among the answers it depends on."""
    found: dict[tuple[str, str], list[Answer]] = {}
    for answer in direct:
        for name in answer.details["affects"]:
            found.setdefault((name, str(answer.system)), []).append(answer)
    for (name, system), causes in sorted(found.items()):
        kind, _, subject = name.partition(" ")
        cause = next((one for one in causes if one.raises), None) or min(causes, key=_absent)
        why = cause.why and f"{cause.subject}: {cause.why}"
        judged = cause.details["input"], cause.details["since"], cause.details["newest"]
        yield _answer(kind, system, subject, cause.entity, *judged, why, cause.remedy)


def _moment(written: str) -> datetime:
    return datetime.fromisoformat(written.replace("Z", "+00:00")).replace(tzinfo=UTC)
