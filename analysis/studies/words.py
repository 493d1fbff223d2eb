"""Figures of a comparison in words, and whether a picture shows them: not totals, nor what follows from others."""

from __future__ import annotations

from typing import NamedTuple


class Words(NamedTuple):
    """The name of a figure without its unit, and whether it is drawn."""

    text: str
    drawn: bool = False


WORDS = {
    "units_per_s": Words("Work done", drawn=True),
    "units_per_h": Words("Work done in an hour"),
    "units": Words("Work done in all"),
    "batch_h": Words("Length of the batch", drawn=True),
    "response_ms": Words("Response", drawn=True),
    "response_p95_ms": Words("Response of 95 %", drawn=True),
    "response_p99_ms": Words("Response of 99 %", drawn=True),
    "busy_pct": Words("Busy"),
    "cores": Words("Processors used", drawn=True),
    "engines": Words("Processors there"),
    "lpar_ms_per_unit": Words("Processor time", drawn=True),
    "captured_ms_per_unit": Words("Captured processor time", drawn=True),
    "captured_ziip_on_cp_ms_per_unit": Words("Captured zIIP work on general processors", drawn=True),
    "ms_per_unit": Words("Processor time", drawn=True),
    "memory_mb": Words("Memory"),
    "read_mb_s": Words("Read", drawn=True),
    "read_mb": Words("Read in all"),
    "read_kb_per_unit": Words("Read for a unit of work"),
    "written_mb_s": Words("Written", drawn=True),
    "created_mb_s": Words("Created", drawn=True),
    "reported_mb_s": Words("Reported", drawn=True),
    "written_mb": Words("Written in all"),
    "written_kb_per_unit": Words("Written for a unit of work"),
    "rw_ratio": Words("Read against written"),
    "transfers_per_s": Words("Transfers", drawn=True),
    "waiting_threads": Words("Threads that waited", drawn=True),
    "zhl_sync_pct": Words("Written synchronously by zHyperLink", drawn=True),
    "buffer_waits_per_s": Words("Waits for a buffer", drawn=True),
    "log_bytes_per_unit": Words("Log for a unit of work", drawn=True),
    "log_latency_s": Words("Behind the log", drawn=True),
    "end_to_end_ms": Words("End to end", drawn=True),
    "capture_ms": Words("Capture", drawn=True),
    "queue_ms": Words("Queue", drawn=True),
    "apply_ms": Words("Apply", drawn=True),
    "rows": Words("Rows in all"),
    "rows_per_s": Words("Rows", drawn=True),
    "transactions": Words("Transactions in all"),
    "transactions_per_s": Words("Transactions", drawn=True),
    "rows_per_transaction": Words("Rows of a transaction"),
    "cost": Words("Cost", drawn=True),
    "price_performance_pct": Words("Better price for the performance"),
}
"""By the name of the figure."""


def words(name: str) -> Words:
    """Return the words of a figure; without any, its name, which is not drawn."""
    return WORDS.get(name) or Words(name.replace("_", " ").capitalize())
