"""Apache Flink as a standalone cluster: one JobManager, one TaskManager, from the distribution inside PyFlink.

Both are started directly as Java programs. At each start the distribution's scripts would run one JVM to compute memory
sizes and another to compute JVM options, which takes more than half as long as the start itself.
"""

from __future__ import annotations

import os
from collections.abc import Sequence, Set
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import yaml

from counterflow.pipelines.jobs import rest
from counterflow.stack import certificate
from counterflow.stack.launch import Run, scratch
from counterflow.stack.part import IDLE_SLACK_MS, Part
from counterflow.stack.runtimes import java_command
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


_METASPACE, _DIRECT = "256m", "224m"
"""Metaspace of each JVM; the TaskManager's memory outside its heap: `framework.off-heap` and `network`."""
_JOBMANAGER_HEAP = "448m"
_FRAMEWORK_HEAP_MB = 128
"""Of the TaskManager's heap; the rest is `task.heap`."""
_STATE = "64m"
"""Caches and write buffers of RocksDB, of all jobs together. Its indexes and filters are partitioned, since a
whole one is too large for a shard of the cache: docs/decisions/0010-cost-of-a-row.md."""
_YOUNG, _HEAP_AT_FIRST = "266m", "416m"
"""The old generation is collected once it fills 150 MB, not 534: memory that was ever used stays resident. The heap
grows where jobs hold more."""
_ARENAS = "4"
"""Malloc keeps the memory that RocksDB freed in each of its arenas, of which there are 16 by default on two cores."""
_LATE = (
    "InvocationThreshold=50000",
    "MinInvocationThreshold=6000",
    "CompileThreshold=150000",
    "BackEdgeThreshold=400000",
)
"""Ten times the default: the optimising compiler compiles Flink's generated code once rows arrive, not during start-up.
That saves 8 of 33 CPU seconds of a start, and a million rows of `disk_load` take 20 instead of 22."""
_RPC = (
    "-Dpekko.scheduler.tick-duration=50ms",
    "-Dpekko.remote.classic.netty.tcp.write-buffer-high-water-mark=4MiB",
)
"""Timers of Flink's RPC tick 20 times a second instead of 100. A write that the connection's buffer refuses is repeated
at a tick, so the buffer holds the deployment of a whole job."""


