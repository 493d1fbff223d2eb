"""Creates an empty database from the definitions, and leads one of a released version to them by migrations.

What creates a database is generated from `datasets/` and joined by the statements of `clickhouse/`. Migrations,
`clickhouse/migrations/NNNN_name.sql`, lead from the tables of a released version to the next. The database records the
digest of each script; one with other digests, from which no migration leads on, is refused.

ClickHouse has no transactional DDL, so every statement can be repeated (`IF NOT EXISTS`) and a script is recorded after
its last statement.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.schemas import clickhouse_ddl, culprit
from counterflow.schemas.clickhouse_insert import DATABASE
from counterflow.schemas.definition import datasets
from counterflow.schemas.sharding import LOCAL, spread, views

FOLDER = Path(__file__).parent / "clickhouse"
FEEDS = "feeds"
"""The views that fill ledger and rollups, half of each insert; a database that ends with its process needs none."""

_ORDER = (
    *("counters", "results", "intervals", "rollups", "feeds", "systems", "values", "views", "provisional"),
    *("recorded", "culprit"),
)
_STATEMENT = re.compile(r"(?:'(?:\\.|[^'\\])*'|--[^\n]*|[^;'-]|-)+", re.DOTALL)
_NUMBERED = re.compile(r"\d{4}_\w+$")
_FROM = re.compile(r"-- from ([0-9a-f]{16})\n")


class Script(NamedTuple):
    """Statements that are recorded together: a part of the definitions, or a migration, whose `id` has a number."""

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


class Schema(NamedTuple):
    """Tables and views of this version: the parts that create them, and the migrations that lead to them."""

    parts: Sequence[Script]
    migrations: Sequence[Script] = ()

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each script by its id, as a database of this version has them recorded."""
        return {script.id: script.sha256 for script in (*self.parts, *self.migrations)}

    @property
    def digest(self) -> str:
        """Digest of all parts, which the first line of a migration names: `-- from DIGEST`."""
        return _digest({part.id: part.sha256 for part in self.parts})

    def newer(self, recorded: Mapping[str, str]) -> list[str]:
        """Return the migrations of a database that this version lacks."""
        return sorted(id_ for id_ in recorded if _NUMBERED.match(id_) and id_ not in self.digests)

    def edited(self, recorded: Mapping[str, str]) -> list[str]:
        """Return the migrations whose text is not the one that a database got."""
        return [one.id for one in self.migrations if recorded.get(one.id, one.sha256) != one.sha256]

    def differing(self, recorded: Mapping[str, str]) -> list[str]:
        """Return the parts of a database that differ from this version's, unless a migration leads on from them."""
        theirs = {id_: sha256 for id_, sha256 in recorded.items() if not _NUMBERED.match(id_)}
        known = [part for part in self.parts if part.id in theirs]
        found = [part.id for part in known if part.sha256 != theirs[part.id]] if known else list(theirs)
        first = next((one for one in self.migrations if one.id not in recorded), None)
        leads_on = first is not None and first.text.startswith(f"-- from {_digest(theirs)}\n")
        return [] if leads_on else found

    def pending(self, recorded: Mapping[str, str]) -> list[Script]:
        """Return what is to be run on a database: migrations, unless it is empty, then parts."""
        migrations = [one for one in self.migrations if recorded and one.id not in recorded]
        return [*migrations, *(part for part in self.parts if recorded.get(part.id) != part.sha256)]


@cache
def schema() -> Schema:
    """Return tables and views of this version."""
    by_hand = {name: (FOLDER / f"{name}.sql").read_text(encoding="utf-8") for name in ("rollups", "views")}
    texts = {**clickhouse_ddl.parts(datasets().values()), **by_hand, "culprit": culprit.views()}
    return Schema([Script(name, texts[name]) for name in _ORDER], migrations(FOLDER / "migrations"))


