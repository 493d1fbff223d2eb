"""Keeps the Flink jobs running: a restarted JobManager has none until they are submitted again."""

from __future__ import annotations

import sys

from counterflow.base.errors import CounterflowError
from counterflow.pipelines.jobs import all_jobs
from counterflow.pipelines.submission import Cluster, states
from counterflow.stack.part import Part
from counterflow.stack.settings import StackSettings


def cluster(settings: StackSettings) -> Cluster:
    return Cluster(
        flink_url=settings.flink_url,
        certificate=settings.flink_certificate,
        kafka=settings.kafka("reader"),
        connection=connection(settings),
        python=settings.flink_python,
        environment=settings.flink_environment,
        checkpoints=settings.flink_checkpoints,
        end_task_manager=lambda: _end_task_manager(settings),
    )


def _end_task_manager(settings: StackSettings) -> None:
    """Restart the TaskManager, unless it has just started: the known states may be those before its start."""
    from counterflow.stack import supervision  # not in the images that only render jobs

    found = supervision.states(settings).get("taskmanager")
    if found and found.uptime_s > supervision.STABLE_S:
        supervision.stop(settings, "taskmanager")
        supervision.start(settings, "taskmanager")


def connection(settings: StackSettings) -> dict[str, str]:
    """Return the Kafka settings of jobs, which read the password from its file where they run, and store it nowhere."""
    kafka = "org.apache.flink.kafka.shaded.org.apache.kafka.common"
    tls = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(settings.tls_ca)} if settings.tls_ca else {}
    return {
        "security.protocol": "SASL_SSL" if settings.tls_ca else "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": f"{kafka}.security.scram.ScramLoginModule required "
        f'username="flink" password="${{secrets:{settings.secrets}:kafka-flink}}";',
        "config.providers": "secrets",
        "config.providers.secrets.class": f"{kafka}.config.provider.DirectoryConfigProvider",
        "config.providers.secrets.param.allowed.paths": str(settings.secrets),
        # "rebootstrap": after five minutes without a broker a client retries forever without back-off, and logs it.
        "metadata.recovery.strategy": "none",
        **tls,
    }


def watcher(settings: StackSettings) -> Part:
    """Describe the process that submits jobs that do not run; ready when every job runs."""
    return Part(
        name="jobs",
        command=(sys.executable, "-m", "counterflow", "jobs", "submit", "--watch"),
        ready=lambda _: _ready(settings),
        ready_s=600,
    )


def _ready(settings: StackSettings) -> str | None:
    try:
        found = states(cluster(settings))
    except CounterflowError:
        return None
    all_running = all(found.get(name) == "RUNNING" for name in all_jobs())
    return f"all {len(all_jobs())} jobs running" if all_running else None
