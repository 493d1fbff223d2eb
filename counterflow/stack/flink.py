"""Apache Flink as a standalone cluster: one JobManager, one TaskManager, from the distribution inside PyFlink."""

from __future__ import annotations

from collections.abc import Set
from typing import Any
from urllib.parse import urlsplit

import httpx
import yaml

from counterflow.stack.part import Part
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


def jobmanager(settings: StackSettings) -> Part:
    """Describe the JobManager, which also serves the REST interface."""
    return Part(
        name="jobmanager",
        command=(str(settings.flink_distribution / "bin/jobmanager.sh"), "start-foreground"),
        ready=lambda _: _jobs(settings),
        ports=(settings.flink_port, settings.flink_rpc_port),
        prepare=lambda: _prepare(settings),
        environment=settings.flink_environment,
    )


def taskmanager(settings: StackSettings) -> Part:
    """Describe the TaskManager; ready when the JobManager has its slots."""
    return Part(
        name="taskmanager",
        command=(str(settings.flink_distribution / "bin/taskmanager.sh"), "start-foreground"),
        ready=lambda listening: _slots(settings, listening),
        environment=settings.flink_environment,
    )


def _get(settings: StackSettings, path: str) -> Any | None:
    try:
        return httpx.get(f"{settings.flink_url}{path}", timeout=5, trust_env=False).raise_for_status().json()
    except httpx.HTTPError:
        return None


def _jobs(settings: StackSettings) -> str | None:
    overview = _get(settings, "/overview")
    return overview and f"Flink {overview['flink-version']}, {overview['jobs-running']} jobs running"


def _slots(settings: StackSettings, listening: Set[int]) -> str | None:
    """Find the TaskManager by its port: after a restart the JobManager lists the dead one for a while."""
    for found in (_get(settings, "/taskmanagers") or {"taskmanagers": []})["taskmanagers"]:
        address = urlsplit(found["path"])  # pekko.tcp://flink@127.0.0.1:36577/user/rpc/taskmanager_0
        if address.port in listening and found["slotsNumber"]:
            return f"{found['freeSlots']} of {found['slotsNumber']} slots free"
    return None


def _prepare(settings: StackSettings) -> None:
    home = settings.flink_home
    for folder in ("conf", "tmp", "checkpoints", "savepoints"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    (home / "conf/config.yaml").write_text(yaml.safe_dump(_config(settings), sort_keys=False, width=10_000))
    (home / "conf/log4j-console.properties").write_text(LOG4J)


def _config(settings: StackSettings) -> dict[str, Any]:
    home = settings.flink_home
    stock = yaml.safe_load((settings.flink_distribution / "conf/config.yaml").read_text())
    return {
        "env": {
            "java": {
                "opts": {
                    "all": stock["env"]["java"]["opts"]["all"],
                    # It computes nothing: without the optimising compiler it starts with 40 % less CPU time.
                    "jobmanager": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
                    # The default collector has every write of a reference noted: JSON costs it a tenth more.
                    "taskmanager": "-XX:+UseParallelGC",
                }
            },
            "log": {"dir": str(settings.logs)},
        },
        "jobmanager": {
            "bind-host": HOST,
            "rpc": {"address": HOST, "port": settings.flink_rpc_port},
            "memory": {
                "process": {"size": "1024m"},
                "jvm-metaspace": {"size": "256m"},
                "enable-jvm-direct-memory-limit": False,
            },
            "execution": {"failover-strategy": "region"},
        },
        "taskmanager": {
            "bind-host": HOST,
            "host": HOST,
            "numberOfTaskSlots": settings.flink_slots,
            "memory": {
                "process": {"size": "1600m"},
                "managed": {"size": "128m"},
                "network": {"min": "96m", "max": "96m"},
                "jvm-metaspace": {"size": "256m"},
            },
        },
        "parallelism": {"default": 1},
        "rest": {
            "address": HOST,
            "bind-address": HOST,
            "port": settings.flink_port,
            "bind-port": str(settings.flink_port),
        },
        "state": {"backend": {"type": "hashmap"}},
        "execution": {
            "checkpointing": {
                "dir": settings.flink_checkpoints.as_uri(),
                "savepoint-dir": (home / "savepoints").as_uri(),
                "interval": "10s",
                "mode": "EXACTLY_ONCE",
                "min-pause": "1s",
                "timeout": "2min",
                "tolerable-failed-checkpoints": 10,
                "num-retained": 2,
                "externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
            }
        },
        "restart-strategy": {
            "type": "exponential-delay",
            "exponential-delay": {
                "initial-backoff": "1s",
                "max-backoff": "30s",
                "backoff-multiplier": 2.0,
                "reset-backoff-threshold": "5min",
                "jitter-factor": 0.1,
            },
        },
        "io": {"tmp": {"dirs": str(home / "tmp")}},
        "blob": {"server": {"port": str(settings.flink_blob_port)}},
        "heartbeat": {"interval": 3000, "timeout": 20000},
        # the web interface takes no jars; drivers submit over REST all the same
        "web": {"submit": {"enable": False}},
    }
