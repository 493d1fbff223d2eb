"""A real node_exporter, which tests start, kill and freeze by its own process id."""

from __future__ import annotations

import shutil
import signal
import subprocess
from typing import Self

from tests.support.ports import free_ports


class NodeExporter:
    """node_exporter on a port that it keeps over restarts; it ends with the block."""

    def __init__(self) -> None:
        found = shutil.which("prometheus-node-exporter")
        assert found, "there is no prometheus-node-exporter: make node_exporter"
        (port,) = free_ports(1)
        self._command = [found, f"--web.listen-address=127.0.0.1:{port}"]
        self.url = f"http://127.0.0.1:{port}/metrics"
        self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stderr=subprocess.DEVNULL)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """Stop it: the kernel accepts connections for it, and nothing answers."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)
