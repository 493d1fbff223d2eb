"""The cost of TLS to Kafka and ClickHouse: the line with it and without it, one after the other."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from bench.figure import Figure
from bench.line import RECORDINGS, Through, all_through, record
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings
from tests.support.dds import Authority


def main() -> None:
    """Send the recordings of bench/line.py through a stack of each kind, twice: the first run warms the JVMs."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-tls-") as name:
        folders = [Path(name) / which for which in ("first", "second")]
        for at, folder in enumerate(folders):
            record(folder, at * RECORDINGS)
        plain, encrypted = (free_settings(Path(name) / kind, parts) for kind in ("plain", "encrypted"))
        authority = Authority(Path(name) / "authority")
        without, within = (all_through(one, folders)[1] for one in (plain, authority.over_tls(encrypted)))
    method = (
        f"CPU of a record on the line of bench/line.py: over TLS 1.3 to Kafka and ClickHouse, certificates checked, "
        f"{_us(within):.1f} us, without {_us(without):.1f} us (jobs among themselves speak TLS in both); "
        f"{within.records:,} records, {os.cpu_count()} cores."
    )
    ratio = round(_us(within) / _us(without), 2)
    Figure("the whole line over TLS, of that without", ratio, "times", "<= 1.25", method).emit()


def _us(one: Through) -> float:
    return 1e6 * sum(one.cpu_s.values()) / one.records


if __name__ == "__main__":
    main()
