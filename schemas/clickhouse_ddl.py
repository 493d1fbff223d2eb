"""ClickHouse tables and views of a dataset, from which a new migration is written.

A migration is frozen text; `counterflow schemas check` compares the tables that all migrations make with the
definitions. Text between braces is filled in by `migrate`: `{on_cluster}` and `{engine_prefix}`.
"""

from __future__ import annotations

from counterflow.schemas.definition import Column, Dataset

RETENTION = "INTERVAL 400 DAY"
"""How long a row stays after it landed, whenever it was measured: an old recording is kept as long as a new one."""

LANDED_AT = "landed_at"
"""The one column of a table that no record carries: when the row was inserted, by the server's clock."""

_DEDUPLICATION = (
    "non_replicated_deduplication_window = 10000, "
    "replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800"
)

_COMPACT = "min_bytes_for_wide_part = 134217728"
"""Parts as inserted are one file, not three a column: making the files took a third of an insert's processor time."""

_MERGED = "min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1"
"""A day at rest becomes one part: what a panel reads of a day lies in one place, and FINAL has nothing to merge."""

_LANDED_AT = (
    f"{LANDED_AT} DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' "
    "CODEC(Delta, ZSTD(1))"
)

_CODECS = {"UInt64": "T64, ZSTD(1)", "Int64": "T64, ZSTD(1)", "DateTime64": "Delta, ZSTD(1)"}


def migration(dataset: Dataset) -> str:
    """Return the statements that make a dataset's table and the views that feed ledger and rollup."""
    statements = [table(dataset)]
    if dataset.role == "counter":
        statements.append(ledger_view(dataset))
    if dataset.instance:
        statements += [rollup_view(dataset), hour_view(dataset)]
    return ";\n\n".join(statements) + ";\n"


def column_type(column: Column) -> str:
    """Return a column's type: text is a dictionary unless it is unbounded, and only what may be null is Nullable."""
    inner: str = "DateTime64(3, 'UTC')" if column.type == "DateTime64" else column.type
    inner = f"Nullable({inner})" if column.null_when else inner
    return f"LowCardinality({inner})" if column.type == "String" and not column.unbounded else inner


def columns(dataset: Dataset) -> dict[str, tuple[str, str]]:
    """Return type and comment of every column that an INSERT names."""
    return {name: (column_type(column), column.comment) for name, column in dataset.all_columns.items()}


def sorting_key(dataset: Dataset) -> str:
    """Return the sorting key, as `system.tables` writes it."""
    return ", ".join(dataset.key)


def table_engine(dataset: Dataset) -> str:
    """Return the engine: of two rows with one key the one read last, or made of more rows, replaces the other."""
    return f"ReplacingMergeTree({'n' if dataset.role == 'result' else 'collected_at'})"


def metrics(dataset: Dataset) -> list[str]:
    """Return the columns that enter the rollup: every number of the dataset's own."""
    return [name for name, column in dataset.columns.items() if column.type in ("Float64", "Int64", "UInt64")]


def table(dataset: Dataset) -> str:
    """Return the CREATE TABLE of a dataset."""
    lines = ",\n  ".join(_column(name, column) for name, column in dataset.all_columns.items())
    return f"""\
CREATE TABLE IF NOT EXISTS counterflow.{dataset.dataset} {{on_cluster}}
(
  {lines},
  {_LANDED_AT},
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {{engine_prefix}}{table_engine(dataset)}
PARTITION BY toYYYYMMDD(ts)
ORDER BY ({sorting_key(dataset)})
TTL {LANDED_AT} + {RETENTION}
SETTINGS {_DEDUPLICATION}, ttl_only_drop_parts = 1, {_COMPACT}, {_MERGED}
COMMENT {_literal(dataset.row)}"""


