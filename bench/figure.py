"""A measured figure, its limit, and its peer: what a bench module prints and RESULTS.md shows."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Literal

# CPU seconds of `make bench`'s fixed task on the machine that limits are stated for: two cores of an AMD EPYC.
REFERENCE_TASK_S = 0.36


@dataclass(frozen=True)
class Figure:
    """One figure. `limit` reads like `>= 25`; `peer` names the peer measured in the same run.

    `method` is one sentence: the input, what was timed, and by which clock (CPU seconds or wall).
    """

    measure: str
    value: float
    unit: str
    limit: str
    method: str
    peer: str | None = None
    peer_value: float | None = None

    def met(self, task_s: float) -> Literal["yes", "no", "unknown"]:
        """Return whether the value keeps the limit, on a machine that does the fixed task in `task_s` CPU seconds.

        A time or a rate that misses its limit by less than the machine is slower than `REFERENCE_TASK_S` is unknown.
        """
        if self._keeps(self.value):
            return "yes"
        return "unknown" if self._keeps(self.at_reference(max(task_s, REFERENCE_TASK_S))) else "no"

    def at_reference(self, task_s: float) -> float:
        """Return the value on the machine of the limits, where one that does the fixed task in `task_s` measured it."""
        slower = task_s / REFERENCE_TASK_S if self._depends_on_speed else 1.0
        return self.value * slower if self.limit.startswith(">=") else self.value / slower

    def _keeps(self, value: float) -> bool:
        relation, bound = self.limit.split()
        return value >= float(bound) if relation == ">=" else value <= float(bound)

    @property
    def _depends_on_speed(self) -> bool:
        return not {"s", "ms", "us", "second"}.isdisjoint(re.findall(r"\w+", self.unit))

    def emit(self) -> None:
        """Print the figure as one line of JSON."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        print(json.dumps({"figure": given}), flush=True)
