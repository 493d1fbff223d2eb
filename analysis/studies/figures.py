"""The figures of one run, from its intervals: means over its time, each with the number of intervals and their spread.

An interval counts if it lies entirely within the run, after the warm-up. Means are weighted by time, means of units of
work by units; ratios are sums over sums. Percentiles exist only for a whole run: they do not average.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from counterflow.analysis.studies import formulas
from counterflow.analysis.studies.formulas import Number, per, share_pct, total
from counterflow.analysis.studies.runs import ComparedRun, Row, RunError
from counterflow.collectors.summary import left_out

SLACK_S = 1.0
"""Clocks of recorders may differ by a second."""

WINDOW_S = 300.0
"""Time over which a rate an hour is taken: between two completions it would be noise."""
WINDOW_COVERED = 0.95
"""Share of a window that intervals must cover."""

Rows = Mapping[str, Sequence[Row]]
"""Rows of the queries beside this module, by the name of the query."""


class Key(NamedTuple):
    """Identity of a figure: its table, the system, the object in it, and its name including the unit."""

    table: str
    system: str
    of: str
    name: str


class Figure(NamedTuple):
    """A figure over a run; a value of None has a reason.

    Parameters
    ----------
    n : number of its intervals; 0 where it is derived from other figures.
    sd, low, high : standard deviation, minimum and maximum of the intervals.
    """

    value: Number
    unit: str
    n: int = 0
    sd: Number = None
    low: Number = None
    high: Number = None
    reason: str | None = None


class Work(NamedTuple):
    """Work of a run: units a second, and their name. `reason` explains why it is unknown."""

    unit: str
    units_per_s: Number
    reason: str | None

    def a_unit(self, of: str) -> str:
        """Return the unit of `of` per unit of work: `ms/account`."""
        ends = {"ies": "y", "s": ""}
        end = next((end for end in ends if self.unit.endswith(end)), "")
        return f"{of}/{self.unit.removesuffix(end) + ends.get(end, '') if self.unit else 'unit of work'}"


class MeasuredRun(NamedTuple):
    """A run with its figures and its load in `users`."""

    run: ComparedRun
    work: Work
    figures: dict[Key, Figure]
    users: Number
    notes: tuple[str, ...]


def measured(run: ComparedRun, rows: Rows) -> MeasuredRun:
    """Compute the figures of a run.

    Raises
    ------
    RunError : there are no records of its time.
    """
    kept = {name: list(_inside(run, some)) for name, some in rows.items()}
    done, finals, why = _workload(run, kept, rows.get("finals", ()))
    whole = [row for row in done if not row["operation"]]
    did = _did(whole, [row for row in finals if not row["operation"]], why)
    recorded = kept.get("recorded", [])
    processors = list(_of_the_load(kept.get("processors", []), recorded))
    workloads = {row["workload"] for row in chain(done, finals)}
    accounts = [row for row in kept.get("accounts", ()) if row["workload"] in workloads]
    figures = dict(
        chain(
            _throughput(run, did, whole),
            _responses(done, finals),
            _processors(run, did, processors),
            _accounts(did, accounts),
            _log(did, kept.get("log", [])),
            _disks(did, kept.get("disks", [])),
            *(
                _components(table, column, run, did, kept.get(table, []), recorded, processors)
                for table, column in (("components", "command"), ("parts", "component"))
            ),
            _replication(kept.get("replication", [])),
        )
    )
    if all(figure.value is None for figure in figures.values()):
        raise RunError(
            f"nothing is recorded of run `{run.name}`, {run.seconds:g} s on {', '.join(run.systems)}",
            "check its systems, begin and end: the stored question `systems` lists what is recorded",
        )
    users = over_time(whole, "users", "users").value
    return MeasuredRun(run, did, figures, users, (*run.notes, *_notes(run, kept, whole)))


def mean(samples: Iterable[tuple[Number, Number]], unit: str, reason: str = "not recorded") -> Figure:
    """Return the weighted mean of the values; without values, the reason."""
    known = [(value, weight) for value, weight in samples if value is not None and weight]
    weight = math.fsum(w for _, w in known)
    if not weight:
        return Figure(None, unit, reason=reason)
    centre = math.fsum(value * w for value, w in known) / weight
    n = len(known)
    square = math.fsum(w * (value - centre) ** 2 for value, w in known) / weight
    values = [value for value, _ in known]
    return Figure(centre, unit, n, math.sqrt(square * n / (n - 1)) if n > 1 else None, min(values), max(values))


def over_time(rows: Iterable[Row], column: str, unit: str, reason: str = "not recorded") -> Figure:
    """Return the mean of a column over the time of its intervals."""
    return mean(((row[column], row["seconds"]) for row in rows), unit, reason)


def a_second(rows: Iterable[Row], column: str, unit: str) -> Figure:
    """Return the mean rate of a column of amounts."""
    return mean(((per(row[column], row["seconds"]), row["seconds"]) for row in rows), unit)


def ratio(pairs: Iterable[tuple[Number, Number]], unit: str, reason: str) -> Figure:
    """Return the sum of the first over the sum of the second, over intervals that have both."""
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    value = per(math.fsum(a for a, _ in known), math.fsum(b for _, b in known))
    each = [a / b for a, b in known if b]
    if value is None:
        return Figure(None, unit, reason=reason)
    without_end = any(a and not b for a, b in known)
    return Figure(value, unit, len(known), None, min(each), None if without_end else max(each))


def _sum(values: Iterable[Number], unit: str) -> Figure:
    known = [value for value in values if value is not None]
    return Figure(math.fsum(known), unit, len(known)) if known else Figure(None, unit, reason="not recorded")


def _made(value: Number, unit: str, reason: str | None) -> Figure:
    """Return a figure derived from others; the reason applies where one of them is missing."""
    return Figure(value, unit, reason=None if value is not None else reason or "not recorded")


def _inside(run: ComparedRun, rows: Iterable[Row]) -> Iterator[Row]:
    first = run.begin_s + run.warm_up_s - SLACK_S
    for row in rows:
        seconds = row["seconds"]
        if seconds and row["end_s"] - seconds >= first and row["end_s"] <= run.end_s + SLACK_S:
            yield row


def _by(rows: Iterable[Row], *columns: str) -> dict[tuple[str, ...], list[Row]]:
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[column] for column in columns)].append(row)
    return groups


# -- work


def _workload(run: ComparedRun, kept: Rows, finals: Sequence[Row]) -> tuple[list[Row], list[Row], str | None]:
    """Return intervals and summaries of the run's workload, or the reason why there is none.

    A summary covers the whole run, wherever it ends. Without a recorded workload, the jobs' transactions stand in.
    """
    done = kept.get("work", ())
    if not done and not finals and any(row["units"] for row in kept.get("transactions", ())):
        done = kept["transactions"]
    names = sorted({row["workload"] for row in chain(done, finals)})
    if run.workload is not None:
        names = [name for name in names if name == run.workload]
    if not names:
        return [], [], "no workload recorded" if run.workload is None else f"workload {run.workload} is not recorded"
    if len(names) > 1:
        return [], [], f"several workloads ({', '.join(names)}): name one in the list `runs`"
    done, finals = ([row for row in some if row["workload"] == names[0]] for some in (done, finals))
    return done, finals, None


def _did(rows: Sequence[Row], finals: Sequence[Row], why: str | None) -> Work:
    if why is not None:
        return Work("", None, why)
    unit = next((row["unit_of_work"] for row in [*rows, *finals]), "")
    rates = []
    for some in _by(rows, "system").values():  # concurrent drivers add up, intervals of one follow each other
        known = [row for row in some if row["units"] is not None]
        rates.append(per(math.fsum(row["units"] for row in known), math.fsum(row["seconds"] for row in known)))
    if not rates:
        rates = [row["done_per_s"] for row in finals]
    units_per_s = total(*rates) if rates else None
    reason = None
    if units_per_s is None:
        reason = "no interval states the work done"
    elif not units_per_s:
        units_per_s, reason = 0.0, "nothing was done"
    return Work(unit, units_per_s, reason)


def _throughput(run: ComparedRun, did: Work, rows: Sequence[Row]) -> Iterator[tuple[Key, Figure]]:
    spread = a_second(rows, "units", "")
    one = len({row["system"] for row in rows}) <= 1
    key, unit = Key("throughput", "", "", ""), did.unit or "units"
    sd, low, high = (spread.sd, spread.low, spread.high) if one else (None, None, None)
    reason = None if did.units_per_s is not None else did.reason
    yield key._replace(name="units_per_s"), Figure(did.units_per_s, f"{unit}/s", spread.n, sd, low, high, reason)
    why = f"no {WINDOW_S:g} s of the run with the work of all drivers"
    hourly = mean(_windows(run, rows), f"{unit}/h over {WINDOW_S:g} s", did.reason or why)
    yield key._replace(name="units_per_h"), hourly
    yield key._replace(name="units"), _sum((row["units"] for row in rows), unit)


def _windows(run: ComparedRun, rows: Sequence[Row]) -> Iterator[tuple[Number, float]]:
    """Yield units an hour in each whole window of the run, all drivers together; None where one has no data.

    The units of an interval are divided among the windows in proportion to its time in each.
    """
    begin_s = run.begin_s + run.warm_up_s
    windows = int((run.end_s - begin_s + SLACK_S) / WINDOW_S)
    parts: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        if (units := row["units"]) is None:
            continue
        from_s, to_s = row["end_s"] - row["seconds"] - begin_s, row["end_s"] - begin_s
        for at in range(max(0, int(from_s // WINDOW_S)), min(windows, math.ceil(to_s / WINDOW_S))):
            seconds = min(to_s, (at + 1) * WINDOW_S) - max(from_s, at * WINDOW_S)
            parts[row["system"], at].append((units * seconds / row["seconds"], seconds))
    systems = {row["system"] for row in rows}
    for at in range(windows if systems else 0):
        rates: list[Number] = []
        for some in (parts[system, at] for system in systems):
            seconds = math.fsum(s for _, s in some)
            known = seconds >= WINDOW_COVERED * WINDOW_S
            rates.append(3600 * math.fsum(u for u, _ in some) / seconds if known else None)
        yield total(*rates), WINDOW_S


def _responses(rows: Sequence[Row], finals: Sequence[Row]) -> Iterator[tuple[Key, Figure]]:
    for operation in sorted({row["operation"] for row in chain(rows, finals)}):
        key = Key("response", "", operation, "")
        intervals, whole = ([row for row in some if row["operation"] == operation] for some in (rows, finals))
        if any(row["response_ms"] is not None for row in intervals):
            weighted = ((row["response_ms"], row["units"]) for row in intervals)
            yield key._replace(name="response_ms"), mean(weighted, "ms")
        elif any(row["response_ms"] is not None for row in whole):
            yield key._replace(name="response_ms"), _summary(whole, "response_ms", "several summaries in one run")
        for name in ("response_p95_ms", "response_p99_ms"):
            if any(row[name] is not None for row in chain(intervals, whole)):
                why = "percentiles of intervals do not average, and there is not one summary of the whole run"
                yield key._replace(name=name), _summary(whole, name, why)


def _summary(whole: Iterable[Row], name: str, why: str) -> Figure:
    known = [row[name] for row in whole if row[name] is not None]
    return Figure(known[0], "ms", 1) if len(known) == 1 else Figure(None, "ms", reason=why)


# -- processors


def _of_the_load(rows: Sequence[Row], recorded: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows without the first snapshots of recordings that `left_out` drops, as `look --summary` does."""
    processes = _by(recorded, "system", "boot_id")
    for of, some in _by(rows, "system", "boot_id").items():
        ends = {row["end_s"] for row in processes.get(of, ())}
        without = left_out((row["end_s"] for row in some), ends) if of[1] else None
        yield from (row for row in some if row["end_s"] != without)


