"""Creates an empty database from the definitions, and leads one of a released version to them by migrations.

What creates a database is generated from `datasets/` and joined by the statements of `clickhouse/`. The database
records the digest of these statements. Migrations, `clickhouse/migrations/NNNN_name.sql`, lead from the tables of one
released version to those of the next; a database with another digest, from which no migration leads on, is refused.

ClickHouse has no transactional DDL, so every statement can be repeated (`IF NOT EXISTS`, `OR REPLACE`), and the digest
is recorded after the last.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.schemas import clickhouse_ddl, culprit
from counterflow.schemas.definition import datasets, envelope

FOLDER = Path(__file__).parent / "clickhouse"
FEEDS = "feeds"
"""The views that fill ledger and rollups, half of each insert; a database that ends with its process needs none."""

LOWEST = (25, 8)
"""The oldest ClickHouse that is accepted: on 25.8, with long support, all tables and views were created and read; 24.8
refuses one. A view that ends with a table or a subquery names it: before 26.7 the COMMENT would be taken for its name.
"""

_ORDER = (
    *("counters", "results", "intervals", "rollups", "feeds", "systems", "values", "views", "provisional"),
    *("recorded", "culprit"),
)
_STATEMENT = re.compile(r"(?:'(?:\\.|[^'\\])*'|--[^\n]*|[^;'-]|-)+", re.DOTALL)


class Schema(NamedTuple):
    """Tables and views of a version: by name, the scripts that create them, and the migrations that lead to them."""

    parts: Mapping[str, str]
    migrations: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Digest of all parts, which the first line of the next migration names: `-- from DIGEST`."""
        return hashlib.sha256("".join(f"{name} {text}\n" for name, text in self.parts.items()).encode()).hexdigest()[
            :16
        ]

    def scripts_from(self, digest: str) -> Mapping[str, str] | None:
        """Return what is to be run on a database that has recorded a digest, "" where it is empty.

        An empty one gets the parts; another the migrations from the one that leads on from it, and the parts, which
        create what is new. None : no migration leads on from it.
        """
        if digest == self.digest:
            return {}
        if not digest:
            return self.parts
        names = list(self.migrations)
        first = next((name for name in names if self.migrations[name].startswith(f"-- from {digest}\n")), None)
        if first is None:
            return None
        return {**{name: self.migrations[name] for name in names[names.index(first) :]}, **self.parts}


@cache
def schema() -> Schema:
    """Return tables and views of this version."""
    by_hand = {name: (FOLDER / f"{name}.sql").read_text(encoding="utf-8") for name in ("rollups", "views")}
    views = by_hand["views"].replace("{envelope}", clickhouse_ddl.comments(envelope("view")))
    views = views.replace("{group_name}", clickhouse_ddl.GROUP_NAME)
    by_hand["views"] = re.sub(r"\{(\w+): ([\w ]+)\}", _comments, views)
    texts = {**clickhouse_ddl.parts(datasets().values()), **by_hand, "culprit": culprit.views()}
    files = sorted((FOLDER / "migrations").glob("*.sql"))
    return Schema(
        {name: texts[name] for name in _ORDER}, {path.stem: path.read_text(encoding="utf-8") for path in files}
    )


def _comments(columns: re.Match[str]) -> str:
    known = datasets()[columns[1]].all_columns
    return clickhouse_ddl.comments({name: known[name] for name in columns[2].split()})


def statements(script: str, cluster: str | None = None) -> list[str]:
    """Return the statements of a script, one request each, for one server or for all replicas of a cluster."""
    text = script.replace("{on_cluster}", f"ON CLUSTER '{cluster}'" if cluster else "")
    text = text.replace("{engine_prefix}", "Replicated" if cluster else "")
    pieces = (piece.strip() for piece in _STATEMENT.findall(text))
    return [piece for piece in pieces if re.sub(r"--[^\n]*", "", piece).strip()]


def migrate(client: ClickHouse, wanted: Schema | None = None, *, cluster: str | None = None) -> list[str]:
    """Bring a database to a schema, this version's by default; return the names of the scripts that were run.

    `cluster`: see `statements`.

    Raises
    ------
    CounterflowError : the server is older than `LOWEST`; or the database has tables of another version, from which no
        migration leads on, or of the other kind (of one server, of a cluster). It is left unchanged.
    ClickHouseError : the server refused a statement; a second run begins with the same script.
    """
    wanted = wanted or schema()
    require_version(client.rows("SELECT version() AS version")[0]["version"])
    _require_kind(client, cluster)
    scripts = wanted.scripts_from(recorded(client))
    if scripts is None:
        raise CounterflowError(
            "the database `counterflow` was created by another version, from which no migration leads on",
            hint="use that version; before a release, on one machine: counterflow down, then remove .counterflow, and "
            "with it all landed data and backups; elsewhere: DROP DATABASE counterflow",
            exit_code=2,
        )
    if not scripts:
        return []
    for script in (_SETUP, *scripts.values()):
        for statement in statements(script, cluster):
            client.post(statement)
    client.post(f"INSERT INTO counterflow.migration (digest) VALUES ('{wanted.digest}')", settings={"async_insert": 0})
    return list(scripts)


def recorded(client: ClickHouse) -> str:
    """Return the digest that a database has recorded; empty where none has."""
    columns = client.rows("SELECT name FROM system.columns WHERE database = 'counterflow' AND table = 'migration'")
    if not columns:
        return ""
    if {"name": "digest"} not in columns:
        return "of a checkout that was never released"
    found = client.rows("SELECT digest FROM counterflow.migration ORDER BY at DESC LIMIT 1")
    return str(found[0]["digest"]) if found else ""


def require_version(version: str) -> None:
    """Refuse a server that is too old, before a statement of it fails in the middle.

    Raises
    ------
    CounterflowError : the version is below `LOWEST`.
    """
    if tuple(map(int, version.split(".")[:2])) < LOWEST:
        lowest = ".".join(map(str, LOWEST))
        raise CounterflowError(
            f"ClickHouse {version} is too old: tables and views need {lowest} or later",
            hint=f"upgrade the server to {lowest} or later, then run counterflow dev migrate again",
            exit_code=2,
        )


def _require_kind(client: ClickHouse, cluster: str | None) -> None:
    """Refuse tables of one server where replicas are to have them, and the reverse: each would keep its own rows."""
    sql = "SELECT DISTINCT engine FROM system.tables WHERE database = 'counterflow' AND engine LIKE '%MergeTree'"
    replicated = {row["engine"].startswith("Replicated") for row in client.rows(sql)}
    if replicated - {cluster is not None}:
        raise CounterflowError(
            f"the database `counterflow` has the tables of {'one server' if cluster else 'a cluster'}",
            hint="make the tables of a cluster on servers without this database" if cluster else "give --cluster NAME",
            exit_code=2,
        )


_SETUP = """
CREATE DATABASE IF NOT EXISTS counterflow {on_cluster};
CREATE TABLE IF NOT EXISTS counterflow.migration {on_cluster}
(
  digest String COMMENT 'Digest of the statements that create the tables.',
  at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'When they were applied, UTC.'
)
ENGINE = {engine_prefix}MergeTree ORDER BY at
COMMENT 'Versions of the tables.';
"""
