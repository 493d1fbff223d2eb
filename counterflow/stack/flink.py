"""Apache Flink as a standalone cluster: one JobManager, one TaskManager, from the distribution inside PyFlink."""

from __future__ import annotations

import os
from collections.abc import Set
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import yaml

from counterflow.pipelines.submission import rest
from counterflow.stack import certificate
from counterflow.stack.part import Part, scratch
from counterflow.stack.secret import private
from counterflow.stack.settings import HOST, StackSettings

LOG4J = """\
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = Console
appender.console.name = Console
appender.console.type = CONSOLE
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd'T'HH:mm:ss,SSS} %-5p %c{1} - %m%n
logger.pekko.name = org.apache.pekko
logger.pekko.level = WARN
logger.kafka.name = org.apache.kafka
logger.kafka.level = WARN
logger.shaded.name = org.apache.flink.kafka.shaded.org.apache.kafka
logger.shaded.level = WARN
"""


_FRAMEWORK_HEAP_MB = 128
"""Flink's default share of the TaskManager's heap; the rest is `task.heap`."""
_STATE = "64m"
"""Caches and write buffers of RocksDB, of all jobs together. Its indexes and filters are partitioned, since a
whole one is too large for a shard of the cache: three million rows of `io_mix` took 161 CPU seconds, partitioned 88."""


def jobmanager(settings: StackSettings) -> Part:
    """Describe the JobManager, which also serves the REST interface."""
    return Part(
        name="jobmanager",
        command=_foreground(settings, "jobmanager.sh"),
        ready=lambda _: _jobs(settings),
        ports=(settings.flink_port, settings.flink_rpc_port),
        prepare=lambda: _prepare(settings),
        environment=_environment(settings, "jobmanager"),
    )


