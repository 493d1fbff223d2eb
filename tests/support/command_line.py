"""The command line: whether it would accept words, and what it prints, in the process of a test or apart from it."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

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
