"""The supervisor: supervisord, which owns the parts, restarts those that die, and writes and rotates their logs.

Every process of a stack has `COUNTERFLOW_STACK=<home>` in its environment. That mark, never a name, identifies what is
left when the supervisor itself was killed: the next `up` or `down` ends it.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
import time
import xmlrpc.client
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from supervisor.xmlrpc import Faults, SupervisorTransport  # type: ignore[import-untyped]

from counterflow.base import health
from counterflow.base.errors import CounterflowError
from counterflow.stack.part import Part
from counterflow.stack.settings import StackSettings

STABLE_S = 10
"""A part that ran for this long did not fail to start."""
_MARK = "COUNTERFLOW_STACK"
_LONGEST_SOCKET = 90  # bytes of path; the kernel allows 107, supervisord appends a process id


class PartState(NamedTuple):
    """State of a part.

    Parameters
    ----------
    state : supervisord's name; `BACKOFF` while a part that ended within `STABLE_S` of its start waits for the next.
    pid : of the program, 0 when there is none.
    started_s : time of its start, in seconds since the epoch.
    """

    state: str
    pid: int = 0
    started_s: int = 0

    @property
    def uptime_s(self) -> int:
        return max(0, int(time.time()) - self.started_s) if self.pid else 0


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


def alive(settings: StackSettings) -> bool:
    try:
        return bool(_call(settings, "getState"))
    except OSError:
        return False


def states(settings: StackSettings) -> dict[str, PartState]:
    """Return the state of every part by name, and of the supervisor; empty without a supervisor."""
    try:
        pid = _call(settings, "getPID")
        started_s = int(psutil.Process(pid).create_time())
        parts = _call(settings, "getAllProcessInfo")
    except (OSError, psutil.NoSuchProcess):
        return {}
    return {
        "supervisor": PartState("RUNNING", pid, started_s),
        **{part["name"]: PartState(part["statename"], part["pid"], part["start"]) for part in parts},
    }


def start(settings: StackSettings, name: str) -> None:
    """Start a part without waiting for it; this ends a back-off."""
    if states(settings)[name].state == "BACKOFF":
        stop(settings, name)
    try:
        _call(settings, "startProcess", name, False)
    except xmlrpc.client.Fault as fault:
        if fault.faultCode != Faults.ALREADY_STARTED:
            raise CounterflowError(f"{name} did not start: {fault.faultString}") from None


def stop(settings: StackSettings, name: str) -> None:
    """Stop a part and wait until it is gone."""
    with suppress(xmlrpc.client.Fault, OSError):  # the part or the supervisor has just ended
        _call(settings, "stopProcess", name)


def shutdown(settings: StackSettings) -> None:
    """End the supervisor, and with it every part that still runs; wait until they are gone."""
    with suppress(OSError):  # `sweep` ends a supervisor that hangs or was already ending
        _call(settings, "shutdown")
        _gone(settings, 60)


def processes(settings: StackSettings) -> list[psutil.Process]:
    """Return every process that was started as part of this stack, supervised or not.

    One that has ended is none, even where nobody waits for it, as in a container without an init process.
    """
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(_MARK) == str(settings.home) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.AccessDenied, psutil.NoSuchProcess):
            continue
    return found


def sweep(settings: StackSettings, patience_s: float = 60) -> None:
    """End the remaining processes of this stack, by SIGTERM first."""
    while left := processes(settings):  # repeatedly, since a living supervisor starts new ones until it is gone
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.terminate()
        for process in _gone(settings, patience_s):
            with suppress(psutil.NoSuchProcess):
                process.kill()


def _gone(settings: StackSettings, patience_s: float) -> list[psutil.Process]:
    """Wait until no process of this stack is left; return those that are after `patience_s`."""
    end = time.monotonic() + patience_s
    while (left := processes(settings)) and time.monotonic() < end:
        time.sleep(0.1)
    return left


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
            "command": shlex.join(part.with_empty_scratch(settings.home)),
            "environment": ",".join(f'{name}="{value}"' for name, value in part.environment.items()),
            "autostart": "false",
            "autorestart": "true",
            "startsecs": STABLE_S,
            "startretries": 1_000_000,  # never give up; each wait is a second longer than the one before
            "stopsignal": "TERM",
            "stopwaitsecs": part.stop_s,
            "stopasgroup": "true",
            "killasgroup": "true",
            "redirect_stderr": "true",
            "stdout_logfile": settings.logs / f"{part.name}.log",
            "stdout_logfile_maxbytes": "10MB",
            "stdout_logfile_backups": 3,
        }
    return "\n".join(
        f"[{section}]\n" + "".join(f"{key}={str(value).replace('%', '%%')}\n" for key, value in options.items())
        for section, options in sections.items()
    )
