"""The command line: whether it would accept words, and what it prints: in this process, apart, and on a terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

import click
import pytest
import structlog
from click.testing import CliRunner

from counterflow.cli import cli, main
from tests.support.waiting import PATIENCE_S


def parse(words: Sequence[str], command: click.Command = cli) -> None:
    """Parse words as `counterflow` would.

    Raises
    ------
    click.UsageError : there is no such option, or a value is not one.
    """
    if isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words[0])
        assert found, f"there is no command {words[0]}"
        parse(words[1:], found)
    else:
        command.make_context(command.name, list(words)).close()


class _Stdin(io.BytesIO):
    name = "<stdin>"


def run(*words: object, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `counterflow` in this process, with these variables of ours and no others; return what it printed."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("COUNTERFLOW_")}
    with pytest.MonkeyPatch.context() as patched, CliRunner().isolation(_Stdin(stdin)) as (out, err, _):
        patched.setattr(sys, "argv", ["counterflow", *map(str, words)])
        patched.setattr(os, "environ", others | variables)
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        logging = structlog.get_config()
        try:
            main()
            status = 0
        except SystemExit as ended:
            status = int(ended.code or 0)
        finally:
            for number, handler in handlers.items():  # commands set their own, with which a test run would not end
                signal.signal(number, handler)
            structlog.configure(**logging)
        return subprocess.CompletedProcess(words, status, out.getvalue().decode(), err.getvalue().decode())


def run_apart(*words: object, within_s: float = PATIENCE_S, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `counterflow` in a process of its own, with these variables beside those of the test."""
    command = [sys.executable, "-m", "counterflow", *map(str, words)]
    environment = {**os.environ, **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=within_s, check=False)


def on_terminal(command: Sequence[str], width: int, environment: Mapping[str, str]) -> tuple[str, str]:
    """Run a command on a terminal of a width; return what it shows and what it notes on standard error."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    with subprocess.Popen(command, env=environment, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        deadline = threading.Timer(PATIENCE_S, process.kill)
        deadline.start()
        found = b""
        with suppress(OSError):  # Linux reports the end of a terminal so
            while piece := os.read(ours, 65_536):
                found += piece
        notes = process.communicate()[1].decode()
        deadline.cancel()
    os.close(ours)
    assert process.returncode == 0, found.decode() + notes
    return found.decode().replace("\r\n", "\n"), notes
