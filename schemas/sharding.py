"""The statements of a cluster: each shard's own tables, and tables over all shards that readers ask. Pure text.

A statement of the baseline or a migration names tables of `counterflow`. On a cluster, tables and what feeds ledger and
rollup are each shard's own, in the database `LOCAL`, where landers insert; in `counterflow` stands a Distributed table
of the same name over all shards, which views, boards and every other reader ask.
"""

from __future__ import annotations

import re
from collections.abc import Set

LOCAL = "counterflow_shard"
"""Database of a shard's own tables."""

_COMMENT = re.compile(r"\bCOMMENT\s+'(?:\\.|''|[^'\\])*'\s*$")
_TABLE = re.compile(r"(CREATE TABLE IF NOT EXISTS|ALTER TABLE) counterflow\.(\w+)")
_OF_SHARD = re.compile(r"(CREATE MATERIALIZED VIEW|DROP)\b")


def views(text: str) -> frozenset[str]:
    """Return the views that a migration makes: what it alters of these is no table."""
    return frozenset(re.findall(r"\bCREATE (?:OR REPLACE )?VIEW (?:IF NOT EXISTS )?counterflow\.(\w+)", text))


def spread(statement: str, cluster: str, on_cluster: str, of_readers: Set[str] = frozenset()) -> list[str]:
    """Return what a statement of one server is on a cluster, in order; `on_cluster` is its clause, or empty.

    `statement` has its clause filled in already; `of_readers` are views, which read the tables over all shards.
    """
    head = re.sub(r"--[^\n]*\n?", "", statement).lstrip()
    own = re.sub(r"\bcounterflow\.", f"{LOCAL}.", statement)
    if head.startswith("CREATE DATABASE"):
        return [statement, re.sub(r"\bcounterflow\b", LOCAL, statement, count=1)]
    if (made := _TABLE.match(head)) and made[2] not in of_readers:
        return [own, _over_all(made[2], cluster, on_cluster, _COMMENT.search(own))]
    return [own] if _OF_SHARD.match(head) else [statement]


def _over_all(table: str, cluster: str, on_cluster: str, comment: re.Match[str] | None) -> str:
    """Return the table over all shards; made again after a change, since it keeps nothing but its columns."""
    return (
        f"CREATE OR REPLACE TABLE counterflow.{table} {on_cluster} AS {LOCAL}.{table}\n"
        f"ENGINE = Distributed('{cluster}', '{LOCAL}', '{table}')\n{comment[0] if comment else ''}"
    )
