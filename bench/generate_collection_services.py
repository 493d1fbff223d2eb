"""Generates QAPMJOBMI and QAPMJOBOS exports of any size: a day of a busy system, seeded, in the documented layout.

No real export is public; column order and the share of zeros are this module's own, not those of a system.
"""

from __future__ import annotations

import io
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from counterflow.collectors.formats.ibmi_tables.description import tables
from tests.support.ibmi_export import columns, write

START = datetime(2026, 7, 14)  # noqa: DTZ001 - local time of the system
PREPARED_ROWS = 500
JOB_SHARE = 0.4
"""Share of the rows of QAPMJOBMI that are the first thread of a job and so have a row in QAPMJOBOS."""
ZERO_SHARES = (0.5, 0.9, 0.9)
"""Shares of a counter's figures that are 0, of which each counter has one: most jobs change a third of the counters.

They use neither sockets nor commitment control, and hold few locks.
"""


@dataclass(frozen=True)
class Shape:
    """The amount to generate; `rows` are rows of QAPMJOBMI in an interval."""

    intervals: int = 96
    rows: int = 14_600
    interval_s: int = 900
    seed: int = 1


def generate(folder: Path, shape: Shape) -> tuple[Path, Path]:
    """Write QAPMJOBMI.csv and QAPMJOBOS.csv into `folder` and return their paths.

    Figures come from lines prepared once; only the names of job and interval are specific to each row.
    """
    paths = (folder / "QAPMJOBMI.csv", folder / "QAPMJOBOS.csv")
    for path in paths:
        _write(path, path.stem, shape)
    return paths


def _write(path: Path, table: str, shape: Shape) -> None:
    prepared = _prepared(table, shape)
    with path.open("wb") as out:
        write(out, table, [])
        for interval in range(1, shape.intervals + 1):
            ends = START + timedelta(seconds=shape.interval_s * interval)
            when = f'{interval},"{ends:%y%m%d%H%M%S}",{shape.interval_s},"1",'
            for row in range(shape.rows):
                if table == "QAPMJOBMI" or row % 10 < 10 * JOB_SHARE:
                    name, rest = prepared[row % PREPARED_ROWS]
                    out.write(f"{when}{name}{row:06}{rest.replace('TASKTASKTASKTASK', f'{row:016X}', 1)}".encode())


def _prepared(table: str, shape: Shape) -> list[tuple[str, str]]:
    """Return rows without their time columns, cut at the job number."""
    chosen = random.Random(shape.seed)
    fields = tables()[table].fields
    names = columns(table)[len(tables()[table].time) :]
    zeros = {name: chosen.choice(ZERO_SHARES) for name, field in fields.items() if field.form == "number"}
    lines = []
    for _ in range(PREPARED_ROWS):
        row: dict[str, object] = {"JBTDE": "TASKTASKTASKTASK", "JBNBR": "NUMBER", "JBSTSF": 0, "JBTYPE": "B"}
        row |= {"JBNAME": f"BATCH{chosen.randrange(10_000):04}", "JBUSER": f"USER{chosen.randrange(100):02}"}
        row |= {"JBSSYS": "QBATCH", "JBCUSR": "APPOWNER", "JBPOOL": "02", "JBPRTY": "050", "JBTHDF": 0}
        for name, share in zeros.items():
            if name not in row and chosen.random() > share:
                row[name] = round(chosen.expovariate(1 / 2_000), 3)
        row["JBCPU"] = round(chosen.expovariate(1 / 500), 3)
        row["JBSLTCNT"] = 0
        lines.append(row)
    out = io.BytesIO()
    write(out, table, lines, *names)
    _, *rows = out.getvalue().decode().split("\r\n")[:-1]
    cut = [row.split("NUMBER", 1) for row in rows]
    return [(before, after + "\r\n") for before, after in cut]
