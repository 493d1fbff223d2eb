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
    dataset: Dataset, *, bootstrap_servers: str, group_id: str, columns: Container[str], options: Mapping[str, str]
) -> str:
    """Return the CREATE TABLE that reads a dataset's topic from its beginning, committed records only.

    Each row is a frame of a counter, whose own columns are arrays (`row_view`), or a row of a result. `pt` is the
    processing time, for keep-first deduplication.
    The table has only these `columns`, since Flink parses every column of a table, used or not.
    `options` are added to the connector's.
    """
    names = [name for name in dataset.all_columns if name in columns]
    sizes = ["`frame_rows` INT"] if dataset.role == "counter" else []
    return _table(
        dataset,
        {name: _framed(dataset, name) for name in names},
        [*sizes, "`pt` AS PROCTIME()"],
        {
            "connector": "kafka",
            "topic": dataset.topic,
            "properties.bootstrap.servers": bootstrap_servers,
            "properties.group.id": group_id,
            "properties.isolation.level": "read_committed",
            "scan.startup.mode": "earliest-offset",
            "format": "json",
            "json.ignore-parse-errors": "true",  # the lander turns such a record into a dead letter
            "json.timestamp-format.standard": "ISO-8601",
            **options,
        },
    )


def row_view(dataset: Dataset, source: str, *, columns: Container[str], where: str, rows: str, distinct: bool) -> str:
    """Return the CREATE VIEW, named as the dataset, of the rows that meet `rows` of frames that meet `where`.

    `source` is their table. A `distinct` view has each natural key once, from the frame that arrived first, however
    often its row arrives and however frames are cut; the key is system, one column that names an entity, and ts. Frames
    that the lander refuses as malformed have no rows.
    `columns` may name `apart_s`, the seconds from `prev_ts` to `ts`, of a dataset that has both.
    """
    names = [name for name in dataset.all_columns if name in columns]
    view, only = f"CREATE TEMPORARY VIEW `{dataset.dataset}` AS", f" WHERE {rows}" if rows else ""
    if dataset.role == "result":
        selected = ", ".join(f"`{column}`" for column in names)
        return f"{view} SELECT {selected}, `pt` FROM {source}{only}"
    frames = _frames(dataset, names, source, where)
    found = _paired(dataset, names, _fresh(dataset, names, frames)) if distinct else _placed(dataset, names, frames)
    if "apart_s" in columns and "prev_ts" in names:
        found = f"SELECT *, {_APART_S} AS apart_s FROM ({found})"
    return f"{view} SELECT * FROM ({found}){only}" if rows else f"{view} {found}"


# Flink 2.3 inlines an expression wherever its column is used, and computes it a dozen times a row. It computes one that
# is not deterministic, such as one with RAND, only once: that tripled the speed of `link_load`.
_APART_S = (
    "EXTRACT(EPOCH FROM ts) - EXTRACT(EPOCH FROM prev_ts) "
    "+ (EXTRACT(MILLISECOND FROM ts) - EXTRACT(MILLISECOND FROM prev_ts)) / 1000e0 + 0 * RAND()"
)
_SO_FAR = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
_SEPARATOR = "U&'\\001F'"
"""Separates the entities of a frame in state, one text. A name that contains it counts again in a second frame."""


def _entities(dataset: Dataset) -> list[str]:
    return [column for column in dataset.key if column in dataset.columns]


def _frames(dataset: Dataset, names: list[str], source: str, where: str) -> str:
    """Return the SELECT of well-formed frames."""
    entity = _entities(dataset)
    first = f"`{entity[0]}`"
    arrays = [name for name in names if name in dataset.columns]
    equal = [f"COALESCE(CARDINALITY(`{name}`), frame_rows) = frame_rows" for name in arrays]
    equal[arrays.index(entity[0])] = f"CARDINALITY({first}) = frame_rows"
    if len(entity) == 1:
        equal.append(f"CARDINALITY(ARRAY_DISTINCT({first})) = frame_rows")
    formed = " AND ".join([*([where] if where else []), *equal])
    columns = ", ".join(f"`{name}`" for name in [*names, "pt"])
    return f"SELECT {columns}, frame_rows FROM {source} WHERE {formed}"