def migrations(folder: Path) -> list[Script]:
    """Return the migrations of a folder in the order of their numbers.

    Raises
    ------
    CounterflowError : a file has no number, two have the same, or one does not state from which tables it leads on.
    """
    paths = sorted(folder.glob("*.sql"))
    numbers = Counter(path.name[:4] for path in paths)
    wrong = [path.name for path in paths if not _NUMBERED.match(path.stem) or numbers[path.name[:4]] > 1]
    if wrong:
        raise CounterflowError(
            f"{folder}: {', '.join(wrong)}: a migration needs its own number, NNNN_name.sql",
            hint=f"give the newer file the number {_next_number(folder)}",
            exit_code=2,
        )
    found = [Script(path.stem, path.read_text(encoding="utf-8")) for path in paths]
    if unfounded := [one.id for one in found if not _FROM.match(one.text)]:
        raise CounterflowError(
            f"{folder}: {', '.join(unfounded)}: expected `-- from DIGEST` in the first line",
            hint="DIGEST is that of the released version from which it leads on (CONTRIBUTING.md, Add a dataset)",
            exit_code=2,
        )
    return found


def migrate(
    client: ClickHouse, wanted: Schema | None = None, *, cluster: str | None = None, replicated: bool = True
) -> list[str]:
    """Bring a database to a schema, this version's by default; return the ids of the scripts that were run.

    `cluster` and `replicated`: see `Script.statements`.

    Raises
    ------
    CounterflowError : an applied migration was edited, or the database has other tables, migrations of a newer
        version, or tables of the other kind (of one server, of a cluster). The database is left unchanged.
    ClickHouseError : the server refused a statement; a second run begins with the same script.
    """
    wanted = wanted or schema()
    over_all = _over_all_shards(client, cluster)
    setup = Script("", _SETUP)
    for statement in setup.statements(cluster, replicated=replicated):
        client.post(statement)
    done = f"{LOCAL if cluster else DATABASE}.migration"
    recorded = {row["id"]: row["sha256"] for row in client.rows(f"SELECT id, sha256 FROM {done} FINAL")}
    _require(wanted, recorded)
    if cluster and recorded and not over_all:  # a shard restored from a copy, which has its own tables alone
        recorded = {}
        for statement in Script("", _FORGET).statements(cluster, replicated=replicated):
            client.post(statement)
    pending = wanted.pending(recorded)
    if not recorded:
        _record(client, done, wanted.migrations)  # the parts have what they change
    for script in pending:
        for statement in script.statements(cluster, replicated=replicated):
            client.post(statement)
        if not recorded:
            _record(client, done, [script])
    if recorded:  # at once: a migration is found by the digests from which it leads on
        _record(client, done, pending)
    return [script.id for script in pending]


def _require(wanted: Schema, recorded: Mapping[str, str]) -> None:
    """Refuse a database that `wanted` does not follow; see `migrate`."""
    if newer := wanted.newer(recorded):
        raise CounterflowError(
            f"the database `counterflow` has migrations of a newer version: {', '.join(newer)}",
            hint="use that version, or a newer one",
            exit_code=2,
        )
    if edited := wanted.edited(recorded):
        raise CounterflowError(
            f"{', '.join(edited)}: edited after it was applied to this server",
            hint="restore the file (git checkout), and write the change as a migration of its own",
            exit_code=2,
        )
    if wanted.differing(recorded):
        raise CounterflowError(
            "the database `counterflow` was created by another checkout, which was never released",
            hint="one machine: counterflow down, then remove .counterflow, and with it all landed data and backups; "
            "elsewhere: DROP DATABASE counterflow",
            exit_code=2,
        )


def _record(client: ClickHouse, table: str, scripts: Iterable[Script]) -> None:
    """Enter scripts as applied, all of them or none."""
    if values := ", ".join(f"('{script.id}', '{script.sha256}')" for script in scripts):
        client.post(f"INSERT INTO {table} (id, sha256) VALUES {values}", settings={"async_insert": 0})


def _digest(parts: Mapping[str, str]) -> str:
    return hashlib.sha256("".join(f"{id_} {parts[id_]}\n" for id_ in sorted(parts)).encode()).hexdigest()[:16]


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
  id String COMMENT 'Name of the script; of a migration with its number.',
  sha256 String COMMENT 'Digest of its text.',
  at DateTime('UTC') DEFAULT now() COMMENT 'When it was applied, UTC.'
)
ENGINE = {engine_prefix}ReplacingMergeTree ORDER BY id
COMMENT 'Applied scripts.';
"""


def _next_number(folder: Path) -> str:
    taken = [int(path.name[:4]) for path in folder.glob("*.sql") if path.name[:4].isdigit()]
    return f"{max(taken, default=0) + 1:04}"
