"""Verdicts of a rule on one entity, from intervals that arrive out of order, duplicated, or completed later.

The rule needs intervals in order. So the newest intervals of an entity are kept with the state before each. One that
arrives late, or again with more inputs, is judged at its place; later ones are judged again until nothing changes.
An interval older than those kept is history: `counterflow rules replay` judges it.

Standard library only: in Flink none of Counterflow's packages exist. Pure.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from counterflow.pipelines.rules import Rule, Verdict

Row = Mapping[str, Any]

KEPT = 240
"""Intervals of an entity that are kept: an hour at 15 s."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class SeriesPlace(NamedTuple):
    """Where a series stands: the state of the rule, the state shown, and since when it is shown.

    `shown` is None before the first interval.
    """

    rule: Any
    shown: str | None = None
    since_ms: int = 0


class _Judged(NamedTuple):
    """A kept interval: its end, its row, the place before it, and the digest of its verdict."""

    ts_ms: int
    row: Row
    before: SeriesPlace
    digest: str


class Series(NamedTuple):
    """Memory of one entity: the newest intervals in order, the place after them, the end of history."""

    judged: tuple[_Judged, ...] = ()
    place: SeriesPlace | None = None
    history_ms: int | None = None


class Judgement(NamedTuple):
    """New or changed verdicts, the number of rows of history, and rows that the rule cannot read."""

    verdicts: list[dict[str, Any]]
    history: int
    unreadable: list[str]


def judge(rule: Rule[Any, Any, Any], parameters: Any, series: Series, rows: Iterable[Row]) -> tuple[Series, Judgement]:
    """Judge rows of one entity; return its new memory and the verdicts to publish.

    Parameters
    ----------
    rows : of the rule's dataset, by column name; `ts` as ISO 8601, UTC where it has no zone, and `n`.
    """
    pending: dict[int, Row] = {}
    unreadable: list[str] = []
    history = 0
    known = {judged.ts_ms: judged.row for judged in series.judged}
    for row in rows:
        try:
            ts_ms = _milliseconds(rule.interval(row).ts)
        except ValueError as error:
            unreadable.append(f"{row.get('ts')}: {error}")
            continue
        before = pending.get(ts_ms) or known.get(ts_ms)
        if series.history_ms is not None and ts_ms <= series.history_ms:
            history += 1
        elif before is None or (row != before and row["n"] >= before["n"]):
            pending[ts_ms] = row
    if not pending:
        return series, Judgement([], history, unreadable)

    first = bisect_left(series.judged, min(pending), key=lambda judged: judged.ts_ms)
    kept, again = series.judged[:first], {judged.ts_ms: judged for judged in series.judged[first:]}
    place = series.judged[first].before if again else series.place
    place = place or SeriesPlace(rule.start)
    newest_change = max(pending)
    judged: list[_Judged] = list(kept)
    verdicts = []
    for ts_ms in sorted({*again, *pending}):
        old = again.get(ts_ms)
        if old and ts_ms > newest_change and old.before == place:  # from here on nothing changes
            judged += [one for one in again.values() if one.ts_ms >= ts_ms]
            place = series.place
            break
        row = pending.get(ts_ms) or (old.row if old else {})
        [(after, verdict)] = in_order(rule, parameters, place, [row])
        if old is None or old.digest != _digest(verdict):
            verdicts.append(verdict)
        judged.append(_Judged(ts_ms, row, place, _digest(verdict)))
        place = after
    gone, left = judged[:-KEPT], judged[-KEPT:]
    history_ms = gone[-1].ts_ms if gone else series.history_ms
    return Series(tuple(left), place, history_ms), Judgement(verdicts, history, unreadable)


def in_order(
    rule: Rule[Any, Any, Any], parameters: Any, place: SeriesPlace | None, rows: Iterable[Row]
) -> Iterator[tuple[SeriesPlace, dict[str, Any]]]:
    """Judge rows of one entity that arrive once and in order; yield the place after each row, and its verdict.

    `place` is the one after the row before, None at the first. A row that the rule cannot read is left out.
    """
    place = place or SeriesPlace(rule.start)
    digest = _digest(asdict(parameters))
    for row in rows:
        try:
            interval = rule.interval(row)
        except ValueError:
            continue
        ts_ms = _milliseconds(interval.ts)
        state, verdict = rule.judge(parameters, place.rule, interval)
        place = SeriesPlace(state, verdict.state, place.since_ms if verdict.state == place.shown else ts_ms)
        yield place, _published(verdict, interval, ts_ms, row["n"], place.since_ms, digest)


def _digest(values: Mapping[str, Any]) -> str:
    """Return 16 hexadecimal digits that change with any value."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def _published(verdict: Verdict, interval: Any, ts_ms: int, n: int, since_ms: int, parameters: str) -> dict[str, Any]:
    return {
        "ts_ms": ts_ms,
        "n": n,
        "interval_s": interval.interval_s,
        "state": verdict.state,
        "signal": verdict.signal,
        "stale": verdict.stale,
        "reason": verdict.reason,
        "since_ms": since_ms,
        "evidence": json.dumps(verdict.evidence.as_json()),
        "parameters": parameters,
    }


def _milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND
