"""Series of intervals judged by a rule, one after the other from a cold start."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from counterflow.pipelines.rules import Rule, Verdict, with_settings

BEGIN = datetime(2026, 11, 21, 1, tzinfo=UTC)
GAP = None
"""An interval of which there is no row."""

Series = Sequence[dict[str, Any] | None]


@dataclass(frozen=True)
class Replay:
    """A rule, the columns that name what it judges, and the usual length of an interval."""

    rule: Rule[Any, Any, Any]
    of: dict[str, str]
    interval_s: float

    def verdicts(
        self, series: Series, interval_s: float | None = None, settings: dict[str, str] | None = None
    ) -> list[Verdict]:
        usual_s = interval_s or self.interval_s
        parameters = with_settings(self.rule.parameters(), settings or {})
        state, verdicts = self.rule.start, []
        for number, columns in enumerate(series, 1):
            if columns is not None:
                ts = (BEGIN + timedelta(seconds=number * usual_s)).isoformat()
                row = {"ts": ts, "interval_s": usual_s, **self.of, **columns}
                state, verdict = self.rule.judge(parameters, state, self.rule.interval(row))
                verdicts.append(verdict)
        return verdicts

    def judged(self, intervals: Sequence[Any], *, carried: bool = False) -> list[Verdict]:
        """Return the verdicts on intervals; `carried`, each finds the state before it as Flink stored it."""
        state, verdicts = self.rule.start, []
        for interval in intervals:
            if carried:
                state = pickle.loads(pickle.dumps(state))
            state, verdict = self.rule.judge(self.rule.parameters(), state, interval)
            verdicts.append(verdict)
        return verdicts

    def states(self, series: Series, **options: Any) -> list[str]:
        return [verdict.state for verdict in self.verdicts(series, **options)]

    def signals(self, series: Series, **options: Any) -> list[str | None]:
        return [verdict.signal for verdict in self.verdicts(series, **options)]
