"""Recordings elsewhere: an S3 server over HTTP, a real sshd and a web server with TLS, through the command line."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import boto3
import psutil
import pytest
from moto.server import ThreadedMotoServer

from counterflow.base.errors import CounterflowError
from counterflow.collectors.sources.remote import mirror
from tests.support.agents import assert_exactly_once
from tests.support.command_line import run, run_apart
from tests.support.dds import Authority
from tests.support.memory_broker import Broker
from tests.support.ports import free_ports, is_free
from tests.support.reading import read_file
from tests.support.recordings import RECORDINGS
from tests.support.waiting import PATIENCE_S, until
from tests.support.web import serving

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLE = RECORDINGS / "linux_16n_plain.nmon"
HOST = "127.0.0.1"


def lines(*words: str | Path, **environment: str) -> list[str]:
    done = run("look", "--records", *words, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def store() -> Iterator[dict[str, str]]:
    """A real S3 server with a bucket `perf`: the environment in which it is found."""
    server = ThreadedMotoServer(HOST, port=0, verbose=False)
    server.start()
    try:
        address, port = server.get_host_and_port()
        found = {"AWS_ENDPOINT_URL": f"http://{address}:{port}", "AWS_DEFAULT_REGION": "us-east-1"}
        found |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
        with pytest.MonkeyPatch.context() as patched:
            for name, value in found.items():
                patched.setenv(name, value)
            client = boto3.client("s3")
            client.create_bucket(Bucket="perf")
            client.put_object(Bucket="perf", Key="2026/one.nmon", Body=SAMPLE.read_bytes())
            client.put_object(Bucket="perf", Key="2026/two.nmon", Body=SAMPLE.read_bytes())
            client.put_object(Bucket="perf", Key="2026/.hidden", Body=b"x")
            client.close()
            yield found
    finally:
        server.stop()


def test_a_folder_and_a_pattern_of_an_object_store_are_read_as_local_files(store: dict[str, str]) -> None:
    own = lines(SAMPLE)
    assert lines("s3://perf/2026", **store) == own * 2
    assert lines("s3://perf/*/t*.nmon", **store) == own
    nothing = run("look", "--records", "s3://perf/2027", **store)
    assert nothing.returncode != 0
    assert "s3://perf/2027" in nothing.stderr
    assert "Traceback" not in nothing.stderr


class Server(NamedTuple):
    """A running sshd: the folder that it shows, its address and the environment with key and known hosts."""

    folder: Path
    url: str
    environment: dict[str, str]
    log: Path


@pytest.fixture(scope="module")
def sshd() -> Iterator[Server]:
    unpacked = REPOSITORY / ".counterflow/openssh"
    program = shutil.which("sshd") or shutil.which("/usr/sbin/sshd") or str(unpacked / "usr/sbin/sshd")
    assert Path(program).exists(), "there is no sshd: make openssh"
    # root would need an account for privilege separation; under systemd the account `nobody` is locked
    user = pwd.getpwnam("daemon") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    folder = Path(tempfile.mkdtemp(prefix="counterflow-sshd-"))
    folder.chmod(0o755)
    for name in ("host", "client"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name]
        subprocess.run(words, check=True, capture_output=True)
    shutil.copy(folder / "client.pub", folder / "authorized")
    [port] = free_ports(1)
    (folder / "config").write_text(
        f"Port {port}\nListenAddress {HOST}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\n"
        "StrictModes no\nPasswordAuthentication no\nPidFile none\n"
        "Subsystem sftp internal-sftp\nForceCommand internal-sftp\n"
    )
    if os.geteuid() == 0:
        for path in folder.iterdir():
            os.chown(path, user.pw_uid, user.pw_gid)
    (folder / "known").write_text(f"[{HOST}]:{port} {(folder / 'host.pub').read_text()}")
    shown = folder / "perf"
    shown.mkdir()
    log = folder / "log"
    library = unpacked / "usr/lib" / f"{os.uname().machine}-linux-gnu"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [program, "-D", "-e", "-f", str(folder / "config")],
            stdout=out,
            stderr=out,
            user=user.pw_uid,
            group=user.pw_gid,
            extra_groups=[],
            env={**os.environ, "LD_LIBRARY_PATH": str(library)},
        )
    try:
        until(lambda: not is_free(port), log)
        key = folder / "own-key"  # of this process: a key that others can read is refused
        shutil.copy(folder / "client", key)
        key.chmod(0o600)
        places = {"COUNTERFLOW_SSH_KEY": str(key), "COUNTERFLOW_KNOWN_HOSTS": str(folder / "known")}
        yield Server(shown, f"sftp://{user.pw_name}@{HOST}:{port}{shown}", places, log)
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        shutil.rmtree(folder)


def test_a_server_whose_key_is_not_known_is_refused(sshd: Server, tmp_path: Path) -> None:
    shutil.copy(SAMPLE, sshd.folder / "known.nmon")
    no_hosts = tmp_path / "known_hosts"
    no_hosts.touch()
    done = run(
        "look", "--records", f"{sshd.url}/known.nmon", **sshd.environment | {"COUNTERFLOW_KNOWN_HOSTS": str(no_hosts)}
    )
    assert done.returncode != 0
    assert done.stdout == ""
    assert "not found in known_hosts" in done.stderr
    assert "ssh-keyscan" in done.stderr
    assert lines(f"{sshd.url}/known.nmon", **sshd.environment) == lines(SAMPLE)


def test_a_growing_file_is_appended_to_and_one_written_anew_is_fetched_anew(sshd: Server, tmp_path: Path) -> None:
    file = sshd.folder / "grows.nmon"
    text = SAMPLE.read_bytes()
    half = text.index(b"\n", len(text) // 2) + 1
    file.write_bytes(text[:half])
    copy, log = tmp_path / "copies", tmp_path / "log"

    def copied(content: bytes) -> bool:
        return [path.read_bytes() for path in copy.rglob("grows.nmon")] == [content]

    with log.open("wb") as out:
        words = ("fetch", f"{sshd.url}/grows.*", "--to", str(copy), "--follow", "1")
        command = [sys.executable, "-m", "counterflow", *words]
        fetching = subprocess.Popen(command, env={**os.environ, **sshd.environment}, stdout=out, stderr=out)
    try:
        until(lambda: copied(text[:half]), log)
        [before] = [path.stat().st_ino for path in copy.rglob("grows.nmon")]
        with file.open("ab") as more:
            more.write(text[half:])
        until(lambda: copied(text), log)
        assert [path.stat().st_ino for path in copy.rglob("grows.nmon")] == [before]
        file.write_bytes(text[::-1])
        os.utime(file, (0, file.stat().st_mtime + 2))  # SFTP has whole seconds
        until(lambda: copied(text[::-1]), log)
    finally:
        fetching.terminate()
        fetching.wait(PATIENCE_S)


def test_no_connection_is_left_open(sshd: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(SAMPLE, sshd.folder / "closed.nmon")
    port = urlsplit(sshd.url).port
    for name, value in sshd.environment.items():
        monkeypatch.setenv(name, value)
    for _ in range(3):
        assert mirror(f"{sshd.url}/closed.nmon", tmp_path)
        with pytest.raises(CounterflowError):
            mirror(f"{sshd.url}/no such file", tmp_path)
    monkeypatch.setenv("COUNTERFLOW_KNOWN_HOSTS", os.devnull)
    with pytest.raises(CounterflowError, match="known_hosts"):
        mirror(f"{sshd.url}/closed.nmon", tmp_path)
    own = psutil.Process().net_connections("tcp")
    assert [found.status for found in own if found.raddr and found.raddr[1] == port] == []


def test_publishing_goes_on_where_the_remote_file_was(
    sshd: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = Broker.used_by_agents(monkeypatch)
    (tmp_path / "kafka-agent").write_text("unused")
    file = sshd.folder / "published.nmon"
    text = SAMPLE.read_bytes()
    cut = text.index(b"ZZZZ,T0016")
    words = ("publish", f"{sshd.url}/published.nmon", "--agent-id", "over-sftp", "--json")
    places = {"COUNTERFLOW_HOME": str(tmp_path), "COUNTERFLOW_SECRETS": str(tmp_path)}
    places |= {"COUNTERFLOW_KAFKA_BOOTSTRAP": "127.0.0.1:1"}
    for content in (text[:cut], text, text):
        file.write_bytes(content)
        os.utime(file, (0, len(content)))
        done = run(*words, **places, **sshd.environment)
        assert done.returncode == 0, done.stderr
    assert '"skipped":["' in done.stdout
    assert_exactly_once(broker.rows("over-sftp"), read_file(SAMPLE, UTC))


def test_a_web_server_is_read_over_tls_whose_certificate_is_checked(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with serving(lambda request: request.reply(200, SAMPLE.read_bytes()), tls=authority.server_context()) as address:
        url = f"{address}/a.nmon"
        read = run_apart("look", "--records", url, SSL_CERT_FILE=str(authority.authority))
        assert read.stdout.splitlines() == lines(SAMPLE)
        refused = run("look", "--records", url)
        assert refused.returncode != 0
        assert "CERTIFICATE_VERIFY_FAILED" in refused.stderr


def test_a_password_in_an_address_is_refused(tmp_path: Path) -> None:
    done = run("fetch", "sftp://me:secret@host.example/perf", "--to", tmp_path)
    assert done.returncode == 2
    assert "an address holds no password" in done.stderr
    assert "secret" not in done.stderr
