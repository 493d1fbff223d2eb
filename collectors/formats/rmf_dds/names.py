"""Meaning of the variables and columns (labels: IBM/RMF, reptrans.xsl); units where they are documented."""

from __future__ import annotations

from typing import NamedTuple


class Semantics(NamedTuple):
    """Unit and kind of a figure as `counter` has them."""

    unit: str | None
    kind: str | None


PERCENT, _RATE, _GAUGE = Semantics("%", "percent"), Semantics(None, "rate"), Semantics(None, "gauge")
_PROCESSORS = Semantics("processors", "gauge")

ENGINES = {"gcp": ("SYSCUVVC", "SYSPRVVC"), "ziip": ("SYSCUIVC", "SYSPRTVC")}
"""Variables of SYSINFO: utilisation in % and processors online, by type."""

SYSINFO = {
    **dict.fromkeys(("SYSTSVVC", "SYSTSEVC"), PERCENT),  # Appl%, EAppl%
    **dict.fromkeys(("SYSLCPVC", "SYSCULVC", "SYSMUIVC", "SYSMUAVC"), PERCENT),  # MVS utilization: CP, IIP, AAP
    **dict.fromkeys(("SYSAPTVC", "SYSATCVC"), PERCENT),  # Appl% IIP, Appl% IIP on CP
    **dict.fromkeys(("SYSCUAVC", "SYSAPIVC", "SYSAICVC"), PERCENT),  # AAP: utilization, Appl%, Appl% on CP
    **dict.fromkeys(("SYSPRIVC", "SYSPKCVC", "SYSPKIVC", "SYSPKAVC"), _PROCESSORS),  # AAPs online; parked by type
    "SYSLOAVG": _GAUGE,  # load average
}
"""Variables of SYSINFO that no column models."""
SYSINFO_TEXTS = frozenset({"SYSMODVC", "SYSMDLVC", "SYSIPVVC", "SYSOPVVC", "SYSICVVC"})
"""Variables of SYSINFO that may look like numbers: CPU type and model, suffixes of members."""

PROCU_MS = {"gcp_ms": "PRUTCPE", "ziip_ms": "PRUTIIPE", "ziip_on_cp_ms": "PRUTIICT"}
"""Columns of `job` in ms: CP EAppl, IIP EAppl, IIP time on CP."""
PROCU_TEXTS = {"service_class": "PRUPSVCL", "report_class": "PRUPRPCL"}
PROCU_IDENTITY = ("PRUPJOB", "PRUPJID", "PRUPASI")
"""Job name, JES id, address space: no two rows of an interval have all three in common."""

PCIE_FUNCTION = "PCIEPFID"
PCIE_LINK = ("PCIESERN", "PCIELKID")
"""Serial number and id of a synchronous I/O link (zHyperLink)."""
PCIE_CPC = {
    **dict.fromkeys(("PCIETBPC", "PCIESRRC"), PERCENT),  # time busy, successful requests
    **dict.fromkeys(("PCIERRTC", "PCIETRRC", "PCIETWRC"), _RATE),  # requests, transfer read and write
    **dict.fromkeys(("PCIEXRRC", "PCIEXWRC"), _GAUGE),  # transfer read and write ratio
}
"""Columns of PCIE marked `(CPC)`: a link's use by all systems of the machine, never to be held against one of them."""
PCIE = {
    **dict.fromkeys(("PCIESRR", "PCIEALLT", "PCIEFBSY", "PCIE1BPU"), PERCENT),
    **dict.fromkeys(("PCIERRT", "PCIELOOP", "PCIESTOP", "PCIESBOP", "PCIERFOP", "PCIEDMAR", "PCIEDMAW"), _RATE),
    **dict.fromkeys(("PCIEDPKR", "PCIEDPKT", "PCIEDWUP", "PCIEFTR", "PCIE1RRC", "PCIE1TPC"), _RATE),
    **dict.fromkeys(("PCIE1RRD", "PCIE1TPD"), _RATE),
    **dict.fromkeys(("PCIEXRR", "PCIEXWR", "PCIEDMAN", "PCIEFRET", "PCIEFRES", "PCIEFRQT", "PCIEFRQS"), _GAUGE),
    **dict.fromkeys(("PCIEFRSZ", "PCIE1RCC", "PCIE1RCD", "PCIE1BPS"), _GAUGE),
    "PCIEDAUT": Semantics(None, None),  # adapter utilization
}
"""Columns of PCIE that are this system's."""
PCIE_TEXTS = frozenset({"PCIEPCID", "PCIEASID", "PCIEPOID", "PCIELKID", "PCIESERN", "PCIETYMO"})
"""Columns of PCIE that may look like numbers."""
