"""Installs the stack's software, once: pinned versions from the package registries into the parts folder.

`counterflow up` does so at its first start; `python -m counterflow.stack.install` does only this, as for an image.

Versions and checksums are in `pins/` (Maven, npm) and in the checkout's `uv.lock` (PyFlink, and the programs of
`runtimes`). A part counts as installed when its stamp holds the digest of its pins; the stamp is written last, so an
interrupted installation starts again. uv, npm and a client of Maven repositories fetch; own code only orders them and
checks what they fetched, since no one of them installs the packages of the others.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
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

import tenacity

import counterflow
from counterflow.base.errors import CounterflowError
from counterflow.stack import runtimes
from counterflow.stack.settings import StackSettings

Report = Callable[[str], None]

PINS = Path(__file__).parent / "pins"
"""Folders of what Maven and npm fetch, with versions and checksums."""
_CHECKOUT = Path(counterflow.__file__).resolve().parents[1]
_SUMS = "SHA256SUMS"
JARS = ("kafka", "flink-connector")
"""Those of Maven."""
_JARS_AT_ONCE = 4
_FLINK_PYTHONS = ("3.11", "3.12")  # those that PyFlink's own pins have wheels for
_LOCK = _CHECKOUT / "uv.lock"


@dataclass(frozen=True)
class _Download:
    """Software to install: its folder below the parts folder, the files that pin it, how to fetch it, and why."""

    name: str
    pins: tuple[Path, ...]
    fetch: Callable[[Path], None]
    reason: str = ""

    def digest(self) -> str:
        return hashlib.sha256(b"".join(pin.read_bytes() for pin in self.pins)).hexdigest()


def install(settings: StackSettings, report: Report) -> None:
    """Install what is missing, several parts at a time; of an installed part only the stamp is read.

    Raises `CounterflowError` when a download fails or a checksum differs.
    """
    provide = partial(_provide, settings.parts, report)
    jars = tuple(sorted(path for pin in JARS for path in (PINS / pin).iterdir()))
    downloads = (
        _Download("jars", jars, partial(_fetch_jars, settings, report)),
        _Download(
            "clickhouse",
            tuple(sorted((PINS / "clickhouse").iterdir())),
            partial(_fetch_clickhouse, settings.parts, provide),
        ),
        _Download("flink-venv", (_LOCK,), partial(_fetch_flink, settings.parts, report)),
    )
    if not _LOCK.exists():
        raise CounterflowError(f"the stack runs from a checkout: there is no {_LOCK}")
    library = _Download("flink-library", (_LOCK, PINS / "flink-connector/pom.xml"), partial(_assemble, settings))
    if all(_installed(settings.parts, one) for one in (*_runtime("java"), *downloads, library)):
        return  # without the lock: the parts folder of an image may be read-only
    with exclusive(settings.parts / ".lock"), ThreadPoolExecutor() as pool:
        provide("java")
        for result in [pool.submit(_install, settings.parts, download, report) for download in downloads]:
            result.result()
        _install(settings.parts, library, report)


def _installed(parts: Path, download: _Download) -> bool:
    stamp = parts / f"{download.name}.installed"
    return stamp.exists() and stamp.read_text() == download.digest()


def _install(parts: Path, download: _Download, report: Report) -> None:
    if _installed(parts, download):
        return
    stamp = parts / f"{download.name}.installed"
    stamp.unlink(missing_ok=True)
    report(f"installing {download.name}{download.reason and f' ({download.reason})'} ...")
    begin = time.monotonic()
    download.fetch(parts / download.name)
    stamp.write_text(download.digest())
    report(f"installed {download.name} in {time.monotonic() - begin:.1f} s")


def _provide(parts: Path, report: Report, name: str) -> None:
    """Install a program of `runtimes` where the machine has no suitable one."""
    for runtime in _runtime(name):
        _install(parts, runtime, report)


def _runtime(name: str) -> tuple[_Download, ...]:
    reason = runtimes.lack(name)
    return (_Download(name, (_LOCK,), partial(_fetch_runtime, name, reason), reason),) if reason else ()


def _fetch_runtime(name: str, reason: str, folder: Path) -> None:
    try:
        _fetch_group(name, folder)
    except CounterflowError as error:
        raise CounterflowError(
            f"{reason}, and could not be installed in {folder}: {error}", hint=f"install {name} and put it on PATH"
        ) from None


def _fetch_group(name: str, folder: Path) -> None:
    """Install a dependency group of pyproject.toml into a folder of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    pinned = folder / "requirements.txt"
    group = ("--only-group", name, "--no-emit-project", "--format", "requirements.txt")
    python = ("--python", sys.executable)
    _run(*_uv(), "export", "--quiet", "--frozen", "--project", _CHECKOUT, *group, "--output-file", pinned)
    _run(*_uv(), "pip", "install", "--quiet", *python, "--require-hashes", "--target", folder, "-r", pinned)


def _fetch_jars(settings: StackSettings, report: Report, folder: Path) -> None:
    _install(settings.parts, _Download("maven", (_LOCK,), partial(_fetch_group, "maven")), report)
    shutil.rmtree(folder, ignore_errors=True)
    for pin in JARS:
        jars = checksums(PINS / pin)
        with ThreadPoolExecutor(_JARS_AT_ONCE) as pool:
            list(pool.map(partial(_fetch_jar, settings, folder / pin), jars))
        _verify(folder / pin, {Path(jar).name: checksum for jar, checksum in jars.items()})


