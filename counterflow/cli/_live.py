"""`counterflow demo --live`: sends this machine's counters live through the whole pipeline."""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.cli._table import console, table

if TYPE_CHECKING:
    from counterflow.stack.settings import StackSettings

SHOWN = ("cpu", "busiest_disks", "cpu_by_command")
_SNAPSHOTS = 2**31 - 1
"""As many as nmon can count: 68 years of one a second."""


def live(interval_s: int, seconds: int | None, *, keep: bool) -> None:
    """Record this machine with nmon, publish the file as it grows, and show the newest answers until stopped.

    Raises `CounterflowError` where there is no nmon.
    """
    from counterflow.stack import lifecycle
    from counterflow.stack.settings import StackSettings

    nmon = shutil.which("nmon")
    if platform.system() != "Linux" or nmon is None:
        raise CounterflowError("`nmon` is not on this machine's PATH", hint="sudo apt-get install nmon", exit_code=2)
    out = console()
    settings = StackSettings.load()
    found = lifecycle.status(settings)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as cleanup:
        if not keep and not found:
            cleanup.callback(lifecycle.down, settings)
        with out.status("starting the stack (the first start downloads it)"):
            lifecycle.up(settings, report=out.print)
        began = datetime.now(UTC)
        folder = settings.home / "live"
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{platform.node()}-{began:%Y%m%dT%H%M%S}"
        recording, log = folder / f"{name}.nmon", settings.logs / "live-agent.log"
        source = {"name": "live", "paths": [str(recording)], "format": "nmon", "zone": "UTC", "follow": True}
        cleanup.enter_context(_recorder(nmon, recording, interval_s))
        cleanup.enter_context(running_agent(settings, f"live-{name}", source, folder / f"{name}.yaml", log))
        client = settings.clickhouse("reader")
        cleanup.enter_context(client)
        out.print(f"recording {recording}, Ctrl-C stops")
        if settings.grafana:
            url = settings.board_url("cf-linux", began, None, {"system": platform.node()})
            out.print(f"its board: {url}", markup=False, soft_wrap=True)
        try:
            _show(out, client, began, time.monotonic() + seconds if seconds else None)
        except KeyboardInterrupt:
            out.print("stopping")


@contextmanager
def _recorder(nmon: str, recording: Path, interval: int) -> Iterator[None]:
    """Run nmon, which detaches itself, and stop it by the process id that it prints; its clock is UTC."""
    import psutil  # it has POSIX modules, and `--help` is for every machine

    arguments = [nmon, "-F", str(recording), "-T", "-s", str(interval), "-c", str(_SNAPSHOTS), "-p"]
    started = subprocess.run(arguments, env={**os.environ, "TZ": "UTC"}, capture_output=True, text=True, check=False)
    if (pid := re.search(r"\d+", started.stdout)) is None:
        raise CounterflowError(f"nmon did not start: {started.stdout}{started.stderr}".strip())
    try:
        recorder = psutil.Process(int(pid[0]))
    except psutil.NoSuchProcess:
        raise CounterflowError(f"nmon ended at once: {started.stdout}{started.stderr}".strip()) from None
    try:
        yield
    finally:
        with suppress(psutil.NoSuchProcess):  # it ended, even if another process has its id now
            recorder.terminate()


@contextmanager
def running_agent(
    settings: StackSettings, agent_id: str, source: dict[str, Any], config: Path, log: Path
) -> Iterator[None]:
    """Run an agent of one source in a process of its own, which stops at its last commit when the block ends."""
    agent = {"agent_id": agent_id, "kafka": settings.kafka("agent").described, "sources": [source]}
    config.write_text(yaml.safe_dump(agent, sort_keys=False))
    with running([sys.executable, "-m", "counterflow", "agent", "run", "--config", str(config)], log):
        yield


@contextmanager
def running(command: Sequence[str], log: Path) -> Iterator[None]:
    """Run a program until the block ends; what it prints is appended to a file."""
    with log.open("ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _show(out: Console, client: ClickHouse, began: datetime, end: float | None) -> None:
    from counterflow.analysis.queries import queries, run_stored

    stored = queries()
    system = platform.node()
    since = f"{began:%Y-%m-%d %H:%M:%S}"
    with Live(console=out, refresh_per_second=2) as live:
        while end is None or time.monotonic() < end:
            parts = [(stored[name], run_stored(client, stored[name], [system], since)) for name in SHOWN]
            newest = client.rows(
                "SELECT toString(max(ts)) AS newest, count() AS n FROM counterflow.system_cpu FINAL "
                "WHERE system = {s:String} AND engine = 'all' AND ts > {since:DateTime64(3)}",
                {"param_s": system, "param_since": since},
            )[0]
            head = (
                f"{system}: {newest['n']} snapshots, newest {newest['newest']} UTC"
                if newest["n"]
                else "waiting for nmon"
            )
            live.update(Group(Text(head, "bold"), *(table(rows, q.question) for q, rows in parts if rows)))
            time.sleep(1)
