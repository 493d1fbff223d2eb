"""Generates ClickHouse tables and views of the datasets.

`Script.statements` fills in the placeholders `{on_cluster}` and `{engine_prefix}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from graphlib import TopologicalSorter

from counterflow.base.clickhouse import literal
from counterflow.schemas.definition import Column, Dataset
from counterflow.schemas.recorded import provisional_view, recorded_view

RETENTION = "INTERVAL 400 DAY"
"""Retention after landing, whenever the row was measured: an old recording is kept as long as a new one."""

LANDED_AT = "landed_at"
"""The only column that no record carries: time of the insert, by the server's clock."""

SANE = "ts >= '2000-01-01'"
"""What each row of a table has to meet; `ts_sane` in its error messages."""

_COMPACT = "min_bytes_for_wide_part = 134217728"
"""Inserted parts are one file, not three per column: creating files took a third of an insert's processor time."""

_MERGED = "min_age_to_force_merge_seconds = 21600, min_age_to_force_merge_on_partition_only = 1"
"""A day without inserts becomes one part: a panel reads it from one place, and FINAL has nothing to merge."""

_LANDED_AT = (
    f"{LANDED_AT} DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' "
    "CODEC(Delta, ZSTD(1))"
)

_CODECS = {"UInt64": "T64, ZSTD(1)", "Int64": "T64, ZSTD(1)", "DateTime64": "Delta, ZSTD(1)"}


def parts(datasets: Iterable[Dataset]) -> dict[str, str]:
    """Return the statements of all datasets by subject: tables, their views, feeds of rollups, views over all."""
    found = sorted(datasets, key=lambda dataset: dataset.dataset)
    counters, results = ([d for d in found if d.role == role] for role in ("counter", "result"))
    statements: dict[str, Iterable[str]] = {
        "counters": map(table, counters),
        "results": map(table, results),
        "intervals": map(view, _ordered(found)),
        "feeds": (v for d in found for v in feeds(d)),
        "systems": (system_view(d) for d in found if d.lists_systems),
        "values": [value_view(d for d in found if d.instance)],
        "provisional": [provisional_view(found)],
        "recorded": [recorded_view(found)],
    }
    return {name: ";\n\n".join(each) + ";\n" for name, each in statements.items()}


def _ordered(datasets: Iterable[Dataset]) -> Iterator[Dataset]:
    """Yield the views, each after those that it reads."""
    views = {dataset.dataset: dataset for dataset in datasets if dataset.role == "view"}
    order = TopologicalSorter({name: set(views[name].reads) & views.keys() for name in views}).static_order()
    return (views[name] for name in order)


def feeds(dataset: Dataset) -> list[str]:
    """Return the views that enter a dataset's rows into the ledger, and their hours among those to be rolled up."""
    ledger = [ledger_view(dataset)] if dataset.role == "counter" else []
    return [*ledger, *([touched_view(dataset)] if dataset.rolled_up_as else [])]


def migration(dataset: Dataset) -> str:
    """Return the statements that create a dataset's table and the views that its rows feed, or the view that it is."""
    if dataset.role == "view":
        return view(dataset) + ";\n"
    listed = [system_view(dataset)] if dataset.lists_systems else []
    return ";\n\n".join([table(dataset), *listed, *feeds(dataset)]) + ";\n"


def column_type(column: Column) -> str:
    """Return a column's type in its table: text is LowCardinality unless unbounded."""
    inner = value_type(column)
    return f"LowCardinality({inner})" if column.type == "String" and not column.unbounded else inner


def value_type(column: Column) -> str:
    """Return the type of a column's values; only a column that may be null is Nullable."""
    inner = "DateTime64(3, 'UTC')" if column.type == "DateTime64" else column.type
    return f"Nullable({inner})" if column.null_when else inner


def columns(dataset: Dataset) -> dict[str, tuple[str, str]]:
    """Return type and comment of every column that an INSERT names."""
    return {name: (column_type(column), column.comment) for name, column in dataset.all_columns.items()}


