"""A command on a terminal, as a person sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

from tests.support.waiting import PATIENCE_S


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
