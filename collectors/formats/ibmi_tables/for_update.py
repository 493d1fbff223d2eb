"""Which column counts reads for update: the name of the field was published nowhere."""

from __future__ import annotations

from collections.abc import Sequence

from counterflow.collectors.formats.ibmi_tables.description import description
from counterflow.collectors.formats.ibmi_tables.layout import Layout, canonical

FOR_UPDATE = "logical_reads_for_update"
BROUGHT_BY = "IBM i 7.5 has it; PTFs SI75389 (7.4), SI75911 (7.3) and SI75912 (7.2) bring it"
"""Db2 Mirror for i: Performance Considerations, 2.2; it names no PTF for other releases, and no name of the column."""


def counting_updates(table: str, columns: Sequence[str]) -> list[str]:
    """Return the columns that may count reads for update, by their names or labels."""
    known = description(table)
    if known is None or not any("logical_reads" in filled.columns for filled in known.records):
        return []
    undescribed = [column for column in canonical(known, columns) if column not in known.fields]
    return [column for column in undescribed if "UPDATE" in column and "READ" in column]


def why_unknown(layout: Layout, named: str | None, found: Sequence[str]) -> str | None:
    """Return why reads for update are unknown beside logical reads, or None where they are known.

    `named` is the column that the site names, `found` are those that may count them.
    """
    sources = {filled.columns.get("logical_reads") for filled in layout.table.records}
    if sources.isdisjoint(layout.columns) or (named is not None and named.strip().upper() in layout.columns):
        return None
    if named is None and found:
        which = f"{', '.join(found)} may each count reads for update: name one, columns: {{{FOR_UPDATE}: NAME}}"
        return f"{which}; until then {FOR_UPDATE} is null"
    looked = "no column, or not one alone, has READ and UPDATE in its name or label"
    if named is not None:
        looked = f"there is no column {named}, which the configuration names"
    return f"{looked}: {FOR_UPDATE} is null. {BROUGHT_BY}"
