"""Settings, which are published where they differ from those published last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping

from counterflow.collectors.records import Fields, Record


def changes(
    published: MutableMapping[str, str], settings: Mapping[str, str], envelope: Fields, section: str, item: str
) -> Iterator[Record]:
    """Yield a record of `config` for each setting that differs from `published`, which is updated.

    `published` holds the settings published last for the same section and item; the state of a format keeps it.
    """
    for name, value in settings.items():
        if published.get(name) != value:
            published[name] = value
            yield Record("config", {**envelope, "section": section, "item": item, "name": name, "value": value})
