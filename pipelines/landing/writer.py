"""Inserts a batch, but first finds the rows that ClickHouse rejects and keeps them as dead letters."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import orjson

from counterflow.base.clickhouse import ClickHouse, ClickHouseError, Settings
from counterflow.pipelines.landing import deadletter
from counterflow.pipelines.landing.batch import Batch, Message, Refusal, Rows, one_row, rows_of_frame, sift
from counterflow.pipelines.landing.shards import Part, ShardMap, Split
from counterflow.schemas.clickhouse_ddl import SANE
from counterflow.schemas.clickhouse_insert import DATABASE, examine, insert, insert_rows
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

_VIOLATED = 395
"""Code of `examine` for a row that violates the table's constraint."""


class Abandoned(Exception):  # noqa: N818 - no error
    """Landing stopped between two inserts; the batch is landed again from its beginning, with the same token."""


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
        self._acknowledged: dict[tuple[str, int], tuple[str, dict[str, list[Refusal]]]] = {}
        """The token of each partition's last batch, and what each shard that has its rows refused of it: these shards
        need not remember the token for as long as another is away."""
        self._tables = tables
        self._rows = {topic: _counting(table) for topic, table in tables.items()}
        self.abandoned = threading.Event()
        """While set, landing raises `Abandoned` before its next insert."""

    def land(self, batch: Batch) -> Landed:
        """Keep what is refused as dead letters, then insert the rest.

        In this order, and with one token for all that is inserted: whatever of a batch a table lacks once it accepted
        the token is a dead letter, even where lander or server refuse something else when the batch is repeated. So a
        retry after an exception or a kill neither loses nor duplicates a row. At worst one that was inserted has a
        dead letter too, as if it had been replayed.

        Raises
        ------
        ClickHouseError : the server refuses for a reason that is not in the rows.
        httpx.TransportError : no answer.
        Abandoned : `abandoned` was set.
        ShardAway : one of several shards does not answer.
        """
        readable, rows, refused = sift(batch, self._rows[batch.topic])
        whole = sum(rows) + sum(refusal.rows for refusal in refused)
        parts = self._split(readable) if readable.messages else []
        done = self._done(batch, parts)
        self._bury(batch, refused)
        for number, part in enumerate(parts):
            if part.shard not in done:
                if number and self.abandoned.is_set():
                    raise Abandoned
                done[part.shard] = self._insert(part)
            refused += done[part.shard]
        return Landed(whole - sum(refusal.rows for refusal in refused), sum(map(len, batch.messages)), refused)

    def _whole(self, batch: Batch) -> list[Part]:
        return [Part(self._first, batch)]

    def _done(self, batch: Batch, parts: Sequence[Part]) -> dict[str, list[Refusal]]:
        """Return the shards that have their rows of the batch, and what each refused; all others answer."""
        if len(parts) < 2:
            return {}
        key = (batch.topic, batch.partition)
        token, done = self._acknowledged.get(key, ("", dict[str, list[Refusal]]()))
        if token != batch.token:
            done = {}
        due = [part.shard for part in parts if part.shard not in done]
        if away := [shard for shard in due if not self._clients[shard].ping()]:
            raise ShardAway(f"shard {', '.join(away)} does not answer")
        self._acknowledged[key] = batch.token, done
        return done

    def _insert(self, part: Part) -> list[Refusal]:
        """Insert what the server accepts, once all else is kept as dead letters; return the latter."""
        statement = insert(self._tables[part.batch.topic], self._database)
        try:
            self._post(part.shard, statement, part.batch.body, part.batch.token)
        except ClickHouseError as error:
            if not _is_poison(error):
                raise
        else:
            return []
        accepted, refused = self._examine(part.shard, part.batch)
        self._bury(part.batch, refused)
        if accepted:
            self._post(part.shard, statement, part.batch.of(accepted).body, part.batch.token)
        return refused

    def _examine(self, shard: str, batch: Batch) -> tuple[list[Message], list[Refusal]]:
        """Separate the messages and rows that the server would insert from all others, and insert nothing."""
        if self.abandoned.is_set():
            raise Abandoned
        statement = examine(self._tables[batch.topic], self._database)
        try:
            self._clients[shard].post(statement, batch.body, SETTINGS)
        except ClickHouseError as error:
            if not (error.code == _VIOLATED or _is_poison(error)):
                raise
            if sum(map(self._rows[batch.topic], batch.values)) == 1:
                return [], [_refusal(batch.messages[0], error)]
        else:
            return [*batch.messages], []
        first, second = (self._examine(shard, half) for half in batch.halves())
        return first[0] + second[0], first[1] + second[1]

    def _bury(self, batch: Batch, refused: Sequence[Refusal]) -> None:
        if not refused:
            return
        now = datetime.now(UTC)
        body = b"\n".join(orjson.dumps(deadletter.row(batch, refusal, now)) for refusal in refused)
        offsets = ",".join(refusal.place for refusal in refused)
        # The token covers the content: a retry may refuse other rows, which are no duplicate.
        digest = hashlib.blake2b(offsets.encode(), digest_size=8).hexdigest()
        statement = insert_rows("deadletter", self._database)
        self._post(self._first, statement, [body], f"{batch.token}:deadletter:{digest}")

    def _post(self, shard: str, statement: str, body: Sequence[bytes], token: str) -> None:
        self._clients[shard].post(statement, body, {**SETTINGS, "insert_deduplication_token": token})


def _counting(table: str) -> Rows:
    return rows_of_frame(contract(table)) if datasets()[table].role == "counter" else one_row


def _refusal(message: Message, error: ClickHouseError) -> Refusal:
    if error.code == _VIOLATED:
        return Refusal(message, "VIOLATED_CONSTRAINT", f"the row does not meet: {SANE}")
    return Refusal(message, _name(error), str(error))


def _is_poison(error: ClickHouseError) -> bool:
    # When a view fails, the table already has the rows: only a retry with the same token completes it.
    return error.code in POISON and "while pushing to view" not in str(error)


def _name(error: ClickHouseError) -> str:
    names = re.findall(r"\(([A-Z][A-Z_]+)\)", str(error))
    return names[-1] if names else str(error.code)
