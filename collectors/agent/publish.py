"""Back-fill: files published once, each record exactly once, with the same guarantees as the agent's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from counterflow.base.kafka import Kafka
from counterflow.collectors.agent.config import Commit, Source
from counterflow.collectors.agent.files import Progress
from counterflow.collectors.agent.publisher import Publisher, TransactionLost
from counterflow.collectors.agent.runner import Runner
from counterflow.collectors.sources.files import FileId

PATIENCE_S = 30.0


class Published(NamedTuple):
    """What was committed: records by dataset (quality and dead letters among them), anomalies by reason.

    `failures` has the reason for each file that is not published; `skipped` are files published before under this
    agent_id.
    """

    records: dict[str, int]
    rejects: dict[str, int]
    failures: dict[str, str]
    skipped: list[Path]


def publish_files(
    paths: Sequence[Path],
    *,
    kafka: Kafka,
    agent_id: str,
    again: bool = False,
    progress: Progress | None = None,
    stop: Event | None = None,
    **options: Any,
) -> Published:
    """Publish whole files in the order given, one that is named twice or has a link once.

    `options` are those of a `Source`, such as `zone`.

    A file that the same `agent_id` has published before, at whatever path, is skipped unless `again`; one that was
    interrupted continues where it stopped. A copy is another file: its records have the same natural keys.

    Raises
    ------
    CounterflowError : the broker does not answer for 30 s, or refuses; exit code 3 when another agent took the name.
    Stopped : `stop` was set; what is committed stays.
    """
    source = Source(name="publish", paths=tuple(paths), follow=False, settle_s=0, **options)
    stop = stop or Event()
    publisher = Publisher(kafka, agent_id, stop, PATIENCE_S)
    runner = Runner(publisher, agent_id, Commit(), stop, take_turns=False, again=again, progress=progress)
    try:
        runner.begin()
        while True:
            try:
                visited: set[FileId] = set()
                for path in paths:
                    runner.read_whole(source, path, visited)
                runner.commit()
                break
            except TransactionLost as lost:
                runner.rewind(lost)
    finally:
        publisher.close()
    done = runner.transaction
    return Published(dict(done.records), dict(done.rejects), done.failures, sorted(runner.files.skipped))