def metrics(dataset: Dataset) -> list[str]:
    """Return the columns of the rollup: every numeric column of the dataset's own."""
    return [name for name, column in dataset.columns.items() if column.type in ("Float64", "Int64", "UInt64")]


def table(dataset: Dataset) -> str:
    """Return the CREATE TABLE; its comment makes a new version of the frames a new version of the schema.

    Of two rows with one key, the one collected later, or with the greater `n`, stays.
    """
    newest = "n" if dataset.role == "result" else "collected_at"
    lines = ",\n  ".join(_column(name, column) for name, column in dataset.all_columns.items())
    return f"""\
-- Messages of the topic {dataset.topic}.
CREATE TABLE IF NOT EXISTS counterflow.{dataset.dataset} {{on_cluster}}
(
  {lines},
  {_LANDED_AT},
  CONSTRAINT ts_sane CHECK {SANE}
)
ENGINE = {{engine_prefix}}ReplacingMergeTree({newest})
PARTITION BY toYYYYMMDD(ts)
ORDER BY ({", ".join(dataset.key)})
TTL {LANDED_AT} + {RETENTION}
SETTINGS ttl_only_drop_parts = 1, {_COMPACT}, {_MERGED}
COMMENT {literal(dataset.row)}"""


def view(dataset: Dataset) -> str:
    """Return the CREATE VIEW of a dataset, and the statement that gives its columns their comments."""
    return f"""\
CREATE OR REPLACE VIEW counterflow.{dataset.dataset} {{on_cluster}} AS
{dataset.select.rstrip()}
COMMENT {literal(dataset.row)};

ALTER TABLE counterflow.{dataset.dataset} {{on_cluster}}
  {comments(dataset.all_columns)}"""


def comments(columns: Mapping[str, Column]) -> str:
    """Return the actions of an ALTER TABLE that give columns their comments."""
    return ",\n  ".join(f"COMMENT COLUMN {quoted(name)} {literal(column.comment)}" for name, column in columns.items())


def ledger_view(dataset: Dataset) -> str:
    """Return the view that enters every inserted row's `seq` into the ledger; a dead letter stands for its rows."""
    name = dataset.dataset
    rows = f"counterflow.{name}"
    if "payload_rows" in dataset.columns:
        numbers = "arrayJoin(range(seq, seq + ifNull(payload_rows, 1)))"
        rows = f"(SELECT agent_id, collected_at, {numbers} AS seq FROM {rows})"
    return f"""\
CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.{name}_to_ledger {{on_cluster}} TO counterflow.ledger AS
SELECT agent_id, '{name}' AS dataset, toDate(collected_at) AS day, count() AS rows, groupBitmapState(seq) AS seqs
FROM {rows}
GROUP BY agent_id, day"""


def system_view(dataset: Dataset) -> str:
    """Return the view that lists systems and runs of inserted rows by day; manifests name the dataset they count."""
    name = dataset.dataset
    target = "counterflow.system_dataset"
    listed = f"'{name}'" if dataset.measured else "counted"
    return f"""\
CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.{name}_to_system_dataset {{on_cluster}} TO {target} AS
SELECT
  toDate(ts, 'UTC') AS day, {listed} AS dataset, source, system, ifNull(rows.run, '') AS run,
  min(ts - toIntervalMillisecond(toUInt64(1000 * coalesce(interval_s, 0)))) AS first_ts, max(ts) AS last_ts,
  {int(not dataset.measured)} AS by_manifest
FROM counterflow.{name} AS rows
GROUP BY day, dataset, source, system, run"""


def value_view(datasets: Iterable[Dataset]) -> str:
    """Return the view of every number of every dataset by the name of its metric.

    The name is known before a row is read, so only one branch of the union is left, which reads one column.
    A table by minute would aggregate nothing at intervals of 60 s, and cost an insert as much as the rows themselves.
    """
    branches = "\n  UNION ALL\n  ".join(map(_values, datasets))
    return f"""\
CREATE OR REPLACE VIEW counterflow.metric_value {{on_cluster}} AS
SELECT ts, system, instance, assumeNotNull(value_or_null) AS value
FROM
(
  {branches}
)
WHERE value_or_null IS NOT NULL
COMMENT 'Every value of a metric, metric_value(metric = ...): `dataset.column`, or counter.section.counter.'"""


