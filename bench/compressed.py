"""The cost of unpacking: a thousand recordings published as they are, and each in gzip."""

from __future__ import annotations

import dataclasses
import gzip
import io
import logging
import tempfile
import time
from pathlib import Path

import structlog

from bench.figure import Figure
from bench.generate_nmon import Shape, generate
from counterflow.base.kafka import Kafka
from counterflow.collectors.agent.publish import publish_files
from counterflow.schemas.definition import topics
from counterflow.stack import lifecycle
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings

FILES = 1_000
ROUNDS = 2


def main() -> None:
    """Publish plain and packed recordings in turn, each time under an agent of its own."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-compressed-") as home:
        plain, packed = recordings(Path(home))
        kb = [path.stat().st_size >> 10 for path in (plain[0], packed[0])]
        settings = free_settings(Path(home) / "stack", parts)
        try:
            lifecycle.start(settings, "kafka")
            create_topics(settings, topics())
            kafka = settings.kafka("admin")
            of_plain, of_packed = [], []
            for _ in range(ROUNDS):  # in turn, so that a machine that slows down slows both
                of_plain.append(published(kafka, plain))
                of_packed.append(published(kafka, packed))
        finally:
            lifecycle.down(settings)
    print(f"CPU s of this process: {of_plain} and {of_packed}")
    method = (
        f"{FILES:,} AIX recordings of {kb[0]} KB (gzip: {kb[1]} KB) "
        "published by one process, its CPU seconds for the uncompressed files divided by those for the same in gzip, "
        f"least of {ROUNDS} each: {min(of_plain):.1f} and {min(of_packed):.1f} s."
    )
    speed = round(100 * min(of_plain) / min(of_packed), 1)
    Figure("publish compressed files", speed, "% of the speed of the same uncompressed", ">= 80", method).emit()


def recordings(folder: Path) -> tuple[list[Path], list[Path]]:
    """Write the recordings, each from a host of its own, and packed copies of them."""
    made = io.BytesIO()
    generate(made, dataclasses.replace(Shape(), snapshots=12, disks=12))
    host = Shape().host.encode()
    plain = [folder / f"{number:04}.nmon" for number in range(FILES)]
    packed = [path.with_suffix(".nmon.gz") for path in plain]
    for number in range(FILES):
        content = made.getvalue().replace(host, b"host%04d" % number)
        plain[number].write_bytes(content)
        packed[number].write_bytes(gzip.compress(content))
    return plain, packed


def published(kafka: Kafka, paths: list[Path]) -> float:
    """Return the CPU seconds of publishing the files."""
    began = time.process_time()
    done = publish_files(paths, kafka=kafka, agent_id=f"bench-{time.monotonic_ns()}")
    if done.failures:
        raise SystemExit(f"not published: {list(done.failures.items())[:3]}")
    return time.process_time() - began


if __name__ == "__main__":
    main()
