"""The attributes of `lshwres` and `lssyscfg` that fill columns: the one place that holds their names.

Where several names are given, the first that the listing has counts. Names marked *used* were read on an HMC V10R3 by
public code (hmcpctl) or by Linux' own SR-IOV tests (op-test, avocado); the others are unverified.
"""

from __future__ import annotations

SYSTEM = ("lpar_name", "name")  # used; the second in lssyscfg -r lpar
PARTITION_ID = "lpar_id"  # used
OTHERS = ("resource_type", "event_type", "time_cycles", "uncapped_cycles", "drc_index", "slot_num")
"""Listings with these are of something else: utilisation, slots."""
LOGICAL_PORT = "logical_port_id"  # used: the DRC index, in hexadecimal
LOGICAL_LOCATION = "location_code"  # used
PHYSICAL_LOCATION = "phys_port_loc"  # used, in listings of physical ports
ADAPTER = "adapter_id"  # used
PHYSICAL_PORT = "phys_port_id"  # used

STATE = ("functional_state", "state")  # used: of a logical port, of a physical port; 1 is functional
CAPACITY_PCT = ("capacity", "curr_capacity", "curr_eth_capacity")  # used: the first; IBM: a percentage, two decimals
LINE_MBITS_S = ("curr_conn_speed", "conn_speed")  # unverified: the unit is that of other adapters, Mb/s