def _values(dataset: Dataset) -> str:
    name = dataset.dataset
    if dataset.metric:
        [number] = metrics(dataset)
        value, chosen = _number(number), f" AND {metric_names(dataset)} = {{metric:String}}{_split(dataset)}"
    else:
        cases = ",\n    ".join(f"{{metric:String}} = '{name}.{n}', {_number(n)}" for n in metrics(dataset))
        value, chosen = f"multiIf(\n    {cases},\n    NULL)", ""
    return (
        f"SELECT ts, system, {instance_of(dataset)} AS instance, {value} AS value_or_null\n"
        f"  FROM counterflow.{name} FINAL WHERE startsWith({{metric:String}}, '{name}.'){chosen}"
    )


def _split(dataset: Dataset) -> str:
    """Return the predicate on both parts of a metric's name, wherever it is split; the sorting key serves it."""
    first, last = dataset.metric
    words = f"splitByChar('.', substring({{metric:String}}, {len(dataset.dataset) + 2}))"

    def among(column: str, words_of_it: str) -> str:
        texts = f"arrayMap(i -> arrayStringConcat(arraySlice({words}, {words_of_it}), '.'), range(1, length({words})))"
        return f"\n    AND {quoted(column)} IN (SELECT arrayJoin({texts}))"

    return among(first, "1, i") + among(last, "i + 1")


def _number(column: str) -> str:
    return f"toNullable(toFloat64({quoted(column)}))"


HOUR = "toDateTime(toStartOfHour(ts + toIntervalMillisecond(3599999)), 'UTC')"
"""The hour in which an interval ends, named by its end."""


GROUP_NAME = """\
multiIf(
  {grouping:String} = 'thread', toNullable(job),
  {grouping:String} = 'job', job_name,
  {grouping:String} = 'generic_job', left(job_name, 6),
  {grouping:String} = 'user', job_user,
  {grouping:String} = 'subsystem', subsystem,
  {grouping:String} = 'pool', job_pool,
  {grouping:String} = 'job_type', job_type,
  NULL
)"""
"""The name of the group of a job of IBM i, by the parameter `grouping` of a view."""


def touched_view(dataset: Dataset) -> str:
    """Return the view that notes of which hours of which systems rows were inserted: these are rolled up again."""
    name = dataset.dataset
    return f"""\
CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.{name}_to_hour_touched {{on_cluster}} TO counterflow.hour_touched AS
SELECT '{dataset.rolled_up_as}' AS dataset, system, {HOUR} AS hour, now64(3, 'UTC') AS touched_at
FROM counterflow.{name}
GROUP BY system, hour"""


def metric_names(dataset: Dataset) -> str:
    """Return the SQL of the names of its metrics, in the order of `metrics`."""
    if dataset.metric:
        return f"concat('{dataset.dataset}.', {_joined(dataset.metric, '.')})"
    return ", ".join(f"'{dataset.dataset}.{name}'" for name in metrics(dataset))


def instance_of(dataset: Dataset) -> str:
    """Return the SQL of the measured object of a row; several key columns are joined by a slash."""
    return _joined([name for name in dataset.key if name not in ("system", "ts", *dataset.metric)], "/")


def _column(name: str, column: Column) -> str:
    codec = "Delta, ZSTD(1)" if column.kind == "cumulative" else _CODECS.get(column.type, "ZSTD(1)")
    return f"{quoted(name)} {column_type(column)} COMMENT {literal(column.comment)} CODEC({codec})"


def _joined(names: tuple[str, ...] | list[str], separator: str) -> str:
    parts = f", '{separator}', ".join(quoted(name) for name in names)
    return f"concat({parts})" if len(names) > 1 else parts


def quoted(name: str) -> str:
    return f"`{name}`"
