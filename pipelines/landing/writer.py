"""Inserts a batch; isolates the rows that ClickHouse rejects and keeps them as dead letters."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import orjson

from counterflow.base.clickhouse import ClickHouse, ClickHouseError, Settings
from counterflow.pipelines.landing import deadletter
from counterflow.pipelines.landing.batch import Batch, Refusal, Rows, one_row, rows_of_frame, sift
from counterflow.pipelines.landing.refusals import Outcome, TooManyRefused
from counterflow.pipelines.landing.shards import Part, ShardMap, Split
from counterflow.schemas.clickhouse_insert import DATABASE, insert, insert_rows
from counterflow.schemas.definition import datasets
from counterflow.schemas.frame import contract
from counterflow.schemas.sharding import LOCAL

SETTINGS: Settings = {
    "async_insert": 0,
    "insert_deduplicate": 1,
    "deduplicate_blocks_in_dependent_materialized_views": 1,
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
    """Landing stopped between two inserts; the batch is landed again from its beginning, with the same tokens."""


class Landed(NamedTuple):
    """Outcome of a batch: rows inserted, bytes of its messages, and what was rejected."""

    rows: int
    size: int
    refused: list[Refusal]


class ShardAway(Exception):  # noqa: N818 - of another server
    """A shard does not answer, so nothing of a batch that has rows for it is inserted anywhere."""


class Writer:
    """Lands batches; thread-safe, one batch per topic-partition at a time.

    Parameters
    ----------
    clients : a connection per shard by name, or to the only server; their user needs INSERT and SELECT on the tables.
    tables : table by topic.
    shards : the map of shards; none: the first client takes everything.
    """

    def __init__(
        self, clients: Mapping[str, ClickHouse], tables: Mapping[str, str], shards: ShardMap | None = None
    ) -> None:
        """Open no connection yet."""
        self._clients = clients
        self._first = shards.first if shards else next(iter(clients))
        self._split = Split(shards) if shards else self._whole
        self._database = LOCAL if shards else DATABASE
        self._acknowledged: dict[tuple[str, int], tuple[str, set[str]]] = {}
        """The token of each partition's last batch, and the shards that have their rows: these need not remember the
        token for as long as another shard is away."""
        self._tables = tables
        self._rows = {topic: _counting(table) for topic, table in tables.items()}
        self.abandoned = threading.Event()
        """While set, landing raises `Abandoned` before its next insert."""

    def land(self, batch: Batch, tolerated: Callable[[Outcome], bool] = lambda _: True) -> Landed:
        """Insert every row that the server accepts, then the rejects as dead letters, if `tolerated` allows.

        Idempotent: a retry after an exception or a kill duplicates nothing.

        Raises
        ------
        ClickHouseError : the server refuses for a reason that is not in the rows.
        httpx.TransportError : no answer.
        Abandoned : `abandoned` was set.
        ShardAway : one of several shards does not answer.
        TooManyRefused : more was rejected than is tolerated; the rejects are in no table.
        """
        table = self._tables[batch.topic]
        readable, rows, refused = sift(batch, self._rows[batch.topic])
        whole = sum(rows) + sum(refusal.rows for refusal in refused)
        if readable.messages:
            refused += self._spread(table, readable, rows)
        gone = sum(refusal.rows for refusal in refused)
        if refused:
            if not tolerated(Outcome(whole, gone)):
                first = min(refused, key=_offset)
                raise TooManyRefused(f"{gone} of {whole}; {first.reason}: {first.error[:300]}")
            self._bury(batch, sorted(refused, key=_offset))
        return Landed(whole - gone, sum(map(len, batch.messages)), refused)

    def _whole(self, batch: Batch, rows: Sequence[int]) -> list[Part]:
        return [Part(self._first, batch, sum(rows))]

    def _spread(self, table: str, batch: Batch, rows: Sequence[int]) -> list[Refusal]:
        """Insert each shard's messages on it."""
        parts = self._split(batch, rows)
        key = (batch.topic, batch.partition)
        token, acknowledged = self._acknowledged.get(key, ("", set[str]()))
        if token != batch.token:
            acknowledged = set()
        due = [part for part in parts if part.shard not in acknowledged]
        if len(parts) > 1:
            if away := [part.shard for part in due if not self._clients[part.shard].ping()]:
                raise ShardAway(f"shard {', '.join(away)} does not answer")
            self._acknowledged[key] = batch.token, acknowledged
        refused = []
        for number, part in enumerate(due):
            if number and self.abandoned.is_set():
                raise Abandoned
            bad = self._insert(part.shard, table, part.batch, part.rows)
            if not bad:  # a retry inserts into a shard with rejects again, to find these
                acknowledged.add(part.shard)
            refused += bad
        return refused

    def _insert(self, shard: str, table: str, batch: Batch, rows: int) -> list[Refusal]:
        try:
            self._post(shard, insert(table, self._database), batch.body, batch.token)
        except ClickHouseError as error:
            if not _is_poison(error):
                raise
            if rows == 1:
                return [Refusal(batch.messages[0], _name(error), str(error))]
        else:
            return []
        refused = []
        for half in batch.halves():
            if self.abandoned.is_set():
                raise Abandoned
            refused += self._insert(shard, table, half, sum(map(self._rows[batch.topic], half.values)))
        return refused

    def _bury(self, batch: Batch, refused: list[Refusal]) -> None:
        now = datetime.now(UTC)
        body = b"\n".join(orjson.dumps(deadletter.row(batch, refusal, now)) for refusal in refused)
        offsets = ",".join(refusal.place for refusal in refused)
        # The token covers the content: after a migration a retry may reject other rows, which are no duplicate.
        digest = hashlib.blake2b(offsets.encode(), digest_size=8).hexdigest()
        statement = insert_rows("deadletter", self._database)
        self._post(self._first, statement, [body], f"{batch.token}:deadletter:{digest}")

    def _post(self, shard: str, statement: str, body: Sequence[bytes], token: str) -> None:
        self._clients[shard].post(statement, body, {**SETTINGS, "insert_deduplication_token": token})


def _counting(table: str) -> Rows:
    return rows_of_frame(contract(table)) if datasets()[table].role == "counter" else one_row


def _offset(refusal: Refusal) -> tuple[int, int]:
    return refusal.message.offset(), getattr(refusal.message, "begin", 0)


def _is_poison(error: ClickHouseError) -> bool:
    # When a view fails, the table already has the rows: only a retry with the same token completes it.
    return error.code in POISON and "while pushing to view" not in str(error)


def _name(error: ClickHouseError) -> str:
    names = re.findall(r"\(([A-Z][A-Z_]+)\)", str(error))
    return names[-1] if names else str(error.code)
