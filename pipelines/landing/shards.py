"""Decides which shard keeps a row, by a map of systems and days to servers, and splits batches by shard.

Its only I/O is to read the file of the map.

The shard follows from `system` and the day of `ts`, which every sorting key has: all versions of a row meet on one
shard, where the later replaces the earlier. So rules are only ever added to a map, for days that have no rows yet or
for systems that have none: history stays where it is.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Self
from zlib import crc32

import msgspec
import yaml
from pydantic import Field, ValidationError, model_validator

from counterflow.base.errors import CounterflowError
from counterflow.base.strict import Strict
from counterflow.pipelines.landing.batch import Message

_HINT = "docs/cluster.md has an example of a map of shards"


class Rule(Strict):
    """Systems and days, and the shards that share them; of several rules that apply the last decides."""

    shards: Annotated[tuple[str, ...], Field(min_length=1)]
    """A system's shard is the one at the remainder of CRC-32 of its name. Agents choose the partition in the same way:
    where a topic's partitions are a multiple of the shards, each partition has the rows of one shard."""
    since: Annotated[datetime.date | None, Field(alias="from")] = None
    """First day of the rows, UTC; none: every day."""
    systems: tuple[str, ...] = ("*",)
    """Patterns of names: `*` any text, `?` any character."""

    def applies(self, system: str, day: str) -> bool:
        """Return whether the rule is for a system's rows of a day, `YYYY-MM-DD`."""
        begun = self.since is None or day >= self.since.isoformat()
        return begun and any(fnmatchcase(system, pattern) for pattern in self.systems)


class ShardMap(Strict):
    """All shards by name, each with the HTTP address of its server, and the rules."""

    shards: Annotated[dict[str, str], Field(min_length=1)]
    rules: Annotated[tuple[Rule, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if unknown := sorted({name for rule in self.rules for name in rule.shards} - set(self.shards)):
            raise ValueError(f"a rule names {', '.join(unknown)}, which `shards` does not")
        if self.rules[0].since or "*" not in self.rules[0].systems:
            raise ValueError("the first rule has to be for every system and every day")
        return self

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a map from its YAML.

        Raises
        ------
        CounterflowError : the file cannot be read, or is no map.
        """
        try:
            return cls.model_validate(yaml.safe_load(path.read_bytes()))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            what = f"{place}: {first['msg']}" if place else first["msg"].removeprefix("Value error, ")
            raise CounterflowError(f"{path}: {what}", hint=_HINT, exit_code=2) from None
        except (OSError, yaml.YAMLError) as error:
            raise CounterflowError(f"{path} cannot be read: {error}", hint=_HINT, exit_code=2) from None

    @property
    def first(self) -> str:
        """The shard of rejected messages, which belong to no system."""
        return self.rules[0].shards[0]

    def shard(self, system: str, day: str) -> str:
        rule = next(rule for rule in reversed(self.rules) if rule.applies(system, day))
        return rule.shards[crc32(system.encode()) % len(rule.shards)]

    def strays(self, shard: str, held: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the systems and days that a shard holds but the map gives to another."""
        return [(system, day) for system, day in held if self.shard(system, day) != shard]


class Split:
    """Splits messages by a map, the same way each time.

    A message without `system` or `ts` goes to the first shard, whose server refuses it.
    """

    def __init__(self, shards: ShardMap) -> None:
        self._first = shards.first
        self._shard = lru_cache(100_000)(shards.shard)

    def __call__(self, messages: Sequence[Message]) -> dict[str, list[Message]]:
        """Return the messages of each shard, by its name, in order."""
        parts: dict[str, list[Message]] = {}
        for message in messages:
            parts.setdefault(self._of(message), []).append(message)
        return parts

    def _of(self, message: Message) -> str:
        try:
            key = _key(message.value() or b"")
        except msgspec.DecodeError:
            return self._first
        if not (isinstance(key.system, str) and isinstance(key.ts, str)):
            return self._first
        return self._shard(key.system, key.ts[:10])


class _Key(msgspec.Struct):
    """The members of a message that decide where its rows go."""

    system: Any = None
    ts: Any = None


_key = msgspec.json.Decoder(_Key).decode
