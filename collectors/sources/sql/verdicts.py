"""Whether a rule has raised a verdict on a system: what a pack with `when: verdict` waits for.

The metrics of `counterflow dev verdicts` show it. Metrics that cannot be read are no verdict: no system is queried
for more because something else is down.
"""

from __future__ import annotations

import time

import structlog
from prometheus_client.parser import text_string_to_metric_families

log = structlog.get_logger()

QUIET = {"OK", "DEMAND_LIMITED", "UNKNOWN", "STALE"}
"""States that name no trouble; every other is raised."""
LOOK_S = 5.0
"""The shortest time between two readings of the metrics."""
OLD_S = 3600.0
"""A verdict whose newest interval ended longer ago is history."""
_TIMEOUT_S = 3.0


class Verdicts:
    """The metrics at one address."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._raised: set[str] = set()
        self._look_at = 0.0
        self._trouble = ""

    def raised(self, system: str) -> bool:
        """Return whether a verdict is raised on a system now."""
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + LOOK_S
            self._raised = self._look()
        return system in self._raised

    def _look(self) -> set[str]:
        import httpx

        try:
            response = httpx.get(self._url, timeout=_TIMEOUT_S, trust_env=False).raise_for_status()
            found = raised(response.text, time.time())
        except (httpx.HTTPError, ValueError) as error:
            if str(error) != self._trouble:
                log.warning("verdicts cannot be read, packs that wait for one are paused", error=str(error))
            self._trouble = str(error)
            return set()
        self._trouble = ""
        return found


def raised(metrics: str, now_s: float) -> set[str]:
    """Return the systems on which a verdict is raised.

    Raises
    ------
    ValueError : these are no metrics.
    """
    samples = [sample for family in text_string_to_metric_families(metrics) for sample in family.samples]
    of = ("rule", "system", "entity_type", "entity")
    fresh = {
        tuple(sample.labels.get(name) for name in of)
        for sample in samples
        if sample.name == "counterflow_verdict_timestamp_seconds" and now_s - sample.value <= OLD_S
    }
    return {
        sample.labels["system"]
        for sample in samples
        if sample.name == "counterflow_verdict_state"
        and sample.value == 1
        and sample.labels.get("state") not in QUIET
        and tuple(sample.labels.get(name) for name in of) in fresh
    }
