"""What the doctor finds over rows whose findings are plain to work out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from counterflow.analysis.answer import Answer
from counterflow.analysis.doctor import examine
from counterflow.base.clickhouse import ClickHouse
from tests.support import tables

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
ALERTS = {
    "alert CounterflowLinkCapped",
    "alert CounterflowLinkCapSuspected",
    "alert CounterflowLinkHeadroom",
    "alert CounterflowLinkAdapterFull",
    "board cf-mirror",
}


insert = partial(tables.insert, ts=NOW)


def link(system: str, **columns: Any) -> dict[str, Any]:
    """Return a group whose load, line rate and capacity are known except where `columns` overrides them."""
    known = {"physical_port": "P1", "line_bits_s": 1e11, "capacity_pct": 6.0}
    known |= {"phys_out_bytes_s": 1e9, "phys_in_bytes_s": 1e9}
    group = {"system": system, "link_type": "nrg", "link": "MIRROR_DATABASE", "interval_s": 15.0}
    return {**group, **known, **columns}


def wire(system: str, **columns: Any) -> dict[str, Any]:
    return {"system": system, "link_type": "nrg", "link": "MIRROR_DATABASE", "hops": "", **columns}


def state(answer: Answer) -> str:
    return str(answer.details["input"])


def verdicts(found: list[Answer], rule: str) -> dict[str | None, Answer]:
    of_rule = (one for one in found if (one.kind, one.subject) == ("verdict", rule))
    return {one.system: one for one in of_rule if state(one) != "absent"}


def test_each_missing_input_of_a_cap_is_named_with_what_to_do(client: ClickHouse) -> None:
    unwired = {"physical_port": None, "phys_out_bytes_s": None, "phys_in_bytes_s": None, "capacity_pct": None}
    insert(
        client,
        "link_load",
        link("FINE"),
        link("NOHMC", **unwired),
        link("NOLINE", **unwired),
        link("NOBYTES", phys_in_bytes_s=None),
        link("NORATE", line_bits_s=None),
        link("NOSHARE", capacity_pct=None),
        link("NOTWO", line_bits_s=None, capacity_pct=None),
        link("NOJOB", **unwired),
        link('it\'s "Q"', capacity_pct=None),
    )
    hmc = "the HMC lists no logical port of the system, none at P1-S1 (lshwres)"
    line = "no line description of 192.0.2.1 (NETSTAT_INTERFACE_INFO)"
    insert(client, "link_wire", wire("NOHMC", missing=hmc), wire("NOLINE", missing=line))
    insert(
        client, "link_wire", *(wire(s, physical_port="P1") for s in ("FINE", "NOBYTES", "NORATE", "NOSHARE", "NOTWO"))
    )
    found = verdicts(examine(client, at=NOW), "roce_cap")
    assert {system: (state(one), one.why) for system, one in found.items() if system != 'it\'s "Q"'} == {
        "FINE": ("ok", None),
        "NOHMC": ("unknown", hmc),
        "NOLINE": ("unknown", line),
        "NOBYTES": ("unknown", "no bytes of all links of P1 arrive"),
        "NORATE": ("unknown", "no rate of the line of P1 arrives"),
        "NOSHARE": ("unknown", "no capacity of its logical port on P1 arrives"),
        "NOTWO": (
            "unknown",
            "no rate of the line of P1 arrives; no capacity of its logical port on P1 arrives",
        ),
        "NOJOB": ("unknown", "the job link_wire has not found its port"),
    }
    assert "hmc_lshwres" in (found["NOHMC"].remedy or "")
    entry = '{system: NOLINE, link: "MIRROR_DATABASE", from: 2026-05-04T12:00:00Z, physical_port: …}'
    assert entry in (found["NOLINE"].remedy or "")
    assert "which suffices for the hop" in (found["NOHMC"].remedy or "")
    assert set(found["FINE"].details["affects"]) >= ALERTS


def test_an_alert_and_a_board_have_the_finding_of_what_they_read(client: ClickHouse) -> None:
    insert(client, "link_load", link("SYS1", capacity_pct=None))
    insert(client, "link_wire", wire("SYS1", physical_port="P1"))
    found = {(one.kind, one.subject): one for one in examine(client, ["SYS1"], NOW)}
    alert = found["alert", "CounterflowLinkCapped"]
    assert (state(alert), alert.why) == ("unknown", "roce_cap: no capacity of its logical port on P1 arrives")
    assert state(found["alert", "CounterflowLogCeilingHit"]) == "absent"
    assert state(found["board", "cf-disks"]) == "absent"


def test_each_missing_input_of_a_ceiling_is_named(client: ClickHouse) -> None:
    known = {"path": "zhl", "rate_mb_s": 300.0, "ceiling_mb_s": 594.0, "gcp_pct": 50.0, "waits_delta": 0.0}
    log = {"subsystem": "DBP1", "interval_s": 60.0, "n": 1, **known}
    gone = {"OK": {}, "NOPATH": {"path": None}, "NOCEILING": {"ceiling_mb_s": None}, "NOWAITS": {"waits_delta": None}}
    insert(client, "log_load", *({**log, "system": system, **columns} for system, columns in gone.items()))
    report = {name: log[name] for name in ("subsystem", "path", "ceiling_mb_s", "gcp_pct", "n")}  # D SMS states a share
    later = {"ts": NOW + timedelta(seconds=20), "interval_s": 20.0, "zhl_sync_pct": 99.0}
    insert(client, "log_load", {**report, **later, "system": "OK"})
    found = verdicts(examine(client, at=NOW), "log_ceiling")
    assert {system: one.why for system, one in found.items()} == {
        "OK": None,
        "NOPATH": "the path of its log writes is not known",
        "NOCEILING": "no ceiling is configured for DBP1 on zhl",
        "NOWAITS": "nothing arrives that shows whether threads wait for the log",
    }
    assert "{subsystem: DBP1, path: zhl, cec: …, storage: …," in (found["NOCEILING"].remedy or "")


def test_a_name_that_has_neither_counters_nor_results_is_not_examined(client: ClickHouse) -> None:
    line = {"file": "/perf/notes.txt", "line": 1, "byte_offset": 0, "seq": 1}
    insert(client, "quality", {"system": "unknown", "reason": "not_this_format", "kept": "none", "detail": "-", **line})
    setting = {"section": "lparstat", "item": "", "name": "mode", "value": "capped", "seq": 2}
    insert(client, "config", {"system": "SETTINGS", **setting})
    insert(client, "link_load", link("SYS1"))
    assert {one.system for one in examine(client, at=NOW)} == {"SYS1"}


def test_a_view_is_stopped_or_absent_but_never_late(client: ClickHouse) -> None:
    counted = {"counted": "disk", "row_count": 1, "source": "nmon", "seq": 2}
    for system, age_min in {"LIVE": 0, "STOPPED": 61}.items():
        ts = NOW - timedelta(minutes=age_min)
        disk = {"disk": "hdisk0", "device_type": "disk", "leaf": True, "seq": 1}
        insert(client, "disk", {"system": system, "ts": ts, **disk})
        insert(client, "manifest", {"system": system, "ts": ts, **counted})
    insert(client, "link_load", link("ABSENT"))
    found = {one.system: one for one in examine(client, at=NOW) if one.subject == "disk_total"}
    assert {system: state(one) for system, one in found.items()} == {
        "LIVE": "ok",
        "STOPPED": "stopped",
        "ABSENT": "absent",
    }
    assert found["ABSENT"].why == "no disk arrives"


def test_a_result_that_is_missing_late_or_whose_input_stopped(client: ClickHouse) -> None:
    port = {"link": "en0", "link_type": "interface", "seq": 1}
    counted = {"counted": "link", "row_count": 1, "source": "nmon", "seq": 2}
    ages = {"LIVE": (0, 0), "LATE": (0, 20), "STOPPED": (61, 61), "MISSING": (0, None)}
    for system, (input_min, result_min) in ages.items():
        ts = NOW - timedelta(minutes=input_min)
        insert(client, "link", {"system": system, "ts": ts, **port})
        insert(client, "manifest", {"system": system, "ts": ts, **counted})
        if result_min is not None:
            result = {"link": "en0", "link_type": "interface", "n": 1}
            insert(client, "link_load", {"system": system, "ts": NOW - timedelta(minutes=result_min), **result})
    found = {one.system: one for one in examine(client, at=NOW) if (one.kind, one.subject) == ("kpi", "link_load")}
    assert {system: state(one) for system, one in found.items()} == {
        "LIVE": "ok",
        "LATE": "late",
        "STOPPED": "stopped",
        "MISSING": "missing",
    }
    assert found["LATE"].why == "link_load ends at 2026-05-04 11:40:00, its input at 2026-05-04 12:00:00"
