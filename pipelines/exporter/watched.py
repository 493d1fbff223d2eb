"""What is told of each result: the columns that name a thing, and its figures in Prometheus' units. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Row = Mapping[str, Any]


class Figure(NamedTuple):
    """One metric: its name without prefix, what it means, and its value in a row; None is unknown."""

    name: str
    text: str
    of: Callable[[Row], float | None]


class Watched(NamedTuple):
    """What is told of a dataset: the columns that become labels, the figures, and of which rows."""

    labels: tuple[str, ...]
    figures: tuple[Figure, ...]
    where: Callable[[Row], bool] = lambda _: True


def _column(name: str, factor: float = 1.0) -> Callable[[Row], float | None]:
    def value(row: Row) -> float | None:
        found = row.get(name)
        return None if found is None else found * factor

    return value


def _capacity_used(row: Row) -> float | None:
    """Own bytes, the mean of OUT and IN, of the guaranteed share of the line, as the notice `cap_headroom` has it."""
    out, in_ = row.get("out_capacity_pct"), row.get("in_capacity_pct")
    return None if out is None or in_ is None else (out + in_) / 200


_LINK = (
    Figure("link_out_bytes_per_second", "Bytes the link sent a second.", _column("own_out_bytes_s")),
    Figure("link_in_bytes_per_second", "Bytes the link received a second.", _column("own_in_bytes_s")),
    Figure("link_capacity_used_ratio", "Mean of bytes sent and received of the guaranteed share.", _capacity_used),
    Figure("link_port_used_ratio", "Busier direction of the physical port.", _column("phys_line_pct", 0.01)),
)
_REPLICATION = (
    Figure("replication_delay_seconds", "Commit at source to commit at target.", _column("end_to_end_ms", 1e-3)),
    Figure("replication_log_delay_seconds", "How far Capture is behind the log.", _column("log_latency_s")),
    Figure("replication_queue_used_ratio", "How full the queue is.", _column("queue_full_pct", 0.01)),
)
_POOL = (
    Figure("pool_interactive_fault_ratio", "Faults in a response.", _column("interactive_fault_pct", 0.01)),
    Figure("pool_batch_fault_ratio", "Faults of faults and CPU.", _column("batch_fault_to_work_pct", 0.01)),
)
_DISK = (
    Figure("disk_response_seconds", "Service and wait of a transfer, all leaf disks.", _column("response_ms", 1e-3)),
    Figure("disk_transfers_per_second", "Reads and writes a second.", _column("transfers_per_s")),
)

WATCHED: Mapping[str, Watched] = {
    "disk_load": Watched(("system",), _DISK, lambda row: row["disk"] == "*"),
    "link_load": Watched(
        ("system", "link_type", "link", "group"), _LINK, lambda row: row["link_type"] in ("nrg", "rdma_link")
    ),
    "log_load": Watched((), (), lambda _: False),
    "pool_faulting": Watched(("system", "pool"), _POOL),
    "replication_lag": Watched(("system", "component", "queue"), _REPLICATION),
}
"""By dataset. Of one without figures only its newest interval is told."""

VERDICT = "verdict"
OF_VERDICT = ("rule", "system", "entity_type", "entity")
EVIDENCE: Mapping[str, tuple[str, ...]] = {
    "roce_cap": ("share", "util", "capacity_pct", "own_bytes_s", "baseline_own_bytes_s"),
    "log_ceiling": (
        *("rate_mb_s", "ceiling_mb_s", "ratio", "waits_delta", "waiting_share", "gcp_pct", "ziip_pct", "zhl_sync_pct"),
    ),
}
"""Inputs and figures of a rule's evidence that are told, under the names of its page below docs/rules."""


def evidence(rule: str, found: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of a verdict's evidence that are told; those unknown are missing."""
    numbers = {**found.get("inputs", {}), **found.get("figures", {})}
    return {name: float(numbers[name]) for name in EVIDENCE[rule] if numbers.get(name) is not None}