def taskmanager(settings: StackSettings) -> Part:
    """Describe the TaskManager; ready when the JobManager has its slots."""
    return Part(
        name="taskmanager",
        command=_foreground(settings, "taskmanager.sh"),
        ready=lambda listening: _slots(settings, listening),
        prepare=lambda: _prepare(settings),
        environment={
            **_environment(settings, "taskmanager"),
            # Python within the JVM takes its standard library from the `python3` that PATH names first.
            "PATH": f"{settings.flink_python.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        },
    )


def _foreground(settings: StackSettings, script: str) -> tuple[str, str]:
    """Return the command of a script of the distribution, which becomes the JVM."""
    return str(settings.flink_distribution / "bin" / script), "start-foreground"


def _environment(settings: StackSettings, part: str) -> dict[str, str]:
    return {**settings.flink_environment, "JVM_ARGS": f"-Djava.io.tmpdir={scratch(settings.home, part)}"}


def client(settings: StackSettings) -> httpx.Client:
    """Open Flink's REST interface with the stack's certificate; raises `OSError` where there is none."""
    return rest.client(settings.flink_url, settings.flink_certificate, timeout_s=5)


def _get(settings: StackSettings, path: str) -> Any | None:
    try:
        with client(settings) as http:
            return http.get(path).raise_for_status().json()
    except (httpx.HTTPError, OSError):
        return None


def _jobs(settings: StackSettings) -> str | None:
    overview = _get(settings, "/overview")
    return overview and f"Flink {overview['flink-version']}, {overview['jobs-running']} jobs running"


def _slots(settings: StackSettings, listening: Set[int]) -> str | None:
    """Find the TaskManager by its port: after a restart the JobManager lists the dead one for a while."""
    for found in (_get(settings, "/taskmanagers") or {"taskmanagers": []})["taskmanagers"]:
        address = urlsplit(found["path"])  # pekko.ssl.tcp://flink@127.0.0.1:36577/user/rpc/taskmanager_0
        if address.port in listening and found["slotsNumber"]:
            return f"{found['freeSlots']} of {found['slotsNumber']} slots free"
    return None


def _prepare(settings: StackSettings) -> None:
    home = settings.flink_home
    for folder in ("conf", "checkpoints", "savepoints"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    certificate.make(settings)
    private(home / "conf/config.yaml", yaml.safe_dump(_config(settings), sort_keys=False, width=10_000))
    private(home / "conf/log4j-console.properties", LOG4J)


def _config(settings: StackSettings) -> dict[str, Any]:
    home = settings.flink_home
    return {
        "env": {
            # The serial collector enlarges the heap for live data alone.
            "java": {"opts": {"all": f"{_opened(settings.flink_distribution)} -XX:+UseSerialGC", "client": "-Xmx256m"}},
            "log": {"dir": str(settings.logs)},
            "pid": {"dir": str(home)},
        },
        "jobmanager": {
            "bind-host": HOST,
            "rpc": {"address": HOST, "port": settings.flink_rpc_port},
            "memory": {"heap": {"size": "448m"}},
        },
        "taskmanager": {
            "bind-host": HOST,
            "host": HOST,
            "numberOfTaskSlots": settings.flink_slots,
            "memory": {
                "task": {"heap": {"size": f"{settings.flink_heap_mb - _FRAMEWORK_HEAP_MB}m"}},
                "managed": {"size": "128m"},
                "network": {"min": "96m", "max": "96m"},
            },
        },
        "parallelism": {"default": 1},
        "rest": {
            "address": HOST,
            "bind-address": HOST,
            "port": settings.flink_port,
            "bind-port": str(settings.flink_port),
        },
        "state": {
            "backend": {"rocksdb": {"memory": {"fixed-per-tm": _STATE, "partitioned-index-filters": True}}},
        },
        "execution": {
            "checkpointing": {
                "dir": settings.flink_checkpoints.as_uri(),
                "num-retained": 2,  # the JobManager takes this from here alone: a damaged checkpoint needs an older one
                "savepoint-dir": (home / "savepoints").as_uri(),
            }
        },
        # Jobs wait for a TaskManager that is starting. By default, from five minutes after the JobManager's start, each
        # attempt fails that finds no slot, which doubles the back-off: a job could wait half a minute for nothing.
        "resourcemanager": {"standalone": {"start-up-time": "200 d"}},
        "restart-strategy": {
            "type": "exponential-delay",
            "exponential-delay": {"max-backoff": "10s", "reset-backoff-threshold": "5min"},
        },
        "security": {"ssl": _tls(settings)},
        "blob": {"server": {"port": str(settings.flink_blob_port)}},
        # Two heartbeats in a row that reach nobody reveal a killed process: after 10 s, by default after 20. A process
        # that lives may answer late: by default a heartbeat within 50 s, a request within 10. While a TaskManager
        # restores seven jobs on busy processors it needs longer for a request; Flink would give it up and begin again.
        "heartbeat": {"interval": 5000},
        "pekko": {"ask": {"timeout": "1 min"}},
        # the web interface accepts no jars; Flink's client still submits over REST
        "web": {"submit": {"enable": False}},
    }


def _opened(distribution: Path) -> str:
    """Return the options that open the JVM's modules to Flink, from Flink's default configuration."""
    return str(yaml.safe_load((distribution / "conf/config.yaml").read_text())["env"]["java"]["opts"]["all"])


def _tls(settings: StackSettings) -> dict[str, Any]:
    """Return the options of TLS: each side presents the stack's certificate, at every port, and trusts no other."""
    store, password = str(certificate.store(settings)), certificate.password(settings)
    names = ("keystore", "truststore")
    stores = {**dict.fromkeys(names, store), **dict.fromkeys((f"{name}-password" for name in names), password)}
    stores["key-password"] = password
    return {
        "protocol": "TLSv1.3",
        "algorithms": "TLS_AES_256_GCM_SHA384",  # by default only some of TLS 1.2, with keys of another kind
        "internal": {"enabled": True, **stores},
        "rest": {"enabled": True, "authentication-enabled": True, **stores},
    }
