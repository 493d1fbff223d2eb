"""Generates Flink SQL tables of a dataset: a source that reads from Kafka, and a sink that upserts into Kafka.

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

    `pt` is the processing time, for keep-first deduplication. A `bounded` table ends where the topic ends at the start
    of the job. The table has only these `columns` (default: all), since Flink parses every column of a table, used or
    not. `options` are added to the connector's.
    """
    return _table(
        dataset,
        [name for name in dataset.all_columns if columns is None or name in columns],
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


def sink_table(
    dataset: Dataset,
    *,
    bootstrap_servers: str = "{bootstrap_servers}",
    options: Mapping[str, str] | None = None,
) -> str:
    """Return the CREATE TABLE that upserts a dataset's rows into its topic by natural key."""
    return _table(
        dataset,
        list(dataset.all_columns),
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
    """Return the table of a dataset: a source, or a sink where jobs compute it."""
    return (sink_table if dataset.role == "result" else source_table)(dataset) + ";\n"


def _table(dataset: Dataset, columns: list[str], extra: list[str], options: Mapping[str, str]) -> str:
    typed = [f"`{name}` {_TYPES[dataset.all_columns[name].type]}" for name in columns]
    body = ",\n  ".join([*typed, *extra])
    connector = ",\n  ".join(f"{_literal(name)} = {_literal(value)}" for name, value in options.items())
    return f"CREATE TABLE `{dataset.dataset}` (\n  {body}\n) WITH (\n  {connector}\n)"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