def _engines(run: ComparedRun, row: Row) -> Number:
    """Return the number of processors that 100 % stands for."""
    if row["engine_type"] in run.engines:
        return run.engines[row["engine_type"]]
    known: Number = None if row["cpu_base"] == "logical" else row["virtual_engines"]
    return known if known is not None else row["logical_engines"]


def _busy_pct(run: ComparedRun, row: Row) -> Number:
    """Return the utilisation; of a floating base, the share of the virtual processors instead of the recorded one."""
    if row["cpu_base"] == "floating":
        busy = total(row["physical_user_cores"], row["physical_sys_cores"])
        of = run.engines.get(row["engine_type"], row["virtual_engines"])
        return share_pct(row["physical_consumed_cores"] if busy is None else busy, of)
    if row["configured_cpu_ms"]:
        return share_pct(row["cpu_ms"], row["configured_cpu_ms"])
    if row["busy_pct"] is not None:
        known: float = row["busy_pct"]
        return known
    return total(row["user_pct"], row["sys_pct"]) if row["cpu_base"] == "logical" else None


def _cores(run: ComparedRun, row: Row) -> Number:
    if row["cpu_ms"] is not None:  # in the order of the view processor_load
        return per(row["cpu_ms"], 1000 * row["seconds"])
    if row["physical_consumed_cores"] is not None:
        consumed: float = row["physical_consumed_cores"]
        return consumed
    return formulas.busy_cores(_busy_pct(run, row), _engines(run, row))