@tenacity.retry(stop=tenacity.stop_after_attempt(3), wait=tenacity.wait_fixed(2), reraise=True)
def _fetch_jar(settings: StackSettings, folder: Path, jar: str) -> None:
    """Fetch a jar, named by its place in a Maven repository: group/artifact/version/file."""
    *group, artifact, version, name = jar.split("/")
    folder.mkdir(parents=True, exist_ok=True)
    coordinates = f"{'.'.join(group)}:{artifact}:{version}"
    mirror = ("--maven-repo", settings.maven_repository) if settings.maven_repository else ()
    command = (sys.executable, "-m", "maven_artifact.main", *mirror, coordinates, folder / name)
    _run(*command, environment={"PYTHONPATH": str(settings.parts / "maven")})


def _fetch_clickhouse(parts: Path, provide: Callable[[str], None], folder: Path) -> None:
    provide("node")
    folder.mkdir(exist_ok=True)
    for pin in (PINS / "clickhouse").iterdir():
        shutil.copy(pin, folder)
    _run(*runtimes.npm(parts), "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)
    _verify(folder, checksums(folder))


def checksums(folder: Path) -> dict[str, str]:
    """Return the checksum of each file, as sha256sum(1) wrote them."""
    return {name: checksum for checksum, name in map(str.split, (folder / _SUMS).read_text().splitlines())}


def _verify(folder: Path, checksums: dict[str, str]) -> None:
    for name, expected in checksums.items():
        with (folder / name).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise CounterflowError(f"{folder / name} has sha256 {found}, expected {expected}")


def _fetch_flink(parts: Path, report: Report, folder: Path) -> None:
    ours = "{}.{}".format(*sys.version_info)
    python = sys.executable if ours in _FLINK_PYTHONS else _FLINK_PYTHONS[-1]
    # compiled once: where Python is set to write no bytecode, each process would compile what it imports
    options = ("--frozen", "--compile-bytecode", "--only-group", "flink", "--no-install-project", "--python", python)
    environment = {"UV_PROJECT_ENVIRONMENT": str(folder)}
    _run(*_uv(), "sync", "--quiet", "--project", _CHECKOUT, *options, environment=environment)
    interpreter = folder / "bin/python"
    if not _succeeds(interpreter, "-m", "find_libpython"):  # Flink loads Python into its JVM, as pemja finds it
        name = f"lib{next(folder.glob('lib/python3*')).name}"
        reason = f"{interpreter.resolve()} has no shared library"
        _install(parts, _Download("libpython", (_LOCK,), partial(_fetch_library, name, reason), reason), report)
        link = folder / f"lib/{name}.so"  # one of the places where pemja looks for it
        link.unlink(missing_ok=True)
        link.symlink_to(next((parts / "libpython").glob(f"usr/lib/*/{name}.so.1.0")))


def _assemble(settings: StackSettings, folder: Path) -> None:
    """Fill `folder` with links to Flink's jars, for all of its processes: to send jars with each job takes longer."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    distribution, connector = settings.flink_distribution, settings.parts / "jars/flink-connector"
    for jar in (
        *distribution.glob("lib/*.jar"),
        *connector.glob("*.jar"),
        *distribution.glob("opt/flink-python-*.jar"),
    ):
        (folder / jar.name).symlink_to(jar)


def _fetch_library(name: str, reason: str, folder: Path) -> None:
    """Unpack a Debian library without root; where the machine's package lists lack it, update lists of our own."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "apt/lists/partial").mkdir(parents=True)
    own = ("-o", f"Dir::State::lists={folder / 'apt/lists'}", "-o", f"Dir::Cache={folder / 'apt'}")
    hint = f"sudo apt-get install {name}, or make PYTHON=... with a Python that was built with --enable-shared"
    if not shutil.which("apt-get"):
        raise CounterflowError(f"{reason}, which Flink needs", hint=hint)
    try:
        if not _succeeds("apt-get", "-qq", "download", name, cwd=folder):
            _run("apt-get", "-qq", *own, "update")
            _run("apt-get", "-qq", *own, "download", name, cwd=folder)
        for package in folder.glob("*.deb"):
            _run("dpkg", "-x", package, folder)
    except CounterflowError as error:
        raise CounterflowError(f"{reason}, which Flink needs and could not be fetched: {error}", hint=hint) from None


def _uv() -> tuple[str | Path, ...]:
    """Find uv: named by `UV`, on PATH, where `make setup` put it, or beside the interpreter; else install it there."""
    made = Path(os.environ.get("COUNTERFLOW_HOME", _CHECKOUT / ".counterflow")) / "uv/bin/uv"
    if found := os.environ.get("UV") or shutil.which("uv") or shutil.which(made):
        return (found,)
    beside = (sys.executable, "-m", "uv")
    if not _succeeds(*beside, "--version") and not _succeeds(sys.executable, "-m", "pip", "install", "--quiet", "uv"):
        raise CounterflowError("uv is missing", hint="make setup installs it")
    return beside


def _succeeds(*command: str | Path, cwd: Path | None = None) -> bool:
    return subprocess.run(command, cwd=cwd, capture_output=True, check=False).returncode == 0


def _run(*command: str | Path, cwd: Path | None = None, environment: dict[str, str] | None = None) -> None:
    """Run a program, with `environment` added to ours; raises `CounterflowError` with the reasons in its output."""
    ours = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    env = ours | (environment or {})
    result = subprocess.run(
        command, cwd=cwd, env=env, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if result.returncode:
        lines = result.stdout.strip().splitlines() or ["it printed nothing"]
        reasons = [line.strip() for line in lines if re.search("error|cause|no space", line, re.IGNORECASE)]
        raise CounterflowError(
            f"{Path(command[0]).name} ended with status {result.returncode}: {'; '.join(reasons[:3] or lines[-1:])}",
            hint=" ".join(str(word) for word in command),
        )


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold a lock file, so that no two commands install, start or stop the same thing at once."""
    lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    install(StackSettings.from_environment(), print)
