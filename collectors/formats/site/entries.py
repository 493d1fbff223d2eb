"""What a site may write down: one model per kind of entry, each with the time from which it holds.

The file is read as text throughout, so a subsystem `0815` or `1E10` stays as written; the models convert numbers and
times. A field's description states what is expected there, in the words of the reject for a mistake.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from counterflow.base.strict import Strict
from counterflow.collectors.text.stamps import iso, stated

Path = Literal["zhpf", "zhl"]
PATHS: tuple[Path, ...] = ("zhpf", "zhl")
NONE = "none"


class Setting(NamedTuple):
    """One row of `config`; `ts` is the time from which `value` holds, and is part of its key."""

    system: str
    section: str
    item: str
    name: str
    ts: datetime
    value: str


def _instant(written: Any) -> datetime:
    if (found := stated(written, UTC)) is None:
        raise ValueError
    return found


def number(value: float) -> str:
    """Return a number as text, without a fraction where it has none."""
    return str(int(value)) if value.is_integer() else repr(value)


Name = Annotated[str, Field(min_length=1, max_length=200)]
Instant = Annotated[datetime, BeforeValidator(_instant)]
Amount = Annotated[float, Field(ge=0, le=1e18, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, le=1e18, allow_inf_nan=False)]

A_TIME = "a time from 2000 on such as 2025-11-21T00:00:00Z; UTC where it has no offset"
SYSTEMS = "a list of names of systems as they stand in records, such as [SYS1]"


class Entry(Strict):
    def about(self) -> Iterator[tuple[object, ...]]:
        """Yield the keys of its subjects; one of two entries with the same key is a mistake."""
        raise NotImplementedError

    def settings(self, site: str) -> Iterator[Setting]:
        """Yield the rows that follow from this entry alone; `site` is the system of an entry that belongs to none."""
        return iter(())


class Timed(Entry):
    """An entry that holds from a time on, until a later one with the same subject."""

    since: Instant = Field(alias="from", description=A_TIME)


class Place(Timed):
    """Which machine (CEC) and which log storage subsystems of one system use."""

    system: Name = Field(description="the system's name as it stands in records")
    subsystems: tuple[Name, ...] = Field(min_length=1, description="a list of Db2 subsystems, such as [DBP1]")
    cec: Name = Field(description="a name for the machine, the same in `log_ceilings`")
    storage: Name = Field(description="a name for the log storage, the same in `log_ceilings`")

    def about(self) -> Iterator[tuple[object, ...]]:
        return ((self.system, subsystem, self.since) for subsystem in self.subsystems)


class Ceiling(Timed):
    """What one copy of a subsystem's log reaches on a path, a machine and a storage; None where it is not known."""

    subsystem: Name = Field(description="the Db2 subsystem, as in `systems`")
    path: Path = Field(description="zhpf or zhl")
    cec: Name = Field(description="the machine, as in `systems`")
    storage: Name = Field(description="the log storage, as in `systems`")
    ceiling_mb_s: Annotated[Positive | None, BeforeValidator(lambda v: None if v == NONE else v)] = Field(
        description="MB/s (10^6 bytes) of one log copy, more than 0, or none"
    )

    def about(self) -> Iterator[tuple[object, ...]]:
        yield self.subsystem, self.path, self.cec, self.storage, self.since


class Port(Timed):
    """Hops from a link to its port that nothing reports, or that are reported wrongly, and the port's capacity."""

    system: Name = Field(description="the system's name as it stands in records")
    link: Name = Field(
        description="a link, address, line description, resource or logical port, as it stands in records"
    )
    line: Name | None = Field(None, description="the line description of an address or a link")
    resource: Name | None = Field(None, description="the resource of a line description")
    location_code: Name | None = Field(None, description="the location code of a resource, as the HMC writes it")
    physical_port: Name | None = Field(None, description="the location of the physical port, as the HMC writes it")
    capacity_pct: Annotated[Positive, Field(le=100)] | None = Field(None, description="more than 0, at most 100")
    line_bits_s: Positive | None = Field(None, description="bits a second, more than 0")

    @model_validator(mode="after")
    def _gives_something(self) -> Port:
        if not self._given():
            names = [name for name in type(self).model_fields if name not in _ABOUT]
            text = f"gives nothing: add `{'`, `'.join(names[:-1])}` or `{names[-1]}`"
            raise PydanticCustomError("entry", "{text}", {"text": text})
        return self

    def _given(self) -> dict[str, Any]:
        return self.model_dump(exclude=_ABOUT, exclude_none=True)

    def about(self) -> Iterator[tuple[object, ...]]:
        yield self.system, self.link, self.since

    def settings(self, site: str) -> Iterator[Setting]:
        yield from _rows(self.system, "port", self.link, self.since, self._given())


