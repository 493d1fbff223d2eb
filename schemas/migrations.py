"""Applies the baseline, `schemas/clickhouse/baseline/*.sql`, then migrations, `schemas/clickhouse/NNNN_name.sql`.

Each is applied once, in order. The baseline may change until its version is released: a database with a different
baseline is refused.

ClickHouse has no transactional DDL, so every statement can be repeated (`IF NOT EXISTS`) and a migration is recorded
after its last statement.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.schemas.clickhouse_insert import DATABASE
from counterflow.schemas.sharding import LOCAL, spread, views

FOLDER = Path(__file__).parent / "clickhouse"
BASELINE = "baseline"
FEEDS = f"{BASELINE}/4_feeds"
"""The views that fill ledger and rollups, half of each insert; a database that ends with its process needs none."""

_STATEMENT = re.compile(r"(?:'(?:\\.|[^'\\])*'|--[^\n]*|[^;'-]|-)+", re.DOTALL)


class Migration(NamedTuple):
    """One file: its `id` is the name without `.sql`; its text is never edited once it has been applied anywhere."""

    id: str
    text: str

    @property
    def sha256(self) -> str:
        """Digest of the text, which reveals an edit."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def statements(self, cluster: str | None = None, *, replicated: bool = True) -> list[str]:
        """Return the statements, one request each, for one server or for a cluster.

        For a cluster that is not `replicated`, they are those of one of its servers, a shard.
        """
        on_cluster = f"ON CLUSTER '{cluster}'" if cluster and replicated else ""
        text = self.text.replace("{on_cluster}", on_cluster)
        text = text.replace("{engine_prefix}", "Replicated" if on_cluster else "")
        pieces = (piece.strip() for piece in _STATEMENT.findall(text))
        found = [piece for piece in pieces if re.sub(r"--[^\n]*", "", piece).strip()]
        if not cluster:
            return found
        made = views(text)
        return [each for piece in found for each in spread(piece, cluster, on_cluster, made)]


def migrations(folder: Path = FOLDER) -> list[Migration]:
    """Return the baseline of a folder, then its migrations in the order of their numbers.

    Raises
    ------
    CounterflowError : a file has no number, or two have the same.
    """
    paths = sorted(folder.glob("*.sql"))
    numbers = Counter(path.name[:4] for path in paths)
    wrong = [path.name for path in paths if not re.match(r"\d{4}_\w+\.sql$", path.name) or numbers[path.name[:4]] > 1]
    if wrong:
        raise CounterflowError(
            f"{folder}: {', '.join(wrong)}: a migration needs its own number, NNNN_name.sql",
            hint=f"give the newer file the number {_next_number(folder)}",
            exit_code=2,
        )
    baseline = sorted((folder / BASELINE).glob("*.sql"))
    return [
        *(Migration(f"{BASELINE}/{path.stem}", path.read_text(encoding="utf-8")) for path in baseline),
        *(Migration(path.stem, path.read_text(encoding="utf-8")) for path in paths),
    ]


def migrate(
    client: ClickHouse,
    *,
    folder: Path = FOLDER,
    cluster: str | None = None,
    replicated: bool = True,
    without: Collection[str] = (),
) -> list[str]:
    """Apply pending migrations in order; return their ids.

    `cluster` and `replicated`: see `Migration.statements`; `without`: ids that are not applied.

    Raises
    ------
    CounterflowError : an applied migration was edited, or the database has another baseline, migrations of a newer
        version, or the tables of one server where those of a cluster are to be made, or the reverse; it is left
        unchanged.
    ClickHouseError : the server refused a statement; the migrations before it stay applied and recorded.
    """
    over_all = _over_all_shards(client, cluster)
    setup = Migration("", _SETUP)
    for statement in setup.statements(cluster, replicated=replicated):
        client.post(statement)
    done = f"{LOCAL if cluster else DATABASE}.migration"
    applied = {row["id"]: row["sha256"] for row in client.rows(f"SELECT id, sha256 FROM {done} FINAL")}
    found = [m for m in migrations(folder) if m.id not in without]
    baseline = {m.id: m.sha256 for m in found if m.id.startswith(f"{BASELINE}/")}
    known = {id_: sha256 for id_, sha256 in applied.items() if id_ in baseline}
    if applied and baseline and (not known or any(baseline[id_] != sha256 for id_, sha256 in known.items())):
        raise CounterflowError(
            "the database `counterflow` was created by an older checkout that was never released",
            hint="one machine: counterflow down, then remove .counterflow, and with it all landed data and backups; "
            "elsewhere: DROP DATABASE counterflow",
            exit_code=2,
        )
    if newer := [id_ for id_ in applied.keys() - {m.id for m in found} if not id_.startswith(f"{BASELINE}/")]:
        raise CounterflowError(
            f"the database `counterflow` has migrations of a newer version: {', '.join(sorted(newer))}",
            hint="use that version, or a newer one",
            exit_code=2,
        )
    if edited := [m.id for m in found if applied.get(m.id, m.sha256) != m.sha256]:
        raise CounterflowError(
            f"{folder}: {', '.join(edited)}: edited after it was applied to this server",
            hint=f"restore it (git checkout) and write the change as number {_next_number(folder)}",
            exit_code=2,
        )
    if cluster and applied and not over_all:  # a shard restored from a copy, which has its own tables alone
        applied = {}
        for statement in Migration("", _FORGET).statements(cluster, replicated=replicated):
            client.post(statement)
    fresh = [m for m in found if m.id not in applied]
    for migration in fresh:
        for statement in migration.statements(cluster, replicated=replicated):
            client.post(statement)
        client.post(
            f"INSERT INTO {done} (id, sha256) VALUES ({{id:String}}, {{sha256:String}})",
            settings={"param_id": migration.id, "param_sha256": migration.sha256, "async_insert": 0},
        )
    return [m.id for m in fresh]


def _over_all_shards(client: ClickHouse, cluster: str | None) -> bool:
    """Return whether the database has tables over all shards; refuse tables of the other kind than will be made."""
    sql = "SELECT DISTINCT engine FROM system.tables WHERE database = 'counterflow'"
    engines = {row["engine"] for row in client.rows(sql)}
    if cluster and any(engine.endswith("MergeTree") for engine in engines):
        raise CounterflowError(
            "the database `counterflow` has the tables of one server, which tables over all shards would replace",
            hint="make the tables of a cluster on servers without this database (docs/cluster.md, Shards)",
            exit_code=2,
        )
    if not cluster and "Distributed" in engines:
        raise CounterflowError(
            "the database `counterflow` has the tables of a cluster", hint="give --cluster NAME", exit_code=2
        )
    return "Distributed" in engines


_FORGET = "TRUNCATE TABLE counterflow_shard.migration {on_cluster} SYNC"
_SETUP = """
CREATE DATABASE IF NOT EXISTS counterflow {on_cluster};
CREATE TABLE IF NOT EXISTS counterflow.migration {on_cluster}
(
  id String COMMENT 'Number and name of the file.',
  sha256 String COMMENT 'Digest of its text.',
  at DateTime('UTC') DEFAULT now() COMMENT 'When it was applied, UTC.'
)
ENGINE = {engine_prefix}ReplacingMergeTree ORDER BY id
COMMENT 'Applied migrations.';
"""


def _next_number(folder: Path) -> str:
    taken = [int(path.name[:4]) for path in folder.glob("*.sql") if path.name[:4].isdigit()]
    return f"{max(taken, default=0) + 1:04}"
