"""Inserts messages, finds the rows that ClickHouse rejects, and keeps these as dead letters."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson
from confluent_kafka import Message

from counterflow.base.clickhouse import ClickHouse, ClickHouseError, Settings
from counterflow.pipelines.landing import deadletter
from counterflow.pipelines.landing.batch import (
    Refusal,
    Rows,
    body,
    halves,
    one_row,
    rows_of_frame,
    sift,
)
from counterflow.schemas.clickhouse_insert import insert, insert_rows
from counterflow.schemas.definition import datasets
from counterflow.schemas.frame import contract

SETTINGS: Settings = {
    "async_insert": 0,
    "insert_deduplicate": 0,  # a replicated table would keep an equal block from its views, and so from the ledger
    "materialized_views_ignore_errors": 0,
    "date_time_input_format": "best_effort",
    "input_format_skip_unknown_fields": 1,
    "input_format_null_as_default": 1,
    "input_format_parallel_parsing": 0,  # a quarter less CPU at these sizes
    "optimize_on_insert": 0,  # a fifth less CPU; a later merge collapses what the insert would have
    "max_insert_block_size": 10_000_000,  # with the next two: one POST is one block
    "min_insert_block_size_rows": 10_000_000,
    "min_insert_block_size_bytes": 0,
    "max_partitions_per_insert_block": 0,
}
"""Every setting that an insert relies on; defaults differ between versions (ClickHouse: system.settings_changes)."""

POISON = frozenset({6, 25, 26, 27, 38, 41, 53, 69, 70, 72, 117, 130, 131, 190, 321, 349, 376, 407, 441, 467, 469})
"""Exception codes caused by rows, which halving isolates. Any other code is the server's: the batch is retried."""


class Abandoned(Exception):  # noqa: N818 - no error
    """Landing stopped between two inserts; the messages are read and landed again."""


class LandedBatch(NamedTuple):
    """Outcome of a batch: rows inserted, bytes of its messages, and what was rejected."""

    rows: int
    size: int
    refused: list[Refusal]


class Writer:
    """Lands messages; thread-safe.

    Parameters
    ----------
    client : a connection whose user needs INSERT and SELECT on the tables.
    tables : table by topic.
    abandoned : while it is set, landing raises `Abandoned` before its next insert.
    """

    def __init__(self, client: ClickHouse, tables: Mapping[str, str], abandoned: threading.Event | None = None) -> None:
        self._client = client
        self._tables = tables
        self._rows = {topic: _counting(table) for topic, table in tables.items()}
        self._abandoned = abandoned or threading.Event()

    def land(self, topic: str, messages: Sequence[Message]) -> LandedBatch:
        """Insert the messages of a topic, and keep what is refused as dead letters.

        Repeating it after an exception or a kill changes nothing that a query sees: rows and dead letters replace
        those of the same natural key.

        Raises
        ------
        ClickHouseError : the server refuses for a reason that is not in the rows.
        httpx.TransportError : no answer.
        Abandoned : `abandoned` was set.
        """
        readable, rows, refused = sift(messages, self._rows[topic])
        whole = rows + sum(refusal.rows for refusal in refused)
        if readable:
            refused += self._insert(topic, readable)
        self._keep_refused(refused)
        return LandedBatch(whole - sum(refusal.rows for refusal in refused), sum(map(len, messages)), refused)

    def _insert(self, topic: str, messages: Sequence[Message]) -> list[Refusal]:
        """Insert messages; where the server refuses them, halve them down to the bad rows, and return these."""
        if self._abandoned.is_set():
            raise Abandoned
        try:
            self._client.post(insert(self._tables[topic]), body(messages), SETTINGS)
        except ClickHouseError as error:
            if not _is_poison(error):
                raise
            if sum(self._rows[topic](message.value() or b"") for message in messages) == 1:
                return [Refusal(messages[0], _name(error), str(error))]
        else:
            return []
        first, second = halves(messages)
        return self._insert(topic, first) + self._insert(topic, second)

    def _keep_refused(self, refused: Sequence[Refusal]) -> None:
        if refused:
            rows = b"\n".join(orjson.dumps(deadletter.row(refusal)) for refusal in refused)
            self._client.post(insert_rows("deadletter"), [rows], SETTINGS)


def _counting(table: str) -> Rows:
    return rows_of_frame(contract(table)) if datasets()[table].role == "counter" else one_row


def _is_poison(error: ClickHouseError) -> bool:
    # When a view fails, the table may have the rows already: only a repeated insert completes the view's target.
    return error.code in POISON and "while pushing to view" not in str(error)


def _name(error: ClickHouseError) -> str:
    names = re.findall(r"\(([A-Z][A-Z_]+)\)", str(error))
    return names[-1] if names else str(error.code)