def _fresh(dataset: Dataset, names: list[str], frames: str) -> str:
    """Return the SELECT of frames that have new rows.

    `fresh` is null where no row of the frame has arrived before, else the entities whose rows are new. So a frame
    takes one look-up in state, and its rows are compared only where a frame of the same system and instant has arrived.
    """
    [entity] = _entities(dataset)
    columns = ", ".join(f"`{name}`" for name in [*names, "pt"])
    seen = f"ARRAY_AGG(ARRAY_JOIN(`{entity}`, {_SEPARATOR})) OVER (PARTITION BY `system`, ts ORDER BY `pt` {_SO_FAR})"
    before = f"ARRAY_JOIN(ARRAY_SLICE(seen, 1, CARDINALITY(seen) - 1), {_SEPARATOR})"
    unseen = f"CASE WHEN CARDINALITY(seen) > 1 THEN ARRAY_EXCEPT(`{entity}`, SPLIT({before}, {_SEPARATOR})) END"
    return (
        f"SELECT {columns}, frame_rows, CASE WHEN CARDINALITY(unseen) < frame_rows THEN unseen END AS fresh "
        f"FROM (SELECT {columns}, frame_rows, {unseen} AS unseen "
        f"FROM (SELECT {columns}, frame_rows, {seen} AS seen FROM ({frames}))) "
        "WHERE unseen IS NULL OR CARDINALITY(unseen) > 0"
    )


def _placed(dataset: Dataset, names: list[str], frames: str) -> str:
    """Return the SELECT of the rows of frames, with each value by its place in its array.

    For frames of few rows: the plan is far simpler, and takes a third of the time.
    """
    entity = _entities(dataset)[0]
    own = {name: f"`{name}`[place] AS `{name}`" for name in dataset.columns} | {entity: f"entity AS `{entity}`"}
    selected = ", ".join(own.get(name, f"`{name}`") for name in [*names, "pt"])
    return f"SELECT {selected} FROM ({frames}) CROSS JOIN UNNEST(`{entity}`) WITH ORDINALITY AS u (entity, place)"


def _paired(dataset: Dataset, names: list[str], frames: str) -> str:
    """Return the SELECT of the rows of frames of many rows.

    The arrays become one array of nested pairs, which is unnested: an array beside it would be copied whole for each
    row, so that a row of a frame ten times as long would take ten times the time. A column that the frame leaves out
    becomes an array of nulls, since pairs need equal lengths.
    """
    arrays = [name for name in names if name in dataset.columns]
    [entity] = _entities(dataset)
    zipped, paths = _zip([(name, _array(dataset, name)) for name in arrays])
    places = {name: f"u{''.join(f'.`{step}`' for step in path)}" for name, path in paths.items()}
    scalars = [f"`{name}`" for name in names if name not in dataset.columns]
    left_out = " OR ".join(f"`{name}` IS NULL" for name in arrays if dataset.columns[name].null_when)
    nothing = f"CASE WHEN {left_out} THEN REGEXP_EXTRACT_ALL(REPEAT(',', frame_rows), ',|(never)', 1) END"
    nothing = nothing if left_out else "CAST(NULL AS ARRAY<STRING>)"
    selected = [f"{places[name]} AS `{name}`" if name in places else f"`{name}`" for name in [*names, "pt"]]
    kept = ", ".join([*scalars, "`pt`", "fresh"])
    steps = "(`key`, `value`)" if len(arrays) > 1 else "(`only`)"
    return (
        f"SELECT {', '.join(selected)} FROM (SELECT {kept}, {zipped} AS zipped FROM (SELECT *, {nothing} AS nulls "
        f"FROM ({frames}))) CROSS JOIN UNNEST(zipped) AS u {steps} "
        f"WHERE fresh IS NULL OR ARRAY_CONTAINS(fresh, {places[entity]})"
    )


def _array(dataset: Dataset, name: str) -> str:
    if dataset.columns[name].null_when is None:
        return f"`{name}`"
    return f"COALESCE(`{name}`, CAST(nulls AS {_framed(dataset, name)}))"


def _zip(arrays: list[tuple[str, str]]) -> tuple[str, dict[str, tuple[str, ...]]]:
    """Return an array that nests the elements of the arrays in pairs, and the path of fields to each."""
    if len(arrays) == 1:
        return arrays[0][1], {arrays[0][0]: ()}
    half = (len(arrays) + 1) // 2
    keys, above = _zip(arrays[:half])
    values, below = _zip(arrays[half:])
    paths = {name: ("key", *path) for name, path in above.items()}
    paths |= {name: ("value", *path) for name, path in below.items()}
    return f"MAP_ENTRIES(MAP_FROM_ARRAYS({keys}, {values}))", paths


def sink_table(dataset: Dataset, *, bootstrap_servers: str, options: Mapping[str, str]) -> str:
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
            **options,
        },
    )


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
