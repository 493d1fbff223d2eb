"""What a site may write down: one model per kind of entry, each with the time from which it holds.

The file is read as text throughout, so a subsystem `0815` or `1E10` stays as written; the models convert numbers and
times. A field's description states what is expected there, in the words of the reject for a mistake.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

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
    """What holds from a time on, until a later entry with the same subject. Names of fields stand for their values.

    `subject` tells entries apart: one of two with the same is a mistake. The rows that follow from an entry alone are
    those of `kept`, under `section` and `item`.
    """

    subject: ClassVar[tuple[str, ...]]
    section: ClassVar[str] = ""
    item: ClassVar[str] = ""
    kept: ClassVar[tuple[str, ...]] = ()

    since: Instant = Field(alias="from", description=A_TIME)

    def about(self) -> Iterator[tuple[object, ...]]:
        """Return the keys of its subjects: one for each of several systems or subsystems."""
        values = [getattr(self, name) for name in self.subject]
        return product(*(value if isinstance(value, tuple) else (value,) for value in values))

    def values(self) -> dict[str, Any]:
        return self.model_dump(include=set(self.kept), exclude_none=True)

    def settings(self, site: str) -> Iterator[Setting]:
        """Yield the rows that follow from this entry alone; `site` is the system of an entry that belongs to none."""
        item = getattr(self, self.item) if self.item else ""
        for system in getattr(self, "systems", (getattr(self, "system", site),)):
            for name, value in self.values().items():
                yield Setting(system, self.section, item, name, self.since, _text(value))


class Place(Entry):
    """Which machine (CEC) and which log storage subsystems of one system use."""

    subject = ("system", "subsystems", "since")

    system: Name = Field(description="the system's name as it stands in records")
    subsystems: tuple[Name, ...] = Field(min_length=1, description="a list of Db2 subsystems, such as [DBP1]")
    cec: Name = Field(description="a name for the machine, the same in `log_ceilings`")
    storage: Name = Field(description="a name for the log storage, the same in `log_ceilings`")


class Ceiling(Entry):
    """What one copy of a subsystem's log reaches on a path, a machine and a storage; None where it is not known."""

    subject = ("subsystem", "path", "cec", "storage", "since")

    subsystem: Name = Field(description="the Db2 subsystem, as in `systems`")
    path: Path = Field(description="zhpf or zhl")
    cec: Name = Field(description="the machine, as in `systems`")
    storage: Name = Field(description="the log storage, as in `systems`")
    ceiling_mb_s: Annotated[Positive | None, BeforeValidator(lambda v: None if v == NONE else v)] = Field(
        description="MB/s (10^6 bytes) of one log copy, more than 0, or none"
    )


class Port(Entry):
    """Hops from a link to its port that nothing reports, or that are reported wrongly, and the port's capacity."""

    subject = ("system", "link", "since")
    section, item = "port", "link"
    kept = ("line", "resource", "location_code", "physical_port", "capacity_pct", "line_bits_s")

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
        if not self.values():
            text = f"gives nothing: add `{'`, `'.join(self.kept[:-1])}` or `{self.kept[-1]}`"
            raise PydanticCustomError("entry", "{text}", {"text": text})
        return self


class Price(Entry):
    """What a configuration, or what a run was done on, costs."""

    subject = ("name", "since")
    section, item = "price", "name"
    kept = ("amount", "currency")

    name: Name = Field(description="the name of a run or of a configuration")
    amount: Amount = Field(description="a number, 0 or more")
    currency: str = Field(
        pattern="^[A-Z]{3}$", description="three letters of ISO 4217; XXX where only ratios are known"
    )


class LabelledRun(Entry):
    subject = ("name", "systems")
    section, item = "run", "name"
    kept = ("end", "workload", "units", "warm_up_s")

    name: Name = Field(description="the run's name")
    systems: tuple[Name, ...] = Field(min_length=1, description=SYSTEMS)
    since: Instant = Field(alias="begin", description=A_TIME)
    end: Instant | None = Field(None, description=A_TIME)
    workload: Name | None = Field(None, description="the workload's name as it stands in records")
    units: Name | None = Field(None, description="what is counted, such as accounts")
    engines: dict[Name, Positive] = Field({}, description="engines by type, such as {gcp: 6, ziip: 10}")
    warm_up_s: Amount | None = Field(None, description="seconds at its beginning that do not count, 0 or more")

    @model_validator(mode="after")
    def _is_long_enough(self) -> LabelledRun:
        left_s = (self.end - self.since).total_seconds() - (self.warm_up_s or 0) if self.end else 1
        if left_s <= 0:
            text = "`end` is not behind `begin` and `warm_up_s`: nothing would be left of the run"
            raise PydanticCustomError("entry", "{text}", {"text": text})
        return self

    def values(self) -> dict[str, Any]:
        engines = {f"engines_{kind}": count for kind, count in self.engines.items()}
        return {"begin": self.since, **super().values(), **engines}


class Batch(Entry):
    subject = ("workload", "systems", "since")
    section, item = "batch", "workload"
    kept = ("units_total",)

    workload: Name = Field(description="the workload's name as it stands in records")
    systems: tuple[Name, ...] = Field(min_length=1, description=SYSTEMS)
    units_total: Positive = Field(description="units of work, more than 0")


class Mirror(Entry):
    """How long the line between the nodes of mirrored systems is, or would be."""

    subject = ("systems", "since")
    section = "mirror"
    kept = ("distance_km",)

    systems: tuple[Name, ...] = Field(min_length=1, description=SYSTEMS)
    distance_km: Positive = Field(description="length of the line, km, more than 0")


class Change(Entry):
    """A change of a system that no counter shows: a PTF, microcode, storage. Learned limits begin anew with it."""

    subject = ("what", "systems", "since")
    section, item = "change", "what"
    kept = ("what",)

    systems: tuple[Name, ...] = Field(min_length=1, description=SYSTEMS)
    what: Name = Field(description="what changed, such as PTF SI12345")


def _text(value: datetime | float | str) -> str:
    if isinstance(value, datetime):
        return iso(value)
    return number(value) if isinstance(value, float) else value


LISTS: dict[str, type[Entry]] = {
    "systems": Place,
    "log_ceilings": Ceiling,
    "ports": Port,
    "prices": Price,
    "runs": LabelledRun,
    "batches": Batch,
    "mirrors": Mirror,
    "changes": Change,
}
"""The lists that the file may hold, by their key."""
