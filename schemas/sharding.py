"""The statements of a cluster: each shard's own tables, and tables over all shards that readers query. Pure text.

A statement names tables of `counterflow`. On a cluster, each shard has its own tables
and views that feed ledger and rollup, in the database `LOCAL`, where landers insert. In `counterflow` there is a
Distributed table of the same name over all shards, which views, boards and every other reader query.
"""

from __future__ import annotations

import re
from collections.abc import Set

LOCAL = "counterflow_shard"
"""Database of a shard's own tables."""
ROLLED_UP = re.compile(r"CREATE VIEW IF NOT EXISTS counterflow\.processor_load\b")
"""A view for readers from which a shard also computes its own tables by hour."""

_COMMENT = re.compile(r"\bCOMMENT\s+'(?:\\.|''|[^'\\])*'\s*$")
_TABLE = re.compile(r"(CREATE TABLE IF NOT EXISTS|ALTER TABLE) counterflow\.(\w+)")
_OF_SHARD = re.compile(r"(CREATE MATERIALIZED VIEW|DROP)\b")


def views(text: str) -> frozenset[str]:
    """Return the names of the views that a script creates: an ALTER of one of these is not of a table."""
    return frozenset(re.findall(r"\bCREATE (?:OR REPLACE )?VIEW (?:IF NOT EXISTS )?counterflow\.(\w+)", text))


def spread(statement: str, cluster: str, on_cluster: str, of_readers: Set[str] = frozenset()) -> list[str]:
    """Return, in order, what a statement of one server becomes on a cluster; `on_cluster` is its clause, or empty.

    `statement` already contains the clause; `of_readers` are views, which read the tables over all shards.
    """
    head = re.sub(r"--[^\n]*\n?", "", statement).lstrip()
    own = re.sub(r"\bcounterflow\.", f"{LOCAL}.", statement)
    if head.startswith("CREATE DATABASE"):
        return [statement, re.sub(r"\bcounterflow\b", LOCAL, statement, count=1)]
    if (made := _TABLE.match(head)) and made[2] not in of_readers:
        return [own, _over_all(made[2], cluster, on_cluster, _COMMENT.search(own))]
    if ROLLED_UP.match(head):
        return [own, statement]
    return [own] if _OF_SHARD.match(head) else [statement]


def _over_all(table: str, cluster: str, on_cluster: str, comment: re.Match[str] | None) -> str:
    """Return the statement that creates the table over all shards, anew after a change: it keeps only its columns."""
    return (
        f"CREATE OR REPLACE TABLE counterflow.{table} {on_cluster} AS {LOCAL}.{table}\n"
        f"ENGINE = Distributed('{cluster}', '{LOCAL}', '{table}')\n{comment[0] if comment else ''}"
    )
