"""Install what the stack runs, once: pinned versions from the package registries into the parts folder.

Versions and checksums are in `pins/` (Maven, npm) and in the checkout's `uv.lock` (PyFlink). A part counts as installed
when its stamp holds the digest of its pins; the stamp is written last, so an interrupted installation starts again.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import counterflow
from counterflow.base.errors import CounterflowError
from counterflow.stack.flink_library import assemble
from counterflow.stack.settings import StackSettings

Say = Callable[[str], None]

OLDEST_JAVA = 17
_PINS = Path(__file__).parent / "pins"
_CHECKOUT = Path(counterflow.__file__).resolve().parents[1]
_FLINK_PYTHONS = ("3.11", "3.12")  # those that PyFlink's own pins have wheels for
_PACKAGES = {  # program: package by package manager
    "java": {"apt-get": "openjdk-17-jre-headless", "dnf": "java-17-openjdk-headless"},
    "mvn": {"apt-get": "maven", "dnf": "maven"},
    "npm": {"apt-get": "npm", "dnf": "npm"},
}


@dataclass(frozen=True)
class _Download:
    """Something to install: its folder under the parts folder, what pins it, and how to fill the folder."""

    name: str
    pins: tuple[Path, ...]
    fetch: Callable[[Path], None]

    def digest(self) -> str:
        return hashlib.sha256(b"".join(pin.read_bytes() for pin in self.pins)).hexdigest()


def install(settings: StackSettings, say: Say) -> None:
    """Install what is missing, several parts at a time; an installed part costs the reading of its stamp.

    Raises `CounterflowError` when a program is missing, a download fails or a checksum differs.
    """
    _check_java()
    downloads = (
        _Download("jars", (_PINS / "kafka/pom.xml", _PINS / "flink-connector/pom.xml"), _fetch_jars),
        _Download("clickhouse", tuple(sorted((_PINS / "clickhouse").iterdir())), _fetch_clickhouse),
        _Download("flink-venv", (_CHECKOUT / "uv.lock",), _fetch_flink),
    )
    if not (_CHECKOUT / "uv.lock").exists():
        raise CounterflowError(f"the stack runs from a checkout: there is no {_CHECKOUT / 'uv.lock'}")
    library = _Download(
        "flink-library", (_CHECKOUT / "uv.lock", _PINS / "flink-connector/pom.xml"), partial(assemble, settings)
    )
    with exclusive(settings.parts / ".lock"), ThreadPoolExecutor() as pool:
        for result in [pool.submit(_install, settings.parts, download, say) for download in downloads]:
            result.result()
        _install(settings.parts, library, say)


def _install(parts: Path, download: _Download, say: Say) -> None:
    stamp, digest = parts / f"{download.name}.installed", download.digest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    stamp.unlink(missing_ok=True)
    say(f"installing {download.name} ...")
    begin = time.monotonic()
    download.fetch(parts / download.name)
    stamp.write_text(digest)
    say(f"installed {download.name} in {time.monotonic() - begin:.1f} s")


def _fetch_jars(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for pin in ("kafka", "flink-connector"):  # one after the other: they share Maven's local repository
        target = f"-DoutputDirectory={folder / pin}"
        _run(program("mvn"), "-q", "-B", "-C", "-f", _PINS / pin / "pom.xml", "dependency:copy-dependencies", target)


def _fetch_clickhouse(folder: Path) -> None:
    if (sys.platform, platform.machine()) != ("linux", "x86_64") or platform.libc_ver()[0] != "glibc":
        raise CounterflowError(
            f"the ClickHouse engine is built for Linux x86_64 with glibc, this is {sys.platform} {platform.machine()}"
        )
    npm = program("npm")
    folder.mkdir(exist_ok=True)
    for pin in (_PINS / "clickhouse").iterdir():
        shutil.copy(pin, folder)
    _run(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        expected, name = line.split(maxsplit=1)
        with (folder / name).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise CounterflowError(f"{folder / name} has sha256 {found}, expected {expected}")


def _fetch_flink(folder: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    environment["UV_PROJECT_ENVIRONMENT"] = str(folder)
    ours = "{}.{}".format(*sys.version_info)
    python = sys.executable if ours in _FLINK_PYTHONS else _FLINK_PYTHONS[-1]
    # compiled once: where Python is told to write no bytecode, each process would compile what it imports
    options = ("--frozen", "--compile-bytecode", "--only-group", "flink", "--no-install-project", "--python", python)
    _run(*_uv(), "sync", "--quiet", "--project", _CHECKOUT, *options, environment=environment)


def _uv() -> tuple[str | Path, ...]:
    """Find uv, named by `UV`, on PATH or beside the interpreter, or install it there."""
    if found := os.environ.get("UV") or shutil.which("uv"):
        return (found,)
    beside = (sys.executable, "-m", "uv")
    if not _succeeds(*beside, "--version") and not _succeeds(sys.executable, "-m", "pip", "install", "--quiet", "uv"):
        raise CounterflowError("uv is missing", hint="python3 -m pip install uv")
    return beside


def java() -> str:
    """Name the Java to run: JAVA_HOME's, else the one on PATH; whether it serves is checked at installation."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def _check_java() -> None:
    if (home := os.environ.get("JAVA_HOME")) and not Path(java()).exists():
        raise CounterflowError(f"JAVA_HOME is {home}, where there is no bin/java", hint="unset JAVA_HOME")
    found = java() if home else program("java")
    answer = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', answer)
    if not version or int(version[1]) < OLDEST_JAVA:
        raise CounterflowError(
            f"Java {OLDEST_JAVA} or newer is needed; {found} says: {answer.partition(chr(10))[0] or 'nothing'}",
            hint=_how_to_install("java"),
        )


def program(name: str) -> Path:
    """Find a program on PATH; raises `CounterflowError` with the command that installs it."""
    if found := shutil.which(name):
        return Path(found)
    raise CounterflowError(f"{name} is missing: it is not on PATH", hint=_how_to_install(name))


def _how_to_install(name: str) -> str:
    for manager, package in _PACKAGES[name].items():
        if shutil.which(manager):
            return f"sudo {manager} install {package}"
    return f"install {name} and put it on PATH"


def _succeeds(*command: str | Path) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _run(*command: str | Path, cwd: Path | None = None, environment: dict[str, str] | None = None) -> None:
    result = subprocess.run(
        command, cwd=cwd, env=environment, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if result.returncode:
        lines = result.stdout.strip().splitlines() or ["it said nothing"]
        reasons = [line.strip() for line in lines if re.search("error|cause", line, re.IGNORECASE)]
        raise CounterflowError(
            f"{Path(command[0]).name} ended with status {result.returncode}: {'; '.join(reasons[:3] or lines[-1:])}",
            hint=" ".join(str(word) for word in command),
        )


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold a lock file: two commands do not install, start or stop the same thing at once."""
    lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
