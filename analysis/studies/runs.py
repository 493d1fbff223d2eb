"""Finds labelled runs: time and properties of each, from the label of its records and from configuration."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from counterflow.base.errors import CounterflowError

Row = Mapping[str, Any]

REUSED_AFTER_S = 3600.0
"""A pause in a label's recordings longer than this, and than four of their intervals, separates two runs."""


class RunError(CounterflowError):
    """A run cannot be determined from the stored records; names the run, the reason and, in `hint`, the remedy."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint=hint, exit_code=2)


class ComparedRun(NamedTuple):
    """A labelled run.

    Parameters
    ----------
    name : its label.
    begin_s, end_s : compared period, before the warm-up is trimmed; seconds since 1970, UTC.
    systems : systems whose records belong to it.
    warm_up_s : trimmed from the beginning.
    workload : workload whose units of work are counted; None: the only one.
    units : stated name of the units.
    engines : processors by type that are 100 %, overriding the records.
    cost, currency : cost of the configuration.
    notes : remarks on how the run was found.
    """

    name: str
    begin_s: float
    end_s: float
    systems: tuple[str, ...]
    warm_up_s: float = 0.0
    workload: str | None = None
    units: str | None = None
    engines: Mapping[str, float] = MappingProxyType({})
    cost: float | None = None
    currency: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Length of the compared period."""
        return max(0.0, self.end_s - self.begin_s - self.warm_up_s)


def found(name: str, intervals: Iterable[Row], settings: Iterable[Row], warm_up_s: float | None = None) -> ComparedRun:
    """Return the run `name`.

    Parameters
    ----------
    intervals : of records with the label: `system`, `source`, `end_s`, `seconds`.
    settings : of this run in the sections `run` and `price` of the configuration: `section`, `system`, `name`,
        `value`, `since_s`. Configuration takes precedence over the label; a price is valid from its time.
    warm_up_s : overrides the configured one.

    Raises
    ------
    RunError : the run is unknown, its label was used twice, or its configuration is invalid.
    """
    rows, lines = list(intervals), list(settings)
    of_run = [line for line in lines if line["section"] == "run"]
    newest = max((line["since_s"] for line in of_run), default=None)
    stated = {line["name"]: line["value"] for line in of_run if line["since_s"] == newest}
    systems = {line["system"] for line in of_run if line["since_s"] == newest} or {row["system"] for row in rows}
    notes: list[str] = []
    if "begin" in stated:
        begin_s = _moment(name, "begin", stated["begin"])
        last_s = max((row["end_s"] for row in rows), default=None)
        if "end" not in stated and last_s is None:
            raise RunError(f"run `{name}` has no end yet", "give it one in the list `runs` of the site file")
        end_s = _moment(name, "end", stated["end"]) if "end" in stated else float(last_s or 0.0)
    elif rows:
        begin_s, end_s, notes = _common(name, rows)
    else:
        raise RunError(
            f"there is no run `{name}`: no record has the label, and the configuration does not name it",
            "counterflow publish --run NAME labels records; the list `runs` of the site file defines the time of a run",
        )
    warm_up_s = _number(name, "warm_up_s", stated.get("warm_up_s", "0") if warm_up_s is None else str(warm_up_s))
    if end_s - warm_up_s <= begin_s:
        raise RunError(f"nothing is left of run `{name}` after its warm-up", "correct its begin, end and warm_up_s")
    if len({line["since_s"] for line in of_run}) > 1:
        notes.append(f"{name}: configured more than once; the newest begin is used")
    engines = {
        key.removeprefix("engines_"): _number(name, key, value)
        for key, value in stated.items()
        if key.startswith("engines_")
    }
    price = _newest(line for line in lines if line["section"] == "price" and line["since_s"] <= end_s)
    cost = _number(name, "amount", price["amount"]) if "amount" in price else None
    return ComparedRun(
        name,
        begin_s,
        end_s,
        tuple(sorted(systems)),
        warm_up_s,
        stated.get("workload"),
        stated.get("units"),
        engines,
        cost,
        price.get("currency"),
        tuple(notes),
    )


def _newest(lines: Iterable[Row]) -> dict[str, str]:
    """Return names and values of the newest version of the item."""
    return {line["name"]: line["value"] for line in sorted(lines, key=lambda line: line["since_s"])}


def _common(name: str, rows: list[Row]) -> tuple[float, float, list[str]]:
    """Return the period that all recordings of the run cover."""
    recordings: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        recordings[row["system"], row["source"]].append((row["end_s"] - (row["seconds"] or 0.0), row["end_s"]))
    spans = []
    for (system, source), intervals in sorted(recordings.items()):
        intervals.sort()
        _once(name, system, source, intervals)
        begin_s, end_s = intervals[0][0], max(end for _, end in intervals)
        if end_s > begin_s:  # a single listing is no recording
            spans.append((begin_s, end_s))
    if not spans:
        raise RunError(f"run `{name}` has no interval with a length", "check what was published with its label")
    begin_s, end_s = max(begin for begin, _ in spans), min(end for _, end in spans)
    longest = max(end - begin for begin, end in spans)
    if end_s <= begin_s:
        raise RunError(
            f"the recordings of run `{name}` have no time in common",
            "check clocks and zones, or give begin and end in the list `runs` of the site file",
        )
    cut = end_s - begin_s < 0.9 * longest
    note = f"{name}: compared over the {end_s - begin_s:.0f} s that all recordings cover, of {longest:.0f} s"
    return begin_s, end_s, [note] if cut else []


def _once(name: str, system: str, source: str, intervals: list[tuple[float, float]]) -> None:
    usual = max((end - begin for begin, end in intervals), default=0.0)
    pause = max(REUSED_AFTER_S, 4 * usual)
    reached = intervals[0][1]
    for begin, end in intervals:
        if begin - reached > pause:
            raise RunError(
                f"run `{name}` was recorded more than once on {system} ({source}): until {iso(reached)}, and again "
                f"from {iso(begin)}",
                "give begin and end of the intended one in the list `runs` of the site file",
            )
        reached = max(reached, end)


def iso(moment_s: float) -> str:
    """Return seconds since 1970 as a time in UTC."""
    return f"{datetime.fromtimestamp(moment_s, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _moment(name: str, key: str, text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise RunError(
            f"run `{name}`: `{key}` is {text!r}, expected a time such as 2026-01-31T10:00:00Z", "correct the site file"
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _number(name: str, key: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise RunError(f"run `{name}`: `{key}` is {text!r}, expected a number of 0 or more", "correct the site file")
    return number
