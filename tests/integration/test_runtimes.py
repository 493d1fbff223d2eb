"""What `up` installs, really installed and run: on a bare machine, again after an interruption, and what is refused."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from counterflow.base.errors import CounterflowError
from counterflow.stack import lifecycle, supervision
from counterflow.stack.install import install
from counterflow.stack.settings import StackSettings


@pytest.fixture
def nothing_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH without Java, Node and npm; uv is where the Makefile states."""
    monkeypatch.setenv("UV", os.environ.get("UV") or shutil.which("uv") or "uv")
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    monkeypatch.delenv("JAVA_HOME", raising=False)


def parts_of(bare: StackSettings, folder: Path, *installed: str) -> Path:
    """Return a folder of parts, some of which are installed already: those of the checkout."""
    parts = folder / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    for name in installed:
        (parts / name).symlink_to(bare.parts / name)
        shutil.copy(bare.parts / f"{name}.installed", parts)
    return parts


@pytest.mark.usefixtures("clickhouse", "nothing_on_path")
def test_a_bare_machine_installs_what_it_lacks_and_runs_it(
    bare: StackSettings, new_stack: Callable[[], StackSettings], tmp_path: Path
) -> None:
    parts = parts_of(bare, tmp_path, "flink-venv", "flink-library")  # these are the same everywhere
    settings = new_stack().model_copy(update={"parts": parts})
    messages: list[str] = []
    lifecycle.start(settings, "kafka", "clickhouse", report=messages.append)
    try:
        java = Path(psutil.Process(supervision.states(settings)["kafka"].pid).exe())
        assert java.is_relative_to(parts / "java")
    finally:
        lifecycle.down(settings)
    assert {line for line in messages if line.startswith("installing")} == {
        "installing java (java is not on PATH) ...",
        "installing maven ...",
        "installing node (node is not on PATH) ...",
        "installing jars ...",
        "installing clickhouse ...",
    }
    messages.clear()
    install(settings, messages.append)
    assert messages == []


@pytest.mark.usefixtures("nothing_on_path")
def test_what_cannot_be_installed_is_named_with_the_way_out(
    bare: StackSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV", "/bin/false")
    settings = bare.model_copy(update={"parts": tmp_path / "parts"})
    with pytest.raises(CounterflowError) as refused:
        install(settings, lambda _: None)
    assert str(refused.value) == (
        f"java is not on PATH, and could not be installed in {tmp_path}/parts/java: "
        "false ended with status 1: it printed nothing"
    )
    assert refused.value.hint == "install java and put it on PATH"


def test_a_jar_that_differs_from_its_checksum_is_refused(
    bare: StackSettings, tmp_path: Path, clickhouse: StackSettings
) -> None:
    """The client of Maven repositories that is installed already gives files with a byte too many."""
    jars, parts = bare.parts / "jars", parts_of(bare, tmp_path, "flink-venv", "flink-library", "clickhouse")
    client = parts / "maven/maven_artifact/main.py"
    client.parent.mkdir(parents=True)
    client.write_text(
        "import sys\nfrom pathlib import Path\n"
        f"to = Path(sys.argv[2])\n[jar] = Path({str(jars)!r}).glob('*/' + to.name)\n"
        "to.write_bytes(jar.read_bytes() + (b'x' if to.name == 're2j-1.8.jar' else b''))\n"
    )
    shutil.copy(bare.parts / "flink-venv.installed", parts / "maven.installed")  # both have the digest of uv.lock
    with pytest.raises(CounterflowError, match=r"jars/kafka/re2j-1\.8\.jar has sha256 [0-9a-f]{64}, expected "):
        install(clickhouse.model_copy(update={"parts": parts}), lambda _: None)
    assert not (parts / "jars.installed").exists()


def test_an_interrupted_installation_starts_again(
    bare: StackSettings, clickhouse: StackSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = parts_of(bare, tmp_path, "jars", "flink-venv")
    broken = tmp_path / "bin" / "npm"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\nmkdir node_modules\necho npm error network unreachable\nexit 1\n")
    broken.chmod(0o755)
    (broken.parent / "node").symlink_to(broken)
    settings = bare.model_copy(update={"parts": parts})
    messages: list[str] = []
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{broken.parent}:{os.environ['PATH']}")
        with pytest.raises(CounterflowError, match="npm ended with status 1: npm error network unreachable"):
            install(settings, messages.append)
    install(settings, messages.append)
    assert [line.split()[:2] for line in messages] == [
        ["installing", "clickhouse"],
        ["installing", "clickhouse"],
        ["installed", "clickhouse"],
        ["installing", "flink-library"],
        ["installed", "flink-library"],
    ]
    messages.clear()
    install(settings, messages.append)
    assert messages == []


def test_uv_is_found_where_make_setup_put_it(
    bare: StackSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell of a user who ran `make setup`: no uv on PATH and no variable that names it."""
    uv = tmp_path / "uv/bin/uv"
    uv.parent.mkdir(parents=True)
    uv.write_text("#!/bin/sh\necho error: this uv was run\nexit 1\n")
    uv.chmod(0o755)
    parts = parts_of(bare, tmp_path, "jars", "clickhouse", "flink-library")
    path = [folder for folder in os.environ["PATH"].split(":") if not (Path(folder) / "uv").exists()]
    monkeypatch.setenv("PATH", ":".join(path))
    monkeypatch.delenv("UV", raising=False)
    monkeypatch.setenv("COUNTERFLOW_HOME", str(tmp_path))
    with pytest.raises(CounterflowError, match="error: this uv was run"):
        install(bare.model_copy(update={"parts": parts}), print)
