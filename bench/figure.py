"""A measured figure, its limit, and its peer: what a bench module prints and RESULTS.md shows."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path


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


def measured_commit() -> str:
    """Return the commit that is measured, with `-dirty` where tracked files differ from it."""
    git = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.check_output(git, cwd=Path(__file__).parent, text=True).strip()
