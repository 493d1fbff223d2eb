"""How well do the states of a rule agree with spells that somebody labelled? Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import yaml
from pydantic import Field, TypeAdapter, ValidationError, model_validator

from counterflow.analysis.replay import Given
from counterflow.base.errors import CounterflowError
from counterflow.base.strict import Strict


class LabelledSpell(Strict):
    """A time, after `begin` up to and including `end`, in which the limit was hit; both need an offset from UTC."""

    system: Annotated[str, Field(min_length=1)]
    entity: Annotated[str, Field(min_length=1, description="the judged link or log")]
    begin: datetime
    end: datetime

    @model_validator(mode="after")
    def _has_a_length(self) -> LabelledSpell:
        if self.begin.tzinfo is None or self.end.tzinfo is None or self.end <= self.begin:
            raise ValueError("`begin` and `end` need an offset such as Z, and `end` is after `begin`")
        return self

    def holds(self, given: Given) -> bool:
        return (self.system, self.entity) == given.entity[:2] and self.begin < given.interval.ts <= self.end


class Score(NamedTuple):
    """Agreement of raised states with labelled spells.

    Parameters
    ----------
    spells, found : number of labelled spells, and of those in which the state was raised.
    precision : share of the raised time that lies in a spell; None where nothing was raised.
    recall : share of the spells that were found; None without spells.
    lead_min : minutes left of a spell when its state was first raised, mean over those found; None without any.
    late_min : minutes from the beginning of a spell until its state was first raised, mean.
    false_alarm_min : minutes raised outside all spells.
    """

    spells: int
    found: int
    precision: float | None
    recall: float | None
    lead_min: float | None
    late_min: float | None
    false_alarm_min: float


def score(raised: Iterable[Given], spells: Collection[LabelledSpell]) -> Score:
    """Compare the intervals in which a rule raised its alarm with labelled spells; outside all, it is a false alarm."""
    right_s, false_s = 0.0, 0.0
    first: dict[LabelledSpell, datetime] = {}
    for one in raised:
        ts, seconds = one.interval.ts, one.interval.interval_s or 0.0
        spell = next((spell for spell in spells if spell.holds(one)), None)
        if spell is None:
            false_s += seconds
        else:
            right_s += seconds
            first[spell] = min(ts, first.get(spell, ts))
    raised_s = right_s + false_s
    return Score(
        len(spells),
        len(first),
        right_s / raised_s if raised_s else None,
        len(first) / len(spells) if spells else None,
        _mean_minutes(spell.end - at for spell, at in first.items()),
        _mean_minutes(at - spell.begin for spell, at in first.items()),
        false_s / 60,
    )


def read_spells(path: Path) -> list[LabelledSpell]:
    """Return the spells of a YAML or JSON file, a list or the `spells` of a mapping.

    Raises
    ------
    CounterflowError : names the file, the entry and what was expected.
    """
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        content = content.get("spells") if isinstance(content, dict) else content
        return TypeAdapter(list[LabelledSpell]).validate_python(content)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise CounterflowError(f"{path}: {error}", exit_code=2) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        entry = "{system: SYS1, entity: MIRROR_DATABASE, begin: 2026-03-02T08:06:00Z, end: 2026-03-02T08:10:00Z}"
        raise CounterflowError(
            f"{path}: spells[{place}]: {first['msg']}", hint=f"such as {entry}", exit_code=2
        ) from None


def _mean_minutes(lengths: Iterable[timedelta]) -> float | None:
    minutes = [length.total_seconds() / 60 for length in lengths]
    return math.fsum(minutes) / len(minutes) if minutes else None