def ledger_view(dataset: Dataset) -> str:
    """Return the view that enters every inserted row's `seq` into the ledger."""
    name = dataset.dataset
    return f"""\
CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.{name}_to_ledger {{on_cluster}} TO counterflow.ledger AS
SELECT agent_id, '{name}' AS dataset, toDate(collected_at) AS day, count() AS rows, groupBitmapState(seq) AS seqs
FROM counterflow.{name}
GROUP BY agent_id, day"""


def rollup_view(dataset: Dataset) -> str:
    """Return the view that spreads every number of a row over the one-minute rollup.

    No GROUP BY: the block is collapsed while the part is written. Over 13 columns that costs half of grouping first for
    one row a minute, and a quarter more for sixty.
    """
    name = dataset.dataset
    values = [f"toNullable(toFloat64({_quoted(n)}))" for n in metrics(dataset)]
    return f"""\
CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.{name}_to_1m {{on_cluster}} TO counterflow.metric_1m AS
SELECT metric, system, entity AS instance, minute AS ts, toUInt64(1) AS n, x AS total, x AS lo, x AS hi
FROM
(
  SELECT
    system, {_instance(dataset)} AS entity,
    {_MINUTE} AS minute,
    metric, assumeNotNull(value_or_null) AS x
  FROM counterflow.{name}
  ARRAY JOIN
    [{_metric_names(dataset)}] AS metric,
    [{", ".join(values)}] AS value_or_null
  WHERE value_or_null IS NOT NULL
)"""


def hour_view(dataset: Dataset) -> str:
    """Return the view that spreads every number of an instance and hour of a block over the one-hour rollup.

    It groups the rows before it spreads them: a view on the one-minute rollup, which holds ten times as many, cost an
    insert a fifth of its processor time.
    """
    name = dataset.dataset
    states = [
        f"(count({n}), sum(toFloat64({n})), min(toFloat64({n})), max(toFloat64({n})))"
        for n in map(_quoted, metrics(dataset))
    ]
    groups = ", ".join(["system", "entity", "hour", *map(_quoted, dataset.metric)])
    return f"""\
CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.{name}_to_1h {{on_cluster}} TO counterflow.metric_1h AS
SELECT
  metric, system, entity AS instance, hour AS ts,
  state.1 AS n, assumeNotNull(state.2) AS total, assumeNotNull(state.3) AS lo, assumeNotNull(state.4) AS hi
FROM
(
  SELECT
    {groups},
    [{", ".join(states)}] AS states
  FROM
  (
    SELECT
      *, {_instance(dataset)} AS entity,
      toStartOfHour({_MINUTE} + toIntervalSecond(3599)) AS hour
    FROM counterflow.{name}
  )
  GROUP BY {groups}
)
ARRAY JOIN
  [{_metric_names(dataset)}] AS metric,
  states AS state
WHERE state.1 > 0"""


_MINUTE = "toDateTime(toStartOfMinute(ts + toIntervalMillisecond(59999)))"
"""The minute in which an interval ends, named by its end."""


def _metric_names(dataset: Dataset) -> str:
    if dataset.metric:
        return f"concat('{dataset.dataset}.', {_joined(dataset.metric, '.')})"
    return ", ".join(f"'{dataset.dataset}.{name}'" for name in metrics(dataset))


def _instance(dataset: Dataset) -> str:
    return _joined([name for name in dataset.key if name not in ("system", "ts", *dataset.metric)], "/")


def _column(name: str, column: Column) -> str:
    codec = "Delta, ZSTD(1)" if column.kind == "cumulative" else _CODECS.get(column.type, "ZSTD(1)")
    return f"{_quoted(name)} {column_type(column)} COMMENT {_literal(column.comment)} CODEC({codec})"


def _joined(names: tuple[str, ...] | list[str], separator: str) -> str:
    parts = f", '{separator}', ".join(_quoted(name) for name in names)
    return f"concat({parts})" if len(names) > 1 else parts


def _quoted(name: str) -> str:
    return f"`{name}`"


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