def _processors(run: ComparedRun, did: Work, rows: Sequence[Row]) -> Iterator[tuple[Key, Figure]]:
    for (system, kind), some in sorted(_by(rows, "system", "engine_type").items()):
        key = Key("cpu", system, kind, "")
        weight = "configured_cpu_ms" if all(row["configured_cpu_ms"] for row in some) else "seconds"
        floating = any(row["cpu_base"] == "floating" for row in some)
        why = "the base of CPU_ALL floats (uncapped partition) and the virtual processors are not known"
        busy = mean(((_busy_pct(run, row), row[weight]) for row in some), "%", why if floating else "not recorded")
        cores = mean(((_cores(run, row), row["seconds"]) for row in some), "cores", "the processors are not counted")
        engines = mean(((_engines(run, row), row["seconds"]) for row in some), "engines")
        yield key._replace(name="busy_pct"), busy
        yield key._replace(name="cores"), cores
        yield key._replace(name="engines"), engines
        a_unit = formulas.ms_per_unit(cores.value, did.units_per_s)
        yield key._replace(name="lpar_ms_per_unit"), _made(a_unit, did.a_unit("ms"), cores.reason or did.reason)


# -- disks


def _disks(did: Work, rows: Sequence[Row]) -> Iterator[tuple[Key, Figure]]:
    for (system,), some in sorted(_by(rows, "system").items()):
        key = Key("io", system, "", "")
        for name in ("read_mb", "written_mb"):
            per_s = a_second(some, name, "MiB/s")
            yield key._replace(name=f"{name}_s"), per_s
            yield key._replace(name=name), _sum((row[name] for row in some), "MiB")
            kb = None if per_s.value is None else per(1024 * per_s.value, did.units_per_s)
            yield (
                key._replace(name=name.replace("_mb", "_kb_per_unit")),
                _made(kb, did.a_unit("KiB"), per_s.reason or did.reason),
            )
        both = ((row["read_mb"], row["written_mb"]) for row in some)
        yield key._replace(name="rw_ratio"), ratio(both, "read/written", "nothing was written, or it is not recorded")
        transfers = over_time(some, "transfers_per_s", "transfers/s")
        yield key._replace(name="transfers_per_s"), transfers
        moved = [(row["response_ms"], (row["transfers_per_s"] or 0.0) * row["seconds"]) for row in some]
        yield key._replace(name="response_ms"), mean(moved, "ms", "no transfer, or no service time")


