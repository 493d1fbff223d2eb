"""The job `link_wire` on real Kafka and Flink: the port of each sample, whatever the order of samples and settings."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from counterflow.stack.settings import StackSettings
from tests.support.flink_line import Line, Record, Results

GROUP, OWN, OTHER = "MIRROR_DATABASE", "10.1.1.1", "10.1.1.2"
PORT = "U78D3.001.SRV-P1-C2-T1"
LISTED, MOVED = "2026-05-04T12:00:00Z", "2026-05-04T12:10:00Z"
SYSTEMS = ("BANKA", 'it\'s "B"')
TIMES = [f"2026-05-04T12:{minute:02}:00Z" for minute in range(20)]


def recompute(published: Mapping[str, Sequence[Record]]) -> Results:
    """By hand: the first port until the line moves to a resource whose location the HMC does not list."""
    rows: dict[tuple[str, ...], Record] = {}
    for row in published["link"]:
        if row["link_type"] == "interface":
            continue
        found: Record = {"physical_port": PORT, "logical_port": "27004001", "capacity_pct": 6.0, "pair": "BANKA BANKB"}
        if row["ts"] >= MOVED:
            found = {"missing": "the HMC lists no logical port of the system at ELSEWHERE", "pair": "BANKA BANKB"}
        rows[row["system"], row["link_type"], row["link"], row["ts"]] = {"ts": row["ts"], **found}
    return {"link_wire": rows}


def settings(system: str) -> list[tuple[str, Record]]:
    hops = [
        ("NRG_LINK_INFO", f"{GROUP} {OWN} {OTHER}", "LINK_IN_USE", "YES", LISTED),
        ("NETSTAT_INTERFACE_INFO", OWN, "LINE_DESCRIPTION", "ROCE01", LISTED),
        ("QAPMETH", "ROCE01", "ETMPORT", "CMN05", LISTED),
        ("QAPMETH", "ROCE01", "ETMPORT", "CMN06", MOVED),
        ("HARDWARE_RESOURCE_INFO", "CMN05", "LOCATION_CODE", f"{PORT}-S1", LISTED),
        ("HARDWARE_RESOURCE_INFO", "CMN06", "LOCATION_CODE", "ELSEWHERE", LISTED),
        ("logical_port", "27004001", "location_code", f"{PORT}-S1", MOVED),
        ("MIRROR_INFO", "*SYSBAS", "PRIMARY_NODE", "BANKA", LISTED),
        ("MIRROR_INFO", "*SYSBAS", "SECONDARY_NODE", "BANKB", LISTED),
        ("port", "CMN05", "capacity_pct", "6", "2025-01-01T00:00:00Z"),
        ("BBBP", "1", "LINE_DESCRIPTION", "of another section", LISTED),
    ]
    return [
        ("config", {**envelope(system, ts), "section": section, "item": item, "name": name, "value": value})
        for section, item, name, value, ts in hops
    ]


def samples(system: str) -> list[tuple[str, Record]]:
    links = [("nrg", GROUP), ("rdma_link", f"{OWN} {OTHER}"), ("interface", "en0")]
    return [("link", {**envelope(system, ts), "link_type": kind, "link": link}) for ts in TIMES for kind, link in links]


def envelope(system: str, ts: str) -> Record:
    return {"system": system, "ts": ts, "source": "test", "agent_id": "test", "collected_at": ts}


def test_the_port_of_each_sample_is_right_whatever_comes_first(flink: StackSettings) -> None:
    line = Line(flink, recompute, ["link_wire"], parallelism=2)
    assert [found.what for found in line.submit()] == ["started"]
    given = [row for system in SYSTEMS for row in (*settings(system), *samples(system))]
    rows = [(dataset, {**row, "seq": seq}) for seq, (dataset, row) in enumerate(given)]
    random.Random(3).shuffle(rows)
    for begin in range(0, len(rows), 30):
        line.publish(rows[begin : begin + 30])
    line.publish(rows[:20])  # the same again
    line.check()