def jobmanager(settings: StackSettings) -> Part:
    """Describe the JobManager, which also serves the REST interface."""
    # The JobManager computes nothing: without the optimising compiler its start takes 40 % less CPU time.
    options = (f"-Xmx{_JOBMANAGER_HEAP}", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
    return Part(
        name="jobmanager",
        command=_java(settings, "jobmanager", options, "entrypoint.StandaloneSessionClusterEntrypoint"),
        ready=lambda _: _jobs(settings),
        ports=(settings.flink_port, settings.flink_rpc_port),
        prepare=lambda: _prepare(settings),
        environment=settings.flink_environment,
        slack_ms=IDLE_SLACK_MS,
    )


def taskmanager(settings: StackSettings) -> Part:
    """Describe the TaskManager; ready when the JobManager has its slots."""
    heap = (
        f"-Xms{_HEAP_AT_FIRST}",
        f"-Xmx{settings.flink_heap_mb}m",
        f"-Xmn{_YOUNG}",
        f"-XX:MaxDirectMemorySize={_DIRECT}",
    )
    # G1 tracks every reference write, which makes JSON a tenth more expensive. The parallel collector reserves 8 kB of
    # the old generation in each of its threads at every collection, and leaves what it did not use as garbage.
    options = (*heap, *(f"-XX:Tier4{name}" for name in _LATE), "-XX:+UseSerialGC")
    return Part(
        name="taskmanager",
        command=_java(settings, "taskmanager", options, "taskexecutor.TaskManagerRunner"),
        ready=lambda listening: _slots(settings, listening),
        prepare=lambda: _prepare(settings),
        environment={
            **settings.flink_environment,
            "MALLOC_ARENA_MAX": _ARENAS,
            # Python within the JVM takes its standard library from the `python3` that PATH names first.
            "PATH": f"{settings.flink_python.parent}{os.pathsep}{os.defpath}",
        },
    )


def _java(settings: StackSettings, part: str, options: Sequence[str], program: str) -> tuple[str, ...]:
    jars = ":".join(str(jar) for jar in sorted(settings.flink_library.glob("*.jar")))
    conf = settings.flink_home / "conf"
    logging = f"-Dlog4j.configurationFile=file:{conf / 'log4j-console.properties'}"
    own = (f"-XX:MaxMetaspaceSize={_METASPACE}", f"-Djava.io.tmpdir={scratch(settings.home, part)}")
    opened = _opened(settings.flink_distribution).split()
    main = (f"org.apache.flink.runtime.{program}", "--configDir", str(conf))
    return (*java_command(settings.parts), *own, *options, *_RPC, *opened, logging, "-classpath", jars, *main)


@cache  # every status request describes all parts
def _opened(distribution: Path) -> str:
    """Return the options that open the JVM's modules to Flink, from Flink's default configuration."""
    return str(yaml.safe_load((distribution / "conf/config.yaml").read_text())["env"]["java"]["opts"]["all"])


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
    if certificate.renew(settings):  # a process with the old certificate and one with the new reject each other
        for part in ("jobmanager", "taskmanager"):
            Run.read(settings.home, part).end()
    private(home / "conf/config.yaml", yaml.safe_dump(_config(settings), sort_keys=False, width=10_000))
    private(home / "conf/log4j-console.properties", LOG4J)


def _config(settings: StackSettings) -> dict[str, Any]:
    home = settings.flink_home
    return {
        # read by drivers, whose JVMs PyFlink starts
        "env": {
            "java": {"opts": {"all": _opened(settings.flink_distribution)}},
            "log": {"dir": str(settings.logs)},
        },
        "jobmanager": {
            "bind-host": HOST,
            "rpc": {"address": HOST, "port": settings.flink_rpc_port},
            "memory": {"heap": {"size": _JOBMANAGER_HEAP}, "jvm-metaspace": {"size": _METASPACE}},
            "execution": {"failover-strategy": "region"},
        },
        "taskmanager": {
            "bind-host": HOST,
            "host": HOST,
            "numberOfTaskSlots": settings.flink_slots,
            "cpu": {"cores": float(settings.flink_slots)},
            "memory": {
                "framework": {"heap": {"size": f"{_FRAMEWORK_HEAP_MB}m"}, "off-heap": {"size": "128m"}},
                "task": {
                    "heap": {"size": f"{settings.flink_heap_mb - _FRAMEWORK_HEAP_MB}m"},
                    "off-heap": {"size": "0m"},
                },
                "managed": {"size": "128m"},
                "network": {"min": "96m", "max": "96m"},
                "jvm-overhead": {"min": "192m", "max": "192m"},
                "jvm-metaspace": {"size": _METASPACE},
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
            "backend": {
                "type": "hashmap",
                "rocksdb": {"memory": {"fixed-per-tm": _STATE, "partitioned-index-filters": True}},
            }
        },
        "execution": {
            "checkpointing": {
                "dir": settings.flink_checkpoints.as_uri(),
                "savepoint-dir": (home / "savepoints").as_uri(),
                "interval": "30s",
                "mode": "EXACTLY_ONCE",
                "min-pause": "1s",
                "timeout": "2min",
                "tolerable-failed-checkpoints": 10,
                "num-retained": 2,
                "externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
            }
        },
        # Jobs wait for a TaskManager that is starting. By default, from five minutes after the JobManager's start, each
        # attempt fails that finds no slot, which doubles the back-off: a job could wait half a minute for nothing.
        "resourcemanager": {"standalone": {"start-up-time": "200 d"}},
        "restart-strategy": {
            "type": "exponential-delay",
            "exponential-delay": {
                "initial-backoff": "1s",
                "max-backoff": "10s",
                "backoff-multiplier": 2.0,
                "reset-backoff-threshold": "5min",
                "jitter-factor": 0.1,
            },
        },
        "security": {"ssl": _tls(settings)},
        "blob": {"server": {"port": str(settings.flink_blob_port)}},
        # Between every job and the TaskManager. The jobs of a killed JobManager wait until one is missed; to a killed
        # TaskManager the next one fails, since nothing listens.
        "heartbeat": {"interval": 10000, "timeout": 17000, "rpc-failure-threshold": 1},
        # eight threads by default, several of which each message wakes
        "pekko": {f"{kind}fork-join-executor": {"parallelism-max": 2} for kind in ("", "remote-")},
        # the web interface accepts no jars; drivers still submit over REST
        "web": {"submit": {"enable": False}},
    }


def _tls(settings: StackSettings) -> dict[str, Any]:
    """Return the options of TLS: each side presents the stack's certificate, at every port, and trusts no other."""
    store, password = str(certificate.store(settings)), certificate.password(settings)
    names = ("keystore", "truststore")
    stores = {**dict.fromkeys(names, store), **dict.fromkeys((f"{name}-password" for name in names), password)}
    stores["key-password"] = password
    return {
        "protocol": "TLSv1.3",
        # AES is slow without the optimising compiler, which the JobManager lacks
        "algorithms": "TLS_CHACHA20_POLY1305_SHA256",
        "internal": {"enabled": True, **stores},
        "rest": {"enabled": True, "authentication-enabled": True, **stores},
    }
