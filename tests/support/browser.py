"""A real headless Chromium, driven over a socket by its own protocol."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect

from tests.support.waiting import PATIENCE_S

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0")


class Page:
    """An open page; `errors` has its console output and uncaught errors, `fetched` the addresses that it requested."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._number = 0
        self.errors: list[str] = []
        self.fetched: list[str] = []
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer to a command of the protocol."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE_S))
            if message.get("id") == self._number:
                assert "error" not in message, message
                answer: dict[str, Any] = message["result"]
                return answer
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        about = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.errors.append(str(about["exceptionDetails"]))
            case "Runtime.consoleAPICalled":
                self.errors.append(str([part.get("value", part.get("description")) for part in about["args"]]))
            case "Network.requestWillBeSent":
                self.fetched.append(about["request"]["url"])

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def size(self, width: int, height: int = 900) -> None:
        """Set the size of the window in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def open(self, path: Path, until: str, within_s: float = 60) -> None:
        """Open a file and wait until an expression is true in it."""
        self.call("Page.navigate", url=path.as_uri())
        end = time.monotonic() + within_s
        while not self.evaluate(until):
            assert time.monotonic() < end, f"`{until}` did not come true in {within_s} s: {self.errors}"
            time.sleep(0.05)

    def screenshot(self) -> bytes:
        """Return the window as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """Start Chromium with a profile in `folder`, yield its page, and stop it whatever happens."""
    program = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)
    assert program, "no Chromium on the PATH: `make chromium` fetches Debian's, `make test` finds it"
    command = [program, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
    with (folder / "chromium.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=_environment(Path(program)))
        try:
            with connect(_page(folder), max_size=None) as socket:
                yield Page(socket)
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def _page(folder: Path) -> str:
    """Return the address of the page that a new browser has open."""
    port_file, end = folder / "DevToolsActivePort", time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if port_file.exists() and len(lines := port_file.read_text().splitlines()) == 2:
            with suppress(httpx.TransportError):  # Chromium writes the port before it listens
                targets = httpx.get(f"http://127.0.0.1:{lines[0]}/json/list", trust_env=False).json()
                if pages := [target["webSocketDebuggerUrl"] for target in targets if target["type"] == "page"]:
                    return str(pages[0])
        time.sleep(0.05)
    raise AssertionError(f"Chromium did not start: {(folder / 'chromium.log').read_text()[-2000:]}")


def _environment(program: Path) -> dict[str, str]:
    """Return the environment, with the libraries beside a Chromium that was unpacked and not installed."""
    around = program.resolve().parent.parent
    libraries = [*around.glob("*-linux-gnu"), *around.glob("*-linux-gnu/pulseaudio")]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, libraries))}
