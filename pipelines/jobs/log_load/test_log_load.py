"""`log_load` and the verdict of `log_ceiling` on real Kafka and Flink, compared with a plain recomputation."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

import pytest

from counterflow.pipelines import submission
from counterflow.pipelines.rules.log_ceiling import RULE
from counterflow.stack.settings import StackSettings
from tests.support import zos
from tests.support.flink_line import Line, Record, Results, first_of_each, over, seconds, verdicts
from tests.support.zos import (
    NOW,
    completed,
    configured,
    figured,
    log_figures,
    mean_of,
    minutes,
    number,
    times,
    version,
)

JOBS = ("log_ceiling", "log_load")


# The recomputation. It shares nothing with the SQL but the wording of the definitions.


def reported_for(rows: Sequence[Record], wanted: Sequence[int]) -> tuple[Record, int]:
    """Return the newest path, copies and share reported for these minutes, and how often one is covered."""
    found: Record = {"path": None, "copies": None, "zhl_sync_pct": None}
    count = 0
    for row in sorted(rows, key=lambda row: seconds(row["ts"])):
        ages = [minute - math.floor(seconds(row["ts"]) / 60) for minute in wanted]
        reach = 5 if row.get("log_path") is None and row.get("copies") is None else 60
        inside = [age for age in ages if 0 <= age < reach]
        count += len(inside)
        if inside:
            found["path"] = row.get("log_path") or found["path"]
            found["copies"] = row.get("copies") or found["copies"]
            if row.get("zhl_sync_pct") is not None and min(inside) < 5:
                found["zhl_sync_pct"] = row["zhl_sync_pct"]
    return found, count


def log_load(published: Mapping[str, Sequence[Record]]) -> dict[tuple[str, ...], Record]:
    groups = defaultdict(list)
    for row in published["db_log"]:
        groups[row["system"], row["subsystem"], row["ts"]].append(row)
    busy = [
        row
        for row in first_of_each(published["system_cpu"], "system", "engine_type", "engine", "ts")
        if row["engine"] == "all" and row.get("busy_pct") is not None
    ]
    reports = [row for row in first_of_each(published["db_log"], "system", "subsystem", "ts") if not figured(row)]
    results: dict[tuple[str, ...], Record] = {}
    for (system, subsystem, ts), rows in groups.items():
        figures = [log_figures(row) for row in rows]
        best = {name: max((f[name] for f in figures if f[name] is not None), default=None) for name in figures[0]}
        reported, written = best.pop("reported"), best.pop("all_written_mb_s")
        wanted = minutes(rows[0], figures[0]["interval_s"])  # of the first to arrive
        stated = [row for row in reports if (row["system"], row["subsystem"]) == (system, subsystem)]
        known_of, beside = reported_for(stated, wanted)
        best |= {name: known_of[name] for name in known_of if best[name] is None}
        best["written_mb_s"] = over(written, best["copies"])
        bases = {"written": best["written_mb_s"], "created": best["created_mb_s"], "reported": reported}
        basis = next((name for name, rate in bases.items() if rate is not None), None)
        rate = bases[basis] if basis else None
        percent = {
            kind: mean_of(
                [cpu for cpu in busy if (cpu["system"], cpu["engine_type"]) == (system, kind)], "busy_pct", wanted
            )[0]
            for kind in ("gcp", "ziip")
        }
        mine = [cpu for cpu in busy if cpu["system"] == system and cpu["engine_type"] in percent]
        beside += sum(minute in wanted for cpu in mine for minute in minutes(cpu, cpu["interval_s"]))
        item = f"{subsystem}/{best['path']}"
        newest = version(published["config"], system, "log_ceiling", item, "ceiling_mb_s", ts)
        ceiling = number(newest["value"]) if newest else None
        results[system, subsystem, ts] = {
            **best,
            "system": system,
            "subsystem": subsystem,
            "ts": ts,
            "n": 1 + beside + (newest is not None),
            "rate_mb_s": rate,
            "rate_basis": basis,
            "ceiling_mb_s": ceiling,
            "ceiling_since": newest["ts"] if newest else None,
            "ceiling_pct": over(times(rate, 100), ceiling),
            "gcp_pct": percent["gcp"],
            "ziip_pct": percent["ziip"],
        }
    return results


def recompute(published: Mapping[str, Sequence[Record]]) -> Results:
    loads = log_load(published)
    judged = [row for row in loads.values() if any(row[n] is not None for n in ("rate_mb_s", "waits_delta", "reset"))]
    return {
        "log_load": loads,
        "verdict": verdicts(RULE, judged, lambda load: (load["system"], "log", load["subsystem"])),
    }


def everything() -> list[tuple[str, Record]]:
    """Return what the jobs read of the input."""
    return [(dataset, row) for dataset, row in zos.everything() if dataset in ("config", "db_log", "system_cpu")]


@pytest.fixture(scope="module")
def line(flink: StackSettings) -> Iterator[Line]:
    line = Line(flink, recompute, JOBS, parallelism=2)
    assert [found.what for found in line.submit()] == ["started"] * len(JOBS)
    rows = everything()
    for begin in range(0, len(rows), 600):
        line.publish(rows[begin : begin + 600])
        time.sleep(0.4)  # in all, longer than a mini-batch
    yield line
    submission.cancel(line.cluster, line.jobs)  # its slots


def test_every_result_is_exact_whatever_the_order(line: Line) -> None:
    line.check()


def test_a_ceiling_that_is_configured_afterwards_judges_history(line: Line) -> None:
    since = NOW + timedelta(minutes=1)
    late = configured("live", "log_ceiling", "DBP2/zhl", "ceiling_mb_s", since, "215", read_s=900)
    line.publish(completed("live", [("config", late)]))
    line.check()
