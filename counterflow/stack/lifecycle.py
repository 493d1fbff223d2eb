"""Up, down and status of the one-machine stack."""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import psutil

from counterflow.base.clickhouse import ClickHouseError
from counterflow.base.errors import CounterflowError
from counterflow.pipelines import jobs
from counterflow.schemas import topics
from counterflow.schemas.migrations import migrate
from counterflow.stack import supervision
from counterflow.stack.install import Say, exclusive, install
from counterflow.stack.jobs import cluster
from counterflow.stack.kafka import create_topics
from counterflow.stack.launch import STABLE_S
from counterflow.stack.part import Part
from counterflow.stack.parts import all_parts
from counterflow.stack.settings import HOST, StackSettings

_CANCEL_S = 20
"""So long `down` waits for jobs to end by themselves."""
_UNKNOWN = supervision.State("STOPPED")
"""Of a part that was not there yet when the supervisor was started."""


class Listener(NamedTuple):
    """A listening TCP socket; `pid` only where the kernel lets us see its owner."""

    address: str
    port: int
    pid: int | None


@dataclass(frozen=True)
class PartStatus:
    """What `counterflow status` shows of a part.

    `state` is `running` (it answers), `starting` (it lives, but does not answer yet), `restarting` or `stopped`;
    `rss_bytes` includes child processes; `restarts` counts from when it was last started on purpose, `failures` the
    starts in a row that it outlived by seconds only.
    """

    name: str
    state: str
    pid: int | None = None
    ports: Sequence[int] = ()
    rss_bytes: int = 0
    uptime_s: int = 0
    detail: str = ""
    restarts: int = 0
    failures: int = 0


def up(settings: StackSettings, say: Say = lambda _: None) -> dict[str, float]:
    """Bring up whatever of the stack is not up; returns the seconds of each phase.

    Raises `CounterflowError` when a phase fails; a stack that was not running before is then taken down again.
    """
    steps: list[tuple[str, Callable[[], object]]] = [
        ("install", lambda: install(settings, say)),
        ("start", lambda: start(settings, "kafka", "clickhouse", "jobmanager", "taskmanager", say=say)),
        ("topics", lambda: create_topics(settings, topics())),
        ("plan", lambda: begin(settings, "jobs")),  # takes longest, and needs no tables
        ("migrate", lambda: _migrate(settings)),
        ("land", lambda: start(settings, "lander", "exporter", say=say)),
        ("jobs", lambda: start(settings, "jobs", "health", say=say)),
        *([("grafana", lambda: show(settings, say))] if settings.grafana else []),
    ]
    seconds = {}
    with exclusive(settings.home / ".lock"):
        fresh = not (supervision.alive(settings) or orphaned(settings))
        if fresh:
            _clear(settings)
        try:
            for phase, step in steps:
                began = time.monotonic()
                step()
                seconds[phase] = round(time.monotonic() - began, 2)
        except BaseException:
            if fresh:
                _down(settings)
            raise
    return seconds


def start(settings: StackSettings, *names: str, say: Say = lambda _: None) -> None:
    """Start parts side by side, and the supervisor first if there is none; return when each answers.

    A part that already runs is only asked. Raises `CounterflowError` naming the part that ended or stayed silent.
    """
    if not supervision.alive(settings):
        if not orphaned(settings):
            _clear(settings)
        install(settings, say)
        settings.stack_file.write_text(settings.model_dump_json(indent=2))
        running = supervision.states(settings)
        supervision.sweep(settings, which=supervision.strays)
        supervision.launch(settings, all_parts(settings))
        for name in running:  # they go on as they are, watched again
            supervision.start(settings, name)
    waiting = begin(settings, *names)
    began, before = time.monotonic(), supervision.states(settings)
    while waiting:
        states = supervision.states(settings)
        for part in waiting.copy():
            state = states.get(part.name, _UNKNOWN)
            if state.restarts > before[part.name].restarts + 1:  # once may be a kill of just before
                raise _failed(settings, part, "ended while it started")
            if state.pid and (detail := _answer(part, state)):
                waiting.remove(part)
                say(f"{part.name} answers after {time.monotonic() - began:.1f} s: {detail}")
            elif time.monotonic() - began > part.ready_s:
                raise _failed(settings, part, f"does not answer after {part.ready_s} s")
        time.sleep(0.2)


def begin(settings: StackSettings, *names: str) -> list[Part]:
    """Have the supervisor start parts that do not run, and do not wait until they answer; returns the parts."""
    parts = [part for part in all_parts(settings) if part.name in names]
    states = supervision.states(settings)
    for part in parts:
        if part.name not in states:
            raise CounterflowError(
                f"the stack that runs has no {part.name}", hint="counterflow down, then counterflow up"
            )
        if states[part.name].state not in ("RUNNING", "STARTING"):
            part.prepare()
            supervision.start(settings, part.name)
    return parts


def orphaned(settings: StackSettings) -> bool:
    """Say whether parts run that their supervisor has left: the next `start` takes them over."""
    return settings.stack_file.exists() and not supervision.alive(settings) and bool(supervision.states(settings))


def show(settings: StackSettings, say: Say = lambda _: None) -> None:
    """Start Grafana; one that does not start is said, and no reason to end what it would show."""
    try:
        start(settings, "grafana", say=say)
    except CounterflowError as error:
        supervision.stop(settings, "grafana")
        say(f"{error.message} ({error.hint}); the rest runs without it, and COUNTERFLOW_GRAFANA=none leaves it alone")


