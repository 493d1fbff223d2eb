"""The supervisor: supervisord starts the parts through `launch`, which backs off, and restarts those that die.

Every process of a stack has `COUNTERFLOW_STACK=<home>` in its environment. That mark, never a name, identifies
them when the supervisor itself is gone.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import xmlrpc.client
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from supervisor.xmlrpc import Faults, SupervisorTransport  # type: ignore[import-untyped]

from counterflow.base import health
from counterflow.base.errors import CounterflowError
from counterflow.stack.launch import STABLE_S, ProcessRecord, forget, now
from counterflow.stack.part import Part
from counterflow.stack.settings import StackSettings

_MARK = "COUNTERFLOW_STACK"
_LOG_BYTES, _OLD_LOGS = 10_000_000, 3
_LAUNCH = (sys.executable, "-m", "counterflow.stack.launch")
_LONGEST_SOCKET = 90  # bytes of path; the kernel allows 107, supervisord appends a process id


class PartState(NamedTuple):
    """State of a part.

    Parameters
    ----------
    state : supervisord's name; `BACKOFF` while it waits for a restart.
    pid : of the program itself, 0 when there is none.
    uptime_s : of the program.
    restarts : since it was last started on purpose.
    failures : consecutive starts that failed within seconds.
    wait_s : until the next restart.
    """

    state: str
    pid: int = 0
    uptime_s: int = 0
    restarts: int = 0
    failures: int = 0
    wait_s: float = 0.0


def launch(settings: StackSettings, parts: Sequence[Part]) -> None:
    settings.logs.mkdir(parents=True, exist_ok=True)
    socket = _socket(settings)
    if socket.parent != settings.home:
        socket.parent.mkdir(mode=0o700, exist_ok=True)
        if socket.parent.stat().st_uid != os.getuid() or socket.parent.stat().st_mode & 0o077:
            raise CounterflowError(f"{socket.parent} is not private to you", hint=f"rm -r {socket.parent}")
    configuration = settings.home / "supervisord.conf"
    configuration.write_text(_configuration(settings, socket, parts))
    result = subprocess.run(
        [sys.executable, "-m", "supervisor.supervisord", "-c", configuration],
        # The stack queries its parts on loopback, whatever address this shell sets for other agents' metrics.
        env={**os.environ, **settings.environment, _MARK: str(settings.home), **dict.fromkeys(health.VARIABLES, "")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    end = time.monotonic() + 30
    while result.returncode == 0 and time.monotonic() < end:
        if alive(settings):
            return
        time.sleep(0.05)
    raise CounterflowError(
        f"the supervisor did not start: {result.stderr.strip() or 'it does not answer'}",
        hint=f"its log: {settings.logs / 'supervisord.log'}",
    )


def add(settings: StackSettings, parts: Sequence[Part]) -> None:
    """Add to the running supervisor the parts that it does not have yet; running parts continue undisturbed."""
    configuration = settings.home / "supervisord.conf"
    configuration.write_text(_configuration(settings, _socket(settings), parts))
    [[added, _, _]] = _call(settings, "reloadConfig")
    for name in added:
        _call(settings, "addProcessGroup", name)


def alive(settings: StackSettings) -> bool:
    try:
        return bool(_call(settings, "getState"))
    except OSError:
        return False


def states(settings: StackSettings) -> dict[str, PartState]:
    """Return the state of every part by name, and of the supervisor; without a supervisor only parts that run."""
    try:
        named = {info["name"]: str(info["statename"]) for info in _call(settings, "getAllProcessInfo")}
        supervisor = {"supervisor": PartState("RUNNING", pid := _call(settings, "getPID"), _uptime(pid))}
    except OSError:
        supervisor = {}
        named = {
            run.stem: "RUNNING"
            for run in settings.home.glob("run/*.json")
            if ProcessRecord.read(settings.home, run.stem).alive
        }
    return {**supervisor, **{name: _state(settings, name, state) for name, state in named.items()}}


def _state(settings: StackSettings, name: str, reported: str) -> PartState:
    run = ProcessRecord.read(settings.home, name)
    if run.alive:
        failures = run.failures if now() - run.started_s < STABLE_S else 0
        return PartState(reported, run.pid, _uptime(run.pid), max(0, run.restarts), failures)
    between = "BACKOFF" if reported in ("RUNNING", "STARTING", "EXITED") and run.restarts >= 0 else reported
    return PartState(between, 0, 0, max(0, run.restarts), run.failures, run.wait_s)


def _uptime(pid: int) -> int:
    try:
        return int(time.time() - psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return 0


def start(settings: StackSettings, name: str) -> None:
    """Start a part without waiting for it; this ends a back-off."""
    if states(settings)[name].state == "BACKOFF":
        stop(settings, name)
    if not ProcessRecord.read(settings.home, name).alive:
        forget(settings.home, name)
    try:
        _call(settings, "startProcess", name, False)
    except xmlrpc.client.Fault as fault:
        if fault.faultCode != Faults.ALREADY_STARTED:
            raise CounterflowError(f"{name} did not start: {fault.faultString}") from None


def stop(settings: StackSettings, name: str) -> None:
    """Stop a part and wait until it is gone."""
    with suppress(xmlrpc.client.Fault, OSError):  # the part or the supervisor has just ended
        _call(settings, "stopProcess", name)
    ProcessRecord.read(settings.home, name).end()  # an adopted part is not the supervisor's child


def shutdown(settings: StackSettings) -> None:
    """End the supervisor, and with it every part that still runs; wait until it is gone."""
    with suppress(psutil.Error, OSError):  # `sweep` ends a supervisor that hangs or was already ending
        supervisor = psutil.Process(_call(settings, "getPID"))
        _call(settings, "shutdown")
        supervisor.wait(timeout=60)


def processes(settings: StackSettings) -> list[psutil.Process]:
    """Return every process that was started as part of this stack, supervised or not."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(_MARK) == str(settings.home) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.AccessDenied, psutil.NoSuchProcess):
            continue
    return found


