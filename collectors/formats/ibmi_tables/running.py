"""Completes records of running counts with those of the sample before; finds rows that cover more than their sample."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from counterflow.collectors.formats.ibmi_tables.description import Description
from counterflow.collectors.formats.ibmi_tables.intervals import OpenInterval
from counterflow.collectors.records import Fields, Reason, Reject, Unusable
from counterflow.collectors.text.running_counts import Beside, beside
from counterflow.collectors.text.stamps import iso

_FORGET = timedelta(hours=1)
"""An instance whose running counts were not seen for this long begins anew."""
_RESET = "query with RESET_STATISTICS => 'YES'"

Refuse = Callable[[Reason, str, Any], Reject]
"""Returns the reject of a reason, a detail, and of what is kept."""


class RunningCounts:
    """The running counts of a table; `state` keeps those of the preceding sample of each instance.

    `datasets` are those that have running counts, `since_baseline` the columns of each dataset that cover the time
    since statistics were reset.
    """

    def __init__(self, table: Description, state: dict[str, Any], refuse: Refuse) -> None:
        self._table, self._state, self._refuse = table, state, refuse
        self._filled = {filled.dataset: filled for filled in table.records}
        self.datasets = {f.dataset for f in self._filled.values() if f.previous or f.difference}
        self.since_baseline = {
            filled.dataset: [name for name, written in filled.columns.items() if "ELAPSED_" in str(written)]
            for filled in self._filled.values()
        }

    def complete(self, interval: OpenInterval, instance: str, dataset: str, columns: Fields) -> list[Reject]:
        """Complete a record of running counts with those of the instance's preceding sample."""
        filled, instant = self._filled[dataset], interval.instant
        now = {name: columns[name] for name in (*filled.previous, *filled.difference) if name in columns}
        memory = self._state.setdefault("previous", {}).setdefault(self._table.table, {})
        known = memory.get(instance)
        try:
            found = beside(known, instant, now)
        except Unusable as error:
            anew = beside(None, instant, now).sample
            found = Beside({}, anew, reason=Reason.RESTARTED, detail=str(error))
        for name in filled.difference:
            columns.pop(name, None)
        if interval.stated and found.apart_s is not None and datetime.fromisoformat(known["ts"]) >= interval.stated:
            return []  # placed behind the sample before, which states the same time: the amounts are the next sample's
        memory[instance] = found.sample
        rejects = [self._refuse(found.reason, f"{instance!r}: {found.detail}", "all")] if found.reason else []
        if found.apart_s is None:
            return rejects
        stated = columns.get("interval_s")
        columns["interval_s"] = found.apart_s if filled.difference else found.fields["interval_s"]
        if filled.previous:
            columns["prev_ts"] = found.fields["prev_ts"]
        before = {name: found.fields[f"prev_{name}"] for name in now if f"prev_{name}" in found.fields}
        columns |= {f"prev_{name}": before[name] for name in filled.previous if name in before}
        if found.reason is Reason.RESTARTED:
            return rejects
        columns |= {name: now[name] - before[name] for name in filled.difference if name in before}
        averages = [name for name in self.since_baseline[dataset] if name in columns]
        if stated is None or not averages or abs(stated - found.apart_s) <= _tolerance_s(found.apart_s):
            return rejects
        for name in averages:
            del columns[name]
        return [*rejects, *self.not_reset(interval, dataset, f"no {', '.join(averages)}", stated, found.apart_s)]

    def overlaps(self, interval: OpenInterval, seconds: float | None) -> bool:
        """Return whether a row covers time that the row before covers as well: its baseline was not reset since."""
        since_s = interval.since_s
        return bool(not self._table.time and seconds and since_s > 0 and seconds > since_s + _tolerance_s(since_s))

    def not_reset(
        self, interval: OpenInterval, dataset: str, lacking: str, covered_s: float | None, apart_s: float
    ) -> list[Reject]:
        """Return why figures since a baseline are no figures of the interval; once for all rows of an interval."""
        if dataset in interval.refused:
            return []
        interval.refused.add(dataset)
        detail = f"{lacking}: the row covers {covered_s:g} s, and {apart_s:g} s passed since the sample before"
        return [self._refuse(Reason.REPEATED_BLOCK, f"{detail}; {_RESET}", "part")]

    def forget(self, interval: OpenInterval) -> None:
        """Forget instances that were not seen for long."""
        oldest = iso(interval.instant - _FORGET)
        memory = self._state.get("previous", {}).get(self._table.table, {})
        for instance in [i for i, sample in memory.items() if sample["ts"] < oldest]:
            del memory[instance]


def _tolerance_s(seconds: float) -> float:
    """Return by how much the stated length of an interval may differ from the time between two answers."""
    return max(5.0, seconds / 10)