def down(settings: StackSettings) -> int:
    """Stop jobs and parts and leave no process; returns how many processes there were.

    Works as well when the supervisor is gone and only its children are left.
    """
    if not settings.home.exists():
        return 0
    with exclusive(settings.home / ".lock"):
        return _down(settings)


def status(settings: StackSettings, *, but: str | None = None) -> list[PartStatus]:
    """Look at every part, but one if it is named; empty when nothing runs in this home."""
    states = supervision.states(settings)
    if not states:
        return []
    supervisor = Part("supervisor", command=(), ready=lambda _: "supervisord")
    parts = (part for part in (supervisor, *all_parts(settings)) if part.name != but)
    return [_look(settings, part, states.get(part.name, _UNKNOWN)) for part in parts]


def _migrate(settings: StackSettings) -> None:
    with settings.clickhouse("migrator") as migrator:
        try:
            migrate(migrator)
        except ClickHouseError as error:
            raise CounterflowError(f"ClickHouse refused a migration: {error}") from None


def _look(settings: StackSettings, part: Part, state: supervision.State) -> PartStatus:
    again = {"restarts": state.restarts, "failures": state.failures}
    if not state.pid:
        word = "restarting" if state.state == "BACKOFF" else "stopped"
        return PartStatus(part.name, word, ports=part.ports, detail=_why(settings, part, state), **again)
    detail = _answer(part, state)
    return PartStatus(
        part.name,
        "running" if detail else "starting",
        state.pid,
        part.ports,
        _resident(state.pid, children=part.name != "supervisor"),
        state.uptime_s,
        detail or "does not answer yet" + f"; {_why(settings, part, state)}" * bool(state.failures),
        **again,
    )


def _why(settings: StackSettings, part: Part, state: supervision.State) -> str:
    """Say of a part without a process what is known, and where to look."""
    if part.name == "supervisor":
        return "nobody watches the parts that run: counterflow up takes them over"
    log = f"its log: {settings.logs / part.name}.log"
    if state.failures:
        wait = f", is tried again in {state.wait_s:.0f} s" * bool(state.wait_s)
        return f"ended within {STABLE_S} s of its start {state.failures} times in a row{wait}; {log}"
    return f"ended, is started again; {log}" if state.state == "BACKOFF" else ""


def _resident(pid: int, *, children: bool) -> int:
    try:
        process = psutil.Process(pid)
        return sum(p.memory_info().rss for p in [process, *(process.children(recursive=True) if children else [])])
    except psutil.NoSuchProcess:
        return 0


def _answer(part: Part, state: supervision.State) -> str | None:
    """Ask a part, once our own process listens on its ports: somebody else's server may answer there as well."""
    try:
        listening = {listener.port for listener in _listeners(psutil.Process(state.pid).net_connections("tcp"))}
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None
    return part.ready(listening) if listening.issuperset(part.ports) else None


def _listeners(connections: Sequence[Any]) -> list[Listener]:
    return [
        Listener(connection.laddr.ip, connection.laddr.port, getattr(connection, "pid", None))
        for connection in connections
        if connection.status == psutil.CONN_LISTEN
    ]


def _failed(settings: StackSettings, part: Part, what: str) -> CounterflowError:
    log = settings.logs / f"{part.name}.log"
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return CounterflowError(f"{part.name} {what}: {lines[-1] if lines else 'it said nothing'}", hint=f"its log: {log}")


def _clear(settings: StackSettings) -> None:
    """Make the home, the owner's alone; be sure that nothing of an earlier stack is left and every port is free."""
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    supervision.sweep(settings)
    ports: dict[int, str] = {}
    for name, port in settings.ports.items():
        option = f"--{name.replace('_', '-')}"
        if port in ports:
            raise CounterflowError(f"{ports[port]} and {option} are both {port}", hint=f"counterflow up {option} ...")
        ports[port] = option
        if not _is_free(port):
            raise CounterflowError(
                f"port {port} ({name.removesuffix('_port').replace('_', ' ')}) is taken by {_owner(port)}",
                hint=f"counterflow up {option} <another port>, or set COUNTERFLOW_{name.upper()}",
            )


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a closed connection's wait does not count
        try:
            probe.bind((HOST, port))
            probe.listen()
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True


def _owner(port: int) -> str:
    try:
        for listener in _listeners(psutil.net_connections("tcp")):
            if listener.port == port and listener.pid:
                return f"pid {listener.pid} ({psutil.Process(listener.pid).name()})"
    except psutil.Error:
        pass
    return "a process of another user"


def _down(settings: StackSettings) -> int:
    count = len(supervision.processes(settings))
    if supervision.alive(settings):
        for part in reversed(all_parts(settings)):
            if supervision.states(settings).get(part.name, _UNKNOWN).pid:
                supervision.stop(settings, part.name)
            if part.name == "jobs":  # nobody submits any more; the checkpoints stay for the next start
                with suppress(CounterflowError):
                    jobs.cancel(cluster(settings), patience_s=_CANCEL_S)
        supervision.shutdown(settings)
    supervision.sweep(settings)
    settings.stack_file.unlink(missing_ok=True)
    return count
