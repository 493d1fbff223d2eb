"""Generates Flink SQL of a dataset: a source that reads from Kafka, its rows as a view, a sink that upserts into Kafka.

No table has a watermark: results are updating aggregates (docs/kpis/index.md). Names are always quoted, since `system`,
`value`, `reads` and others are reserved.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from counterflow.schemas.definition import Dataset

_TYPES = {
    "String": "STRING",
    "Float64": "DOUBLE",
    "Int64": "BIGINT",
    "UInt64": "BIGINT",
    "Bool": "BOOLEAN",
    "DateTime64": "TIMESTAMP_LTZ(3)",
}


def source_table(
    dataset: Dataset,
    *,
    bootstrap_servers: str = "{bootstrap_servers}",
    group_id: str = "{group_id}",
    bounded: bool = False,
    columns: Container[str] | None = None,
    options: Mapping[str, str] | None = None,
) -> str:
    """Return the CREATE TABLE that reads a dataset's topic from its beginning, committed records only.

    A row of it is a frame of a counter, whose own columns are arrays (`row_view`), or a row of a result. `pt` is the
    processing time, for keep-first deduplication. A `bounded` table ends where the topic ends at the start of the job.
    The table has only these `columns` (default: all), since Flink parses every column of a table, used or not.
    `options` are added to the connector's.
    """
    names = [name for name in dataset.all_columns if columns is None or name in columns]
    return _table(
        dataset,
        {name: _framed(dataset, name) for name in names},
        ["`pt` AS PROCTIME()"],
        {
            "connector": "kafka",
            "topic": dataset.topic,
            "properties.bootstrap.servers": bootstrap_servers,
            "properties.group.id": group_id,
            "properties.isolation.level": "read_committed",
            "scan.startup.mode": "earliest-offset",
            **({"scan.bounded.mode": "latest-offset"} if bounded else {}),
            "format": "json",
            "json.ignore-parse-errors": "true",  # the lander turns such a record into a dead letter
            "json.timestamp-format.standard": "ISO-8601",
            **(options or {}),
        },
    )


def row_view(dataset: Dataset, source: str, *, columns: Container[str] | None = None, where: str = "") -> str:
    """Return the CREATE VIEW, named as the dataset, of the rows that the table `source` has; `where` filters them."""
    names = [name for name in dataset.all_columns if columns is None or name in columns]
    if dataset.role == "result":
        selected, unnested = [f"`{name}`" for name in names], ""
    else:
        entity = next(name for name in dataset.key if name in dataset.columns)
        own = {name: f"`{name}`[place] AS `{name}`" for name in dataset.columns} | {entity: f"entity AS `{entity}`"}
        selected = [own.get(name, f"`{name}`") for name in names]
        unnested = f" CROSS JOIN UNNEST(`{entity}`) WITH ORDINALITY AS u (entity, place)"
    return (
        f"CREATE TEMPORARY VIEW `{dataset.dataset}` AS SELECT {', '.join([*selected, '`pt`'])} "
        f"FROM {source}{unnested} {where}"
    ).rstrip()


def sink_table(
    dataset: Dataset,
    *,
    bootstrap_servers: str = "{bootstrap_servers}",
    options: Mapping[str, str] | None = None,
) -> str:
    """Return the CREATE TABLE that upserts a dataset's rows into its topic by natural key."""
    return _table(
        dataset,
        {name: _TYPES[column.type] for name, column in dataset.all_columns.items()},
        [f"PRIMARY KEY ({', '.join(f'`{name}`' for name in dataset.key)}) NOT ENFORCED"],
        {
            "connector": "upsert-kafka",
            "topic": dataset.topic,
            "properties.bootstrap.servers": bootstrap_servers,
            "key.format": "json",
            "key.json.timestamp-format.standard": "ISO-8601",
            "value.format": "json",
            "value.json.timestamp-format.standard": "ISO-8601",
            "value.json.encode.ignore-null-fields": "true",
            "sink.delivery-guarantee": "at-least-once",
            **(options or {}),
        },
    )


def flink_sql(dataset: Dataset) -> str:
    """Return the table of a dataset: a source with the view of its rows, or a sink where jobs compute it."""
    if dataset.role == "result":
        return sink_table(dataset) + ";\n"
    return f"{source_table(dataset)};\n\n{row_view(dataset, f'topics.`{dataset.dataset}`')};\n"


def _framed(dataset: Dataset, name: str) -> str:
    """Return the type of a column in the messages of a dataset."""
    scalar = _TYPES[dataset.all_columns[name].type]
    return f"ARRAY<{scalar}>" if dataset.role == "counter" and name in dataset.columns else scalar


def _table(dataset: Dataset, columns: Mapping[str, str], extra: list[str], options: Mapping[str, str]) -> str:
    typed = [f"`{name}` {kind}" for name, kind in columns.items()]
    body = ",\n  ".join([*typed, *extra])
    connector = ",\n  ".join(f"{_literal(name)} = {_literal(value)}" for name, value in options.items())
    return f"CREATE TABLE `{dataset.dataset}` (\n  {body}\n) WITH (\n  {connector}\n)"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
