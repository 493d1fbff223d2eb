"""Up, down and status of the one-machine stack."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from counterflow.base.clickhouse import ClickHouseError
from counterflow.base.errors import CounterflowError
from counterflow.pipelines import submission
from counterflow.schemas import topics, vintage
from counterflow.schemas.migrations import migrate
from counterflow.stack import agent_config, grafana, preflight, supervision
from counterflow.stack.install import Report, exclusive, install
from counterflow.stack.jobs import cluster
from counterflow.stack.kafka import create_topics
from counterflow.stack.part import Part
from counterflow.stack.parts import all_parts
from counterflow.stack.settings import StackSettings

_WHEN = {"BACKOFF": f"within {supervision.STABLE_S} s of its start", "EXITED": "by itself"}
_CANCEL_S = 20
"""Seconds for which `down` waits for jobs to end by themselves."""
_OTHER = "start it with the version that made it, or take another folder: counterflow up --home FOLDER"


@dataclass(frozen=True)
class PartStatus:
    """A part as `counterflow status` shows it.

    `state` is `running` (it answers), `failing` (it answers but does not do its work; `detail` is why), `starting` (it
    does not answer yet), `restarting` or `stopped`. `rss_bytes` includes child processes; `started_s` is in seconds
    since the epoch.
    """

    name: str
    state: str
    pid: int | None = None
    ports: Sequence[int] = ()
    rss_bytes: int = 0
    started_s: int = 0
    uptime_s: int = 0
    detail: str = ""


def up(settings: StackSettings, report: Report = lambda _: None) -> None:
    """Start every part that is not running.

    Raises `CounterflowError` if settings point to servers elsewhere, with all that this machine lacks, if the home
    belongs to a version whose data this one would lose, or when a step fails; a stack that was not running before is
    then stopped again.
    """
    if elsewhere := [f"COUNTERFLOW_{name.upper()}" for name in settings.elsewhere]:
        raise CounterflowError(
            f"{' and '.join(elsewhere)} points to your own servers, but this command starts new ones",
            hint=f"unset {' '.join(elsewhere)}",
            exit_code=2,
        )
    if any(preflight.unwritable(settings)):
        preflight.require_none([*preflight.machine(settings), *preflight.ports(settings)])
    database, logs = settings.clickhouse_home / "data", settings.kafka_home / "data"
    vintage.require(settings.home, database=database, topics=logs, hint=_OTHER)
    with exclusive(settings.home / ".lock"):
        fresh = not supervision.alive(settings)
        if fresh:
            _clear(settings, preflight.machine(settings))
        vintage.claim(settings.home, database=database, topics=logs, hint=_OTHER)
        try:
            install(settings, report)
            start(settings, "kafka", "clickhouse", "jobmanager", "taskmanager", report=report)
            create_topics(settings, topics())
            begin(settings, "jobs")  # takes longest, and needs no tables
            _migrate(settings)
            start(settings, "lander", "exporter", report=report)
            start(settings, "jobs", report=report)
            if settings.grafana:
                show(settings, report)
            else:
                grafana.provision(settings)
            start(settings, "health", report=report)  # last: it reports which parts do not answer
            agent_config.write(settings)
        except BaseException:
            if fresh:
                _down(settings)
            raise


def start(settings: StackSettings, *names: str, report: Report = lambda _: None) -> None:
    """Start parts in parallel, after the supervisor if there is none; return when each answers.

    A running part is only checked. Raises `CounterflowError` naming a part that ended or does not answer.
    """
    if not supervision.alive(settings):
        _clear(settings)
        install(settings, report)
        settings.stack_file.write_text(settings.model_dump_json(indent=2))
        supervision.launch(settings, all_parts(settings))
    waiting = begin(settings, *names)
    began = time.monotonic()
    while waiting:
        states = supervision.states(settings)
        for part in waiting.copy():
            state = states[part.name]
            if state.state == "BACKOFF":
                raise _failed(settings, part, "ended while it started")
            if state.pid and (detail := _answer(part, state)):
                waiting.remove(part)
                report(f"{part.name} answers after {time.monotonic() - began:.1f} s: {detail}")
            elif time.monotonic() - began > part.ready_s:
                raise _failed(settings, part, f"does not answer after {part.ready_s} s")
        time.sleep(0.2)


def begin(settings: StackSettings, *names: str) -> list[Part]:
    """Let the supervisor start the named parts that do not run, without waiting; return all of the named parts."""
    parts = [part for part in all_parts(settings) if part.name in names]
    states = supervision.states(settings)
    for part in parts:
        if states[part.name].state not in ("RUNNING", "STARTING"):
            part.prepare()
            supervision.start(settings, part.name)
    return parts


def show(settings: StackSettings, report: Report = lambda _: None) -> None:
    """Start Grafana; if that fails, report it and keep the other parts running."""
    try:
        start(settings, "grafana", report=report)
    except CounterflowError as error:
        supervision.stop(settings, "grafana")
        report(f"{error.message} ({error.hint}); the other parts run without it; COUNTERFLOW_GRAFANA=none disables it")


def down(settings: StackSettings) -> int:
    """Stop jobs and parts and leave no process; returns how many processes there were.

    Also works when the supervisor is gone and only its children are left.
    """
    if not settings.home.exists():
        return 0
    with exclusive(settings.home / ".lock"):
        return _down(settings)


def status(settings: StackSettings, *, but: str | None = None) -> list[PartStatus]:
    """Return the status of every part except `but`; empty when nothing runs in this home."""
    states = supervision.states(settings)
    if not states:
        if not (left := supervision.processes(settings)):
            return []
        detail = f"processes that a killed supervisor left: {len(left)}; counterflow up ends them"
        return [PartStatus("supervisor", "stopped", detail=detail)]
    supervisor = Part("supervisor", command=(), ready=lambda _: "supervisord")
    parts = (part for part in (supervisor, *all_parts(settings)) if part.name != but)
    return [_look(settings, part, states[part.name]) for part in parts]


def _migrate(settings: StackSettings) -> None:
    with settings.clickhouse("migrator") as migrator:
        try:
            migrate(migrator)
        except ClickHouseError as error:
            raise CounterflowError(f"ClickHouse rejected a migration: {error}") from None


def _look(settings: StackSettings, part: Part, state: supervision.PartState) -> PartStatus:
    if not state.pid:
        when = _WHEN.get(state.state)
        why = f"ended {when}; it is started again; its log: {_log(settings, part)}" if when else ""
        return PartStatus(part.name, "restarting" if when else "stopped", ports=part.ports, detail=why)
    detail = _answer(part, state)
    problems = "; ".join(part.problems()) if detail else ""
    return PartStatus(
        part.name,
        "failing" if problems else "running" if detail else "starting",
        state.pid,
        part.ports,
        _resident(state.pid, children=part.name != "supervisor"),
        state.started_s,
        state.uptime_s,
        problems or detail or "does not answer yet",
    )


def _resident(pid: int, *, children: bool) -> int:
    try:
        process = psutil.Process(pid)
        return sum(p.memory_info().rss for p in [process, *(process.children(recursive=True) if children else [])])
    except psutil.NoSuchProcess:
        return 0


def _answer(part: Part, state: supervision.PartState) -> str | None:
    """Query a part, but only if its own process listens on its ports: another server could answer there as well."""
    try:
        sockets = psutil.Process(state.pid).net_connections("tcp")
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None
    listening = {socket.laddr.port for socket in sockets if socket.status == psutil.CONN_LISTEN}
    return part.ready(listening) if listening.issuperset(part.ports) else None


def _log(settings: StackSettings, part: Part) -> Path:
    return settings.logs / f"{part.name}.log"


def _failed(settings: StackSettings, part: Part, what: str) -> CounterflowError:
    log = _log(settings, part)
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return CounterflowError(f"{part.name} {what}: {lines[-1] if lines else 'no output'}", hint=f"its log: {log}")


def _clear(settings: StackSettings, lacking: Iterable[preflight.Problem] = ()) -> None:
    """Create the home, private to its owner; remove leftovers of an earlier stack and check that every port is free."""
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    supervision.sweep(settings)
    preflight.require_none([*lacking, *preflight.ports(settings)])


def _down(settings: StackSettings) -> int:
    count = len(supervision.processes(settings))
    if supervision.alive(settings):
        for part in reversed(all_parts(settings)):
            supervision.stop(settings, part.name)
            if part.name == "jobs":  # nothing resubmits them now; their checkpoints stay for the next start
                with suppress(CounterflowError):
                    submission.cancel(cluster(settings), patience_s=_CANCEL_S)
        supervision.shutdown(settings)
    supervision.sweep(settings)
    settings.stack_file.unlink(missing_ok=True)
    return count
