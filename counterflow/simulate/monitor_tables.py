"""A run with or without Q Replication, and its monitor tables on Linux, UNIX and Windows, as Db2 exports them.

The format is `qrep_monitor`. MONITOR_TIME is local time of the server, here UTC. A row before the run marks the start
of its first interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

from counterflow.simulate.case import Placed, SimulatedRun
from counterflow.simulate.layout import timestamp
from counterflow.simulate.published import Row
from counterflow.simulate.spread import apportion, uneven

MONITOR_S = 30
"""Default of MONITOR_INTERVAL on Linux, UNIX and Windows."""
TRANSACTION_BYTES = 2400
SEND_QUEUE, RECEIVE_QUEUE = "ASN.QM1_TO_QM2.DATAQ", "ASN.QM1_TO_QM2.DATAQ"
LATENCY_NOISE = 0.1
MAX_DEPTH = 5000
"""Default capacity of an MQ queue in messages (MAXDEPTH)."""


class Applied(NamedTuple):
    """Rows and transactions that a receive queue applied in a run, and its mean latencies."""

    rows: int
    transactions: int
    capture_ms: int
    queue_ms: int
    apply_ms: int


@dataclass(frozen=True, kw_only=True)
class QrepRun(SimulatedRun):
    """One run of the workload: the printed figures of each system, the first of which drives it.

    `applied` is the replication from the first system to the second.
    """

    nodes: Mapping[str, Row]
    applied: Applied | None = None

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(self.nodes)


def receive_queue(one: Placed[QrepRun], applied: Applied, busy: Sequence[float], random: Random) -> Iterator[str]:
    """Yield IBMQREP_APPLYMON: latencies are means of the transactions of an interval."""
    yield (
        '"MONITOR_TIME","RECVQ","QSTART_TIME","CURRENT_MEMORY","QDEPTH","END2END_LATENCY","QLATENCY","APPLY_LATENCY",'
        '"TRANS_APPLIED","ROWS_APPLIED","ROWS_PROCESSED","OLDEST_TRANS","Q_PERCENT_FULL"'
    )
    ends, (rows, transactions) = _monitored(one, busy, (applied.rows, applied.transactions))
    started = one.begin - timedelta(seconds=MONITOR_S)
    noises = [uneven(len(ends), random, LATENCY_NOISE) for _ in range(3)]
    for end, row, done, *noise in zip(ends, rows, transactions, *noises, strict=True):
        means = (applied.capture_ms, applied.queue_ms, applied.apply_ms)
        capture, queue, apply = (round(ms * around) if done else 0 for ms, around in zip(means, noise, strict=True))
        oldest = end - timedelta(milliseconds=capture + queue + apply)
        depth = round(done * queue / MONITOR_S / 1000)
        yield (
            f'"{timestamp(end)}","{RECEIVE_QUEUE}","{timestamp(started)}",1048576,{depth},'
            f'{capture + queue + apply},{queue},{apply},{done},{row},{row},"{timestamp(oldest)}",'
            f"{round(100 * depth / MAX_DEPTH)}"
        )


def capture(one: Placed[QrepRun], applied: Applied, busy: Sequence[float]) -> Iterator[str]:
    """Yield IBMQREP_CAPMON: Capture's position in the log."""
    yield (
        '"MONITOR_TIME","CURRENT_LOG_TIME","CURRENT_MEMORY","MAX_TRANS_SIZE","TRANS_SPILLED","LOGREAD_API_TIME",'
        '"NUM_LOGREAD_CALLS","NUM_END_OF_LOGS","LOGRDR_SLEEPTIME","MQCMIT_TIME"'
    )
    ends, (calls,) = _monitored(one, busy, (applied.transactions // 50,))
    for end, n in zip(ends, calls, strict=True):
        log = end - timedelta(milliseconds=applied.capture_ms)
        yield f'"{timestamp(end)}","{timestamp(log)}",67108864,65536,0,{n},{n},0,0,{2 * n}'


def send_queue(one: Placed[QrepRun], applied: Applied, busy: Sequence[float]) -> Iterator[str]:
    """Yield IBMQREP_CAPQMON: messages that Capture put on its send queue, one per transaction."""
    yield (
        '"MONITOR_TIME","SENDQ","ROWS_PUBLISHED","XMITQDEPTH","MQ_BYTES","MQ_MESSAGES","MQPUT_TIME",'
        '"QFULL_ERROR_COUNT","LOBS_TOO_BIG"'
    )
    ends, (rows, messages) = _monitored(one, busy, (applied.rows, applied.transactions))
    for end, row, sent in zip(ends, rows, messages, strict=True):
        yield f'"{timestamp(end)}","{SEND_QUEUE}",{row},0,{sent * TRANSACTION_BYTES},{sent},{sent // 50},0,0'


def _monitored(
    one: Placed[QrepRun], busy: Sequence[float], totals: Sequence[int]
) -> tuple[list[datetime], list[list[int]]]:
    """Return the start of a run, the ends of its monitor intervals, and each total split over them."""
    parts = one.intervals[0].seconds // MONITOR_S
    ends = [one.begin + timedelta(seconds=n * MONITOR_S) for n in range(parts * len(busy) + 1)]
    weights = [0.0, *(0.5 + share for share in busy for _ in range(parts))]
    return ends, [apportion(total, weights) for total in totals]
