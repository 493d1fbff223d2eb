"""Two engines of the stack as two shards of one cluster, over their native protocol on the loopback.

The stack itself never starts the native listener: a wrong password on it would end the engine. Here both engines know
the right ones, and nobody else connects.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from counterflow.base.clickhouse import ClickHouse
from counterflow.schemas.sharding import LOCAL
from counterflow.stack import clickhouse
from counterflow.stack.settings import HOST, StackSettings
from tests.conftest import free_settings

CLUSTER = "counterflow"
_SERVE = """
from counterflow.stack import clickhouse_server
clickhouse_server._SQL = "SYSTEM START LISTEN TCP; " + clickhouse_server._SQL
clickhouse_server.main()
"""


@dataclass
class Shard:
    """One engine: its settings, the port of its native listener, and its process while it runs."""

    name: str
    settings: StackSettings
    native_port: int
    process: subprocess.Popen[bytes] | None = field(default=None)

    def start(self) -> None:
        """Start the engine and wait until it answers."""
        environment = {**os.environ, **self.settings.environment}
        with (self.settings.logs / "engine.log").open("ab") as log:
            self.process = subprocess.Popen([sys.executable, "-c", _SERVE], env=environment, stderr=log)
        end = time.monotonic() + 60
        with self.client() as client:
            while not client.ping():
                assert self.process.poll() is None, (self.settings.logs / "engine.log").read_text()[-2000:]
                assert time.monotonic() < end, f"shard {self.name} does not answer"
                time.sleep(0.1)

    def kill(self) -> None:
        """Kill the engine, as a crash would."""
        if self.process:
            self.process.kill()
            self.process.wait()

    def client(self, user: str = "admin") -> ClickHouse:
        """Connect over HTTP."""
        return self.settings.clickhouse(user)


@dataclass
class Shards:
    """The shards `a` and `b`."""

    a: Shard
    b: Shard
    folder: Path

    def __iter__(self) -> Iterator[Shard]:
        """Yield both."""
        yield from (self.a, self.b)

    def map_file(self, *rules: dict[str, Any]) -> Path:
        """Write a map of both with these rules; return its path."""
        path = self.folder / "shards.yaml"
        path.write_text(
            yaml.safe_dump({"shards": {s.name: s.settings.clickhouse_url for s in self}, "rules": [*rules]})
        )
        return path


@contextmanager
def two_shards(folder: Path, parts: Path) -> Iterator[Shards]:
    """Start two engines with all tables, whose users have the same passwords; end them afterwards."""
    first, second = (free_settings(folder / name, parts) for name in ("a", "b"))
    second = second.model_copy(update={"secrets": first.secrets})
    shards = Shards(*(Shard(s.home.name, s, s.flink_rpc_port) for s in (first, second)), folder)  # a port nobody uses
    try:
        for shard in shards:
            shard.settings.logs.mkdir(parents=True)
            shard.settings.stack_file.write_text(shard.settings.model_dump_json())
            clickhouse.configure(shard.settings)
            _join(shard, [s.native_port for s in shards])
            shard.start()
        urls = [f"--url={shard.settings.clickhouse_url}" for shard in shards]
        password = f"--password-file={first.secrets / 'clickhouse-migrator'}"
        command = [
            sys.executable,
            "-m",
            "counterflow",
            "dev",
            "migrate",
            f"--cluster={CLUSTER}",
            "--unreplicated",
            password,
        ]
        subprocess.run([*command, *urls], env={**os.environ, **first.environment}, check=True, capture_output=True)
        yield shards
    finally:
        for shard in shards:
            shard.kill()


def _join(shard: Shard, ports: list[int]) -> None:
    """Join an engine to the cluster, as a server's configuration does."""
    password = shard.settings.clickhouse_password("admin")
    replicas = "".join(
        f"<shard><replica><host>{HOST}</host><port>{port}</port><user>admin</user><password>{password}</password>"
        "</replica></shard>"
        for port in ports
    )
    more = f"<tcp_port>{shard.native_port}</tcp_port><remote_servers><{CLUSTER}>{replicas}</{CLUSTER}></remote_servers>"
    config = shard.settings.clickhouse_home / "config.xml"
    config.write_text(config.read_text().replace("</clickhouse>", f"{more}</clickhouse>"))
    users = shard.settings.clickhouse_home / "users.xml"
    again = rf"\g<0><query>\g<1>{LOCAL}.*</query>"
    text = re.sub(r"<query>(GRANT [^<]* ON )counterflow\.\*</query>", again, users.read_text())
    of_all = "<query>GRANT TABLE ENGINE ON Distributed</query><query>GRANT READ, WRITE ON REMOTE</query>"
    users.write_text(text.replace("<query>GRANT CREATE DATABASE", f"{of_all}<query>GRANT CREATE DATABASE", 1))