_ABOUT = {"system", "link", "since"}


class Price(Timed):
    """What a configuration, or what a run was done on, costs."""

    name: Name = Field(description="the name of a run or of a configuration")
    amount: Amount = Field(description="a number, 0 or more")
    currency: str = Field(
        pattern="^[A-Z]{3}$", description="three letters of ISO 4217; XXX where only ratios are known"
    )

    def about(self) -> Iterator[tuple[object, ...]]:
        yield self.name, self.since

    def settings(self, site: str) -> Iterator[Setting]:
        yield from _rows(site, "price", self.name, self.since, self.model_dump(include={"amount", "currency"}))


class Run(Entry):
    name: Name = Field(description="the run's name")
    systems: tuple[Name, ...] = Field(min_length=1, description=SYSTEMS)
    begin: Instant = Field(description=A_TIME)
    end: Instant | None = Field(None, description=A_TIME)
    workload: Name | None = Field(None, description="the workload's name as it stands in records")
    units: Name | None = Field(None, description="what is counted, such as accounts")
    engines: dict[Name, Positive] = Field({}, description="engines by type, such as {gcp: 6, ziip: 10}")
    warm_up_s: Amount | None = Field(None, description="seconds at its beginning that do not count, 0 or more")

    @model_validator(mode="after")
    def _is_long_enough(self) -> Run:
        left_s = (self.end - self.begin).total_seconds() - (self.warm_up_s or 0) if self.end else 1
        if left_s <= 0:
            text = "`end` is not behind `begin` and `warm_up_s`: nothing would be left of the run"
            raise PydanticCustomError("entry", "{text}", {"text": text})
        return self

    def about(self) -> Iterator[tuple[object, ...]]:
        return ((self.name, system) for system in self.systems)

    def settings(self, site: str) -> Iterator[Setting]:
        values = self.model_dump(include={"begin", "end", "workload", "units", "warm_up_s"})
        values |= {f"engines_{kind}": engines for kind, engines in self.engines.items()}
        for system in self.systems:
            yield from _rows(system, "run", self.name, self.begin, values)


class Batch(Timed):
    workload: Name = Field(description="the workload's name as it stands in records")
    systems: tuple[Name, ...] = Field(min_length=1, description=SYSTEMS)
    units_total: Positive = Field(description="units of work, more than 0")

    def about(self) -> Iterator[tuple[object, ...]]:
        return ((self.workload, system, self.since) for system in self.systems)

    def settings(self, site: str) -> Iterator[Setting]:
        for system in self.systems:
            yield Setting(system, "batch", self.workload, "units_total", self.since, number(self.units_total))


class Mirror(Timed):
    """How long the line between the nodes of mirrored systems is, or would be."""

    systems: tuple[Name, ...] = Field(min_length=1, description=SYSTEMS)
    distance_km: Positive = Field(description="length of the line, km, more than 0")

    def about(self) -> Iterator[tuple[object, ...]]:
        return ((system, self.since) for system in self.systems)

    def settings(self, site: str) -> Iterator[Setting]:
        for system in self.systems:
            yield Setting(system, "mirror", "", "distance_km", self.since, number(self.distance_km))


class Change(Timed):
    """A change of a system that no counter shows: a PTF, microcode, storage. Learned limits begin anew with it."""

    systems: tuple[Name, ...] = Field(min_length=1, description=SYSTEMS)
    what: Name = Field(description="what changed, such as PTF SI12345")

    def about(self) -> Iterator[tuple[object, ...]]:
        return ((self.what, system, self.since) for system in self.systems)

    def settings(self, site: str) -> Iterator[Setting]:
        for system in self.systems:
            yield Setting(system, "change", self.what, "what", self.since, self.what)


def _rows(system: str, section: str, item: str, since: datetime, values: dict[str, Any]) -> Iterator[Setting]:
    for name, value in values.items():
        match value:
            case None:
                continue
            case datetime():
                value = iso(value)
            case float():
                value = number(value)
        yield Setting(system, section, item, name, since, value)


LISTS: dict[str, type[Entry]] = {
    "systems": Place,
    "log_ceilings": Ceiling,
    "ports": Port,
    "prices": Price,
    "runs": Run,
    "batches": Batch,
    "mirrors": Mirror,
    "changes": Change,
}
"""The lists that the file may hold, by their key."""