# -- components


def _components(
    table: str,
    column: str,
    run: ComparedRun,
    did: Work,
    rows: Sequence[Row],
    recorded: Sequence[Row],
    processors: Sequence[Row],
) -> Iterator[tuple[Key, Figure]]:
    times = {system: some for (system,), some in _by(recorded, "system").items()}
    machines = {system: some for (system,), some in _by(processors, "system").items()}
    bases: dict[tuple[str, str | None], Number] = {}
    unknown = "how long processes were recorded is not known"
    for (system, name), some in sorted(_by(rows, "system", column).items()):
        key = Key(table, system, name, "")
        used = {row["end_s"]: row["cpu_ms"] for row in some}
        intervals = times.get(system, [])
        samples = [(per(used.get(row["end_s"], 0.0), 1000 * row["seconds"]), row["seconds"]) for row in intervals]
        cores = mean(samples, "cores", unknown)
        base = next((row["cpu_base"] for row in some if row["cpu_base"]), None)
        if (system, base) not in bases:
            bases[system, base] = _base(run, base, machines.get(system, ()))
        shares = [(share_pct(busy, bases[system, base]), seconds) for busy, seconds in samples]
        why = None if intervals else unknown
        yield key._replace(name="cores"), cores
        yield key._replace(name="busy_pct"), mean(shares, "%", why or f"the {base or ''} processors are not counted")
        a_unit = formulas.ms_per_unit(cores.value, did.units_per_s)
        yield key._replace(name="ms_per_unit"), _made(a_unit, did.a_unit("ms"), cores.reason or did.reason)
        yield key._replace(name="memory_mb"), over_time(some, "memory_mb", "MiB")


def _base(run: ComparedRun, base: str | None, processors: Iterable[Row]) -> Number:
    """Return the number of processors on which the shares of commands are based."""
    column = "logical_engines"
    if base == "physical":
        if "core" in run.engines:
            return run.engines["core"]
        column = "virtual_engines"
    return over_time(processors, column, "").value


# -- the log of Db2


