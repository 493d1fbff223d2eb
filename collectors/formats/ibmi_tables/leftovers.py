"""What no dataset models: numbers go to `counter`, texts to `config` when they change."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence, Set
from typing import Any

from counterflow.collectors.formats.ibmi_tables.layout import Layout, Row
from counterflow.collectors.formats.ibmi_tables.paths import is_further
from counterflow.collectors.formats.ibmi_tables.values import Conversion, text_of
from counterflow.collectors.records import Fields, Record

_MOST_TEXTS = 1_000
"""Instances whose texts are remembered although they are gone: connections and jobs come with ever new names."""

Numbers = Sequence[tuple[str, float]]
Unknown = tuple[Numbers, Sequence[tuple[str, str]]]
"""The numbers and the texts of a row that are not described."""


def undescribed(layout: Layout, row: Row, conversion: Conversion) -> Unknown:
    """Return the numbers and the texts of the columns that are not described."""
    numbers, texts = [], []
    for place, name in layout.unknown:
        try:
            number = conversion.number(row[place], whole=False)
        except ValueError:
            texts.append((name, text_of(row[place]) or ""))
        else:
            if number is not None:
                numbers.append((name, number))
    return numbers, texts


def counters(layout: Layout, rows: Iterable[tuple[Row, str, Unknown]]) -> list[Any]:
    """Return the values of rows of `counter`, one after the other: what no other dataset models."""
    table = layout.table
    found: list[Any] = []
    for row, instance, (strange, _) in rows:
        further = is_further(layout, row)
        for place, name, described in layout.spare:
            value = row[place]
            if (value or (table.zeros and value is not None)) and not (described.once and further):
                found += table.table, instance, name, value, described.unit, described.kind
        for name, value in strange:
            if value or table.zeros:
                found += table.table, instance, name, value, None, None
    return found


class Settings:
    """The texts of a table's instances; `state` keeps a digest of those that were sent last."""

    def __init__(self, table: str, state: dict[str, Any]) -> None:
        self._table, self._state = table, state

    def changed(self, envelope: Fields, instance: str, settings: list[tuple[str, str]]) -> list[Record]:
        """Return the texts of an instance where they differ from those that were sent last."""
        if not settings:
            return []
        digest = f"{zlib.crc32(repr(settings).encode('utf-8', 'replace')):x}"
        sent = self._state.setdefault("config", {}).setdefault(self._table, {})
        if sent.get(instance) == digest:
            return []
        sent[instance] = digest
        common = {name: value for name, value in envelope.items() if name != "interval_s"}
        common |= {"section": self._table, "item": instance}
        return [Record("config", {**common, "name": name, "value": value}) for name, value in settings if value]

    def forget(self, seen: Set[str]) -> None:
        """Forget instances that the interval did not have, where too many are remembered."""
        texts = self._state.get("config", {}).get(self._table, {})
        if len(texts) > _MOST_TEXTS:
            for instance in texts.keys() - seen:
                del texts[instance]