def strays(settings: StackSettings) -> list[psutil.Process]:
    """Return the processes of this stack that are neither part nor descendant of one: those that a killed part left."""
    found = processes(settings)
    parts = {state.pid for state in states(settings).values()}

    def kept(process: psutil.Process) -> bool:
        with suppress(psutil.NoSuchProcess):
            return process.pid in parts or any(parent.pid in parts for parent in process.parents())
        return False

    return [process for process in found if not kept(process)]


def sweep(
    settings: StackSettings,
    patience_s: float = 20,
    which: Callable[[StackSettings], list[psutil.Process]] = processes,
) -> int:
    """End the remaining processes of this stack, by SIGTERM first; return how many there were."""
    swept: set[psutil.Process] = set()
    while left := which(settings):  # repeatedly, since a living supervisor starts new ones until it is gone
        swept.update(left)
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.terminate()
        for process in psutil.wait_procs(left, timeout=patience_s)[1]:
            with suppress(psutil.NoSuchProcess):
                process.kill()
    return len(swept)


def rotate(settings: StackSettings) -> None:
    """Rotate long logs by copying and truncating: their writers append, so they need not reopen them."""
    for log in (settings.logs / f"{run.stem}.log" for run in settings.home.glob("run/*.json")):
        with suppress(OSError):  # a full disk: it is rotated once there is room
            if log.stat().st_size > _LOG_BYTES:
                _rotate(log)


def _rotate(log: Path) -> None:
    new = Path(f"{log}.new")
    try:
        shutil.copyfile(log, new)
    except OSError:
        new.unlink(missing_ok=True)
        raise
    for number in range(_OLD_LOGS, 1, -1):
        with suppress(FileNotFoundError):
            Path(f"{log}.{number - 1}").replace(f"{log}.{number}")
    new.replace(f"{log}.1")
    os.truncate(log, 0)


def _call(settings: StackSettings, method: str, *arguments: object) -> Any:
    """Call the supervisor. Raises `OSError` where there is none, or where it is shutting down."""
    transport = SupervisorTransport(None, None, f"unix://{_socket(settings)}")
    with xmlrpc.client.ServerProxy("http://supervisor", transport=transport) as proxy:
        try:
            return getattr(proxy.supervisor, method)(*arguments)
        except xmlrpc.client.Fault as fault:
            if fault.faultCode == Faults.SHUTDOWN_STATE:
                raise ConnectionRefusedError("the supervisor is shutting down") from None
            raise


def _socket(settings: StackSettings) -> Path:
    socket = settings.home / "supervisor.sock"
    if len(os.fsencode(socket)) <= _LONGEST_SOCKET:
        return socket
    name = hashlib.sha256(os.fsencode(settings.home)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"counterflow-{os.getuid()}" / f"{name}.sock"


def _configuration(settings: StackSettings, socket: Path, parts: Sequence[Part]) -> str:
    sections: dict[str, Mapping[str, object]] = {
        "unix_http_server": {"file": socket, "chmod": "0700"},
        "supervisord": {
            "logfile": settings.logs / "supervisord.log",
            "logfile_maxbytes": "1MB",
            "pidfile": settings.home / "supervisord.pid",
            "directory": settings.home,
            "umask": "077",
            **({"user": "root"} if os.getuid() == 0 else {}),  # explicit, to avoid a warning
        },
        "rpcinterface:supervisor": {
            "supervisor.rpcinterface_factory": "supervisor.rpcinterface:make_main_rpcinterface"
        },
    }
    for part in parts:
        sections[f"program:{part.name}"] = {
            "command": shlex.join([*_LAUNCH, str(settings.home), part.name, str(part.stop_s), *part.command]),
            "environment": ",".join(f'{name}="{value}"' for name, value in part.environment.items()),
            "autostart": "false",
            "autorestart": "true",
            "startretries": 1_000_000,  # never give up: `launch` backs off
            "stopsignal": "TERM",
            "stopwaitsecs": part.stop_s,
            "stopasgroup": "true",
            "killasgroup": "true",
            "redirect_stderr": "true",
            "stdout_logfile": settings.logs / "launch.log",  # shared: errors before a part has its own log
            "stdout_logfile_maxbytes": 0,
        }
    return "\n".join(
        f"[{section}]\n" + "".join(f"{key}={str(value).replace('%', '%%')}\n" for key, value in options.items())
        for section, options in sections.items()
    )