def _log(did: Work, rows: Sequence[Row]) -> Iterator[tuple[Key, Figure]]:
    for (system,), some in sorted(_by(rows, "system").items()):
        rates: list[Number] = []
        for (subsystem,), of in sorted(_by(some, "subsystem").items()):
            key = Key("log", system, subsystem, "")
            # written, created and reported rates are different figures: each has its own name
            bases = sorted(_by((row for row in of if row["rate_basis"]), "rate_basis").items())
            for (basis,), based in bases:
                rate = over_time(based, "rate_mb_s", "MB/s")
                yield key._replace(name=f"{basis}_mb_s"), rate
                rates.append(rate.value if len(bases) == 1 else None)
            for name, unit in (("waiting_threads", "threads"), ("zhl_sync_pct", "%")):
                if any(row[name] is not None for row in of):
                    yield key._replace(name=name), over_time(of, name, unit)
            yield key._replace(name="buffer_waits_per_s"), a_second(of, "waits_delta", "waits/s")
        a_unit = formulas.bytes_per_unit(total(*rates) if rates else None, did.units_per_s)
        key = Key("log", system, "", "log_bytes_per_unit")
        yield key, _made(a_unit, did.a_unit("bytes"), did.reason or "no rate of the log, or rates of several kinds")


# -- results of the job account_cpu


def _accounts(did: Work, rows: Sequence[Row]) -> Iterator[tuple[Key, Figure]]:
    columns = (
        ("gcp", "gcp_ms_per_account", "captured_ms_per_unit"),
        ("gcp", "ziip_on_cp_ms_per_account", "captured_ziip_on_cp_ms_per_unit"),
        ("ziip", "ziip_ms_per_account", "captured_ms_per_unit"),
    )
    for (system,), some in sorted(_by(rows, "system").items()):
        captured = [row for row in some if row["basis"] == "captured"]
        for of, column, name in columns:
            if any(row[column] is not None for row in captured):
                figure = mean(((row[column], row["accounts"]) for row in captured), did.a_unit("ms"))
                yield Key("cpu", system, of, name), figure
    batches = {row["batch_units"] for row in rows if row["batch_units"] is not None}
    if batches:
        rate = None if did.units_per_s is None else 3600 * did.units_per_s
        hours = per(batches.pop(), rate) if len(batches) == 1 else None
        yield Key("throughput", "", "", "batch_h"), _made(hours, "h", did.reason or "several sizes of the batch")


# -- replication


def _replication(rows: Sequence[Row]) -> Iterator[tuple[Key, Figure]]:
    for (system, component), some in sorted(_by(rows, "system", "component").items()):
        key = Key("replication", system, "", "")
        if component == "capture":
            lag = over_time(some, "log_latency_s", "s", "idle, or not recorded")
            yield key._replace(name="log_latency_s"), lag
            continue
        why = "no transaction was applied, or they are not counted"
        for name in ("end_to_end_ms", "capture_ms", "queue_ms", "apply_ms"):
            yield key._replace(name=name), mean(((row[name], row["transactions"]) for row in some), "ms", why)
        queues = list(_by(some, "queue").values())
        for column, unit in (("row_count", "rows"), ("transactions", "transactions")):
            yield key._replace(name=unit), _sum((row[column] for row in some), unit)
            rates = [a_second(queue, column, "") for queue in queues]
            only = rates[0] if len(rates) == 1 else Figure(None, "")
            together = Figure(total(*(r.value for r in rates)), f"{unit}/s", sum(r.n for r in rates))
            reason = None if together.value is not None else "not recorded"
            around = together._replace(sd=only.sd, low=only.low, high=only.high, reason=reason)
            yield key._replace(name=f"{unit}_per_s"), around
        both = ((row["row_count"], row["transactions"]) for row in some)
        yield key._replace(name="rows_per_transaction"), ratio(both, "rows/transaction", "no transaction was applied")


# -- remarks for the reader


def _notes(run: ComparedRun, kept: Mapping[str, Sequence[Row]], done: Sequence[Row]) -> Iterator[str]:
    name = run.name
    stated = {row["unit_of_work"] for row in done if run.units and row["unit_of_work"] != run.units}
    if stated:
        yield f"{name}: units of work are {', '.join(sorted(stated))}, the configuration states {run.units}"
    executions = {row["run_id"] for row in done}
    if len(executions) > 1:
        yield f"{name}: {len(executions)} executions of the workload in one run: was the label used twice?"
    for (system, kind), some in sorted(_by(kept.get("processors", ()), "system", "engine_type").items()):
        seconds = math.fsum(row["seconds"] for row in some)
        if run.seconds and seconds < 0.95 * run.seconds:
            share = 100 * seconds / run.seconds
            yield f"{name}: processors ({kind}) of {system} are recorded for {share:.0f} % of the run"
        if seconds > 1.05 * run.seconds + SLACK_S:
            yield f"{name}: intervals of {system} ({kind}) overlap: two recorders?"
