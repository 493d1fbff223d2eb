"""The way from a link to its physical port, hop by hop, from settings as the views, the HMC and the site give them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.pipelines.wiring import KEPT, Settings, Wire

Setting = tuple[str, str, str, int, str]

GROUP, OWN, OTHER = "MIRROR_DATABASE", "192.0.2.1", "192.0.2.2"
LINK = f"{OWN} {OTHER}"
LOCATION, PORT = "U78D3.001.SRVA-P1-C2-T1-S1", "U78D3.001.SRVA-P1-C2-T1"
AT = 1_000_000

HOPS: tuple[Setting, ...] = (
    ("NRG_LINK_INFO", f"{GROUP} {LINK}", "LINK_IN_USE", AT, "YES"),
    ("NETSTAT_INTERFACE_INFO", OWN, "LINE_DESCRIPTION", AT, "ROCE01"),
    ("QAPMETH", "ROCE01", "ETMPORT", AT, "CMN05"),
    ("HARDWARE_RESOURCE_INFO", "CMN05", "LOCATION_CODE", AT, LOCATION),
    ("logical_port", "27004001", "location_code", AT, LOCATION),
    ("logical_port", "27004002", "location_code", AT, "U78D3.001.SRVA-P1-C3-T1-S1"),
    ("MIRROR_INFO", "*SYSBAS", "PRIMARY_NODE", AT, "BANKA"),
    ("MIRROR_INFO", "*SYSBAS", "SECONDARY_NODE", AT, "BANKB"),
)
WITHOUT_HMC = tuple(setting for setting in HOPS if setting[0] != "logical_port")


def known(*settings: Setting) -> Settings:
    found = Settings()
    for section, item, name, ts_ms, value in settings:
        found = found.learn(section, item, name, ts_ms, value)
    return found


def site(link: str, name: str, value: str, ts_ms: int = 0) -> Setting:
    return "port", link, name, ts_ms, value


@pytest.mark.parametrize(("link_type", "link"), [("nrg", GROUP), ("rdma_link", LINK)])
def test_the_hops_lead_from_a_group_and_from_an_rdma_link_to_one_port(link_type: str, link: str) -> None:
    wire = known(*HOPS).wire(link_type, link, AT)
    assert (wire.physical_port, wire.logical_port, wire.pair) == (PORT, "27004001", "BANKA BANKB")
    assert (wire.missing, wire.contradiction) == (None, None)
    assert wire.as_row()["hops"] == (
        f"ROCE01 (NETSTAT_INTERFACE_INFO) > CMN05 (QAPMETH) > {LOCATION} (HARDWARE_RESOURCE_INFO) > {PORT} (HMC)"
    )


@pytest.mark.parametrize(
    ("gone", "missing"),
    [
        ("NRG_LINK_INFO", f"no link of {GROUP} (NRG_LINK_INFO)"),
        ("NETSTAT_INTERFACE_INFO", f"no line description of {OWN} (NETSTAT_INTERFACE_INFO)"),
        ("QAPMETH", "no resource of line ROCE01 (QAPMETH)"),
        ("HARDWARE_RESOURCE_INFO", "no location code of resource CMN05 (HARDWARE_RESOURCE_INFO)"),
        ("logical_port", f"the HMC lists no logical port of the system, none at {LOCATION} (lshwres)"),
    ],
)
def test_a_missing_hop_is_named_and_gives_no_port(gone: str, missing: str) -> None:
    wire = known(*(setting for setting in HOPS if setting[0] != gone)).wire("nrg", GROUP, AT)
    assert (wire.physical_port, wire.missing) == (None, missing)


@pytest.mark.parametrize(
    ("gone", "entry"),
    [
        ("NRG_LINK_INFO", site(GROUP, "line", "ROCE01")),
        ("NETSTAT_INTERFACE_INFO", site(OWN, "line", "ROCE01")),
        ("NETSTAT_INTERFACE_INFO", site(LINK, "line", "ROCE01")),
        ("QAPMETH", site("ROCE01", "resource", "CMN05")),
        ("HARDWARE_RESOURCE_INFO", site("CMN05", "location_code", LOCATION)),
        ("logical_port", site("ROCE01", "physical_port", PORT)),
        ("NETSTAT_INTERFACE_INFO", site(GROUP, "physical_port", PORT)),
    ],
)
def test_the_site_fills_any_hop(gone: str, entry: Setting) -> None:
    wire = known(*(setting for setting in HOPS if setting[0] != gone), entry).wire("nrg", GROUP, AT)
    assert (wire.physical_port, wire.missing) == (PORT, None)
    assert "(site)" in wire.as_row()["hops"]


def test_the_site_overrides_a_hop_and_the_contradiction_is_stated() -> None:
    wire = known(*HOPS, site(OWN, "line", "ROCE02"), ("QAPMETH", "ROCE02", "ETMPORT", AT, "CMN05")).wire(
        "nrg", GROUP, AT
    )
    assert wire.physical_port == PORT
    assert wire.contradiction == "line: ROCE02 (site), ROCE01 (NETSTAT_INTERFACE_INFO)"
    wire = known(*HOPS, site("CMN05", "physical_port", "ELSEWHERE")).wire("nrg", GROUP, AT)
    assert (wire.physical_port, wire.logical_port) == ("ELSEWHERE", None)
    assert wire.contradiction == f"port: ELSEWHERE (site), {PORT} (HMC)"


def test_two_views_that_contradict_each_other_give_no_port() -> None:
    wire = known(*HOPS, ("RDMA_LINK_INFO", LINK, "LINE_DESCRIPTION", AT, "ROCE09")).wire("rdma_link", LINK, AT)
    assert wire.physical_port is None
    assert wire.contradiction == "line: ROCE01 (NETSTAT_INTERFACE_INFO), ROCE09 (RDMA_LINK_INFO)"
    assert wire.missing == "sources differ on the line: add it to `ports` of the site file"


def test_an_hmc_that_lists_other_ports_or_one_location_twice_gives_no_port() -> None:
    other = known(*WITHOUT_HMC, ("logical_port", "27004009", "location_code", AT, "U-P1-C9-T1-S1"))
    assert other.wire("nrg", GROUP, AT).missing == f"the HMC lists no logical port of the system at {LOCATION}"
    twice = known(*HOPS, ("logical_port", "27004009", "location_code", AT, LOCATION))
    assert twice.wire("nrg", GROUP, AT).missing == f"the HMC lists 2 logical ports at {LOCATION}"


def test_a_group_over_two_ports_has_none_but_each_of_its_links_has() -> None:
    second = (
        ("NRG_LINK_INFO", f"{GROUP} 192.0.2.5 192.0.2.6", "LINK_IN_USE", AT, "YES"),
        ("NETSTAT_INTERFACE_INFO", "192.0.2.5", "LINE_DESCRIPTION", AT, "ROCE02"),
        site("ROCE02", "physical_port", "OTHER"),
    )
    both = known(*HOPS, *second)
    expected = f"the links of {GROUP} use 2 physical ports (OTHER, {PORT}): each RDMA link is judged by itself"
    assert both.wire("nrg", GROUP, AT) == Wire(pair="BANKA BANKB", missing=expected)
    assert both.wire("rdma_link", "192.0.2.5 192.0.2.6", AT).physical_port == "OTHER"
    unused = both.learn("NRG_LINK_INFO", f"{GROUP} 192.0.2.5 192.0.2.6", "LINK_IN_USE", AT + 1, "NO")
    assert unused.wire("nrg", GROUP, AT + 1).physical_port == PORT


def test_history_is_wired_by_the_settings_of_its_time() -> None:
    moved = known(*HOPS, ("QAPMETH", "ROCE01", "ETMPORT", AT + 10, "CMN06"))
    assert moved.wire("nrg", GROUP, AT + 9).physical_port == PORT
    assert moved.wire("nrg", GROUP, AT + 10).missing == "no location code of resource CMN06 (HARDWARE_RESOURCE_INFO)"
    assert moved.wire("nrg", GROUP, AT - 500).physical_port == PORT, "hardware is there before it is listed"
    entry = known(*WITHOUT_HMC, site("ROCE01", "physical_port", PORT, AT))
    assert entry.wire("nrg", GROUP, AT - 1).physical_port is None, "an entry of the site holds from its own time"


def test_the_site_gives_capacity_and_rate_for_any_hop() -> None:
    wire = known(*HOPS, site("27004001", "capacity_pct", "6"), site("CMN05", "line_bits_s", "100000000000")).wire(
        "rdma_link", LINK, AT
    )
    assert (wire.capacity_pct, wire.line_bits_s) == (6.0, 100e9)


@given(st.permutations(HOPS), st.lists(st.sampled_from(HOPS)))
def test_the_order_and_the_repetition_of_settings_do_not_matter(order: list[Setting], again: list[Setting]) -> None:
    assert known(*order, *again).wire("nrg", GROUP, AT) == known(*HOPS).wire("nrg", GROUP, AT)
    assert known(*order, *again).learned == len(HOPS)


def test_history_keeps_its_wire_however_often_the_settings_are_stated_again() -> None:
    moved = ("HARDWARE_RESOURCE_INFO", "CMN06", "LOCATION_CODE", AT, "U-P1-C9-T1-S1")
    listed = ("logical_port", "27004009", "location_code", AT, "U-P1-C9-T1-S1")
    daily = [("QAPMETH", "ROCE01", "ETMPORT", AT + day, "CMN05" if day < 5 else "CMN06") for day in range(10 * KEPT)]
    stated = known(*HOPS, moved, listed, *daily)
    for day in range(10 * KEPT):
        assert stated.wire("nrg", GROUP, AT + day).physical_port == (PORT if day < 5 else "U-P1-C9-T1"), day
    assert known(*HOPS, moved, listed, *daily, *daily).learned == stated.learned, "it has learned nothing new"
    late = stated.learn("QAPMETH", "ROCE01", "ETMPORT", AT + 10 * KEPT - 5, "CMN05")
    found = [late.wire("nrg", GROUP, AT + 10 * KEPT - ago).physical_port for ago in (6, 5, 4)]
    assert found == ["U-P1-C9-T1", PORT, "U-P1-C9-T1"]


def test_a_setting_keeps_its_newest_values() -> None:
    changed = known(*((*HOPS[2][:3], AT + n, f"CMN{n}") for n in range(KEPT + 5)))
    [values] = changed.values.values()
    assert [value for _, value in values] == [f"CMN{n}" for n in range(5, KEPT + 5)]
