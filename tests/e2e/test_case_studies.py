"""The case studies as counter files through the whole line: SQL returns what the document prints."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

import pytest

from counterflow.base.clickhouse import ClickHouse
from tests.e2e.conftest import Case, during, states

GIGABIT = 2**30
"""Bits of a Gb in table 7-5."""

UPDATES = "SELECT sum(other) / {seconds} AS figure FROM counterflow.io_mix FINAL"
MIX = "SELECT sum({what}) / sum(logical_io) * 100 AS figure FROM counterflow.io_mix FINAL"
LINKS = "SELECT sum({what} * interval_s) / {seconds} AS figure FROM counterflow.link_load FINAL"


def figure(reader: ClickHouse, run: Case, sql: str, where: str, **names: object) -> float:
    """Return the figure of one SELECT over the intervals of a run."""
    rows = reader.rows(f"{sql.format(seconds=seconds(run), **names)} WHERE {during(run)} AND {where}")
    return float(rows[0]["figure"])


def seconds(run: Case) -> float:
    return (datetime.fromisoformat(run["until"]) - datetime.fromisoformat(run["after"])).total_seconds()


def as_printed(value: float, printed: str) -> str:
    """Return a figure with as many decimals as the printed one has."""
    return str(Decimal(repr(value)).quantize(Decimal(printed), ROUND_HALF_UP))


def of(*systems: str) -> str:
    return f"system IN ({', '.join(repr(system) for system in systems)})"


def link_cell(reader: ClickHouse, run: Case, name: str) -> float:
    """Return one figure of table 7-4 or 7-5 under the name it has there."""
    source, target, sender, receiver = run["systems"]
    if name in ("rows_s", "mb_s"):
        rows_s = figure(reader, run, UPDATES, f"{of(source)} AND grouping = 'generic_job' AND name = 'UPDROW'")
        return rows_s if name == "rows_s" else rows_s * 1301 / 2**20
    side, _, what = name.partition("_")
    if side == "all":
        return link_cell(reader, run, f"own_{what}") + link_cell(reader, run, f"other_{what}")
    pair = (source, target) if side == "own" else (sender, receiver)
    where = f"{of(*pair)} AND link_type = 'rdma_link'"
    if what == "msgs_s":
        return figure(reader, run, LINKS, where, what="own_msgs_s")
    bytes_s = figure(reader, run, LINKS, where, what=f"own_{what.removesuffix('_gb_s')}_bytes_s")
    return bytes_s * 8 / GIGABIT


def test_sql_returns_every_published_cell(published: Callable[[str], Case], reader: ClickHouse) -> None:
    checked = 0
    for run in published("sriov-story")["runs"]:
        for what, printed in run["published"].items():
            assert as_printed(link_cell(reader, run, what), printed) == printed, (run["run"], what)
            checked += 1
    assert checked == 3 * 11


def test_the_group_carries_what_its_link_does(published: Callable[[str], Case], reader: ClickHouse) -> None:
    """Both views count the mirrored traffic, each on its own."""
    for run in published("sriov-story")["runs"]:
        source, target, *_ = run["systems"]
        for column in ("own_out_bytes_s", "own_in_bytes_s", "own_msgs_s"):
            both = (
                figure(reader, run, LINKS, f"{of(source, target)} AND link_type = '{kind}'", what=column)
                for kind in ("nrg", "rdma_link")
            )
            assert next(both) == pytest.approx(next(both), rel=1e-9), (run["run"], column)


def test_the_mixes_are_those_printed(published: Callable[[str], Case], reader: ClickHouse) -> None:
    for run in published("end-of-day-story")["runs"]:
        for name, printed in run["published"].items():
            group, what = name.split()
            where = f"{of('BANKA')} AND grouping = 'generic_job' AND name = '{group}'"
            share = figure(reader, run, MIX, where, what="reads" if what == "read_pct" else "inserts + other")
            assert as_printed(share, printed) == printed, name


def test_the_interfering_pair_is_never_capped(published: Callable[[str], Case], reader: ClickHouse) -> None:
    for run in published("sriov-story")["runs"]:
        for system in ("NEIGHA", "NEIGHB"):
            shown = states(reader, run, "roce_cap", system, "rdma_link")
            assert shown
            assert "CAPPED" not in shown, (run["run"], system)


def test_the_story_is_raised_and_cleared(published: Callable[[str], Case], reader: ClickHouse) -> None:
    runs = published("sriov-story")["runs"]
    for system in ("SRIOVA", "SRIOVB"):
        shown = [state for run in runs for state in states(reader, run, "roce_cap", system, "nrg")]
        assert set(shown[:12]) == {"OK"}
        assert set(shown[14:20]) == {"CAPPED"}
        assert set(shown[20:]) == {"DEMAND_LIMITED"}
