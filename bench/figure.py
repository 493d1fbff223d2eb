"""A measured figure, its limit, and its peer: what a bench module prints and RESULTS.md shows."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


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

    @property
    def met(self) -> bool:
        """Whether the value keeps the limit."""
        relation, bound = self.limit.split()
        return self.value >= float(bound) if relation == ">=" else self.value <= float(bound)

    def emit(self) -> None:
        """Print the figure as one line of JSON."""
        print(json.dumps({"figure": asdict(self)}), flush=True)
