"""HTTP server, and the I/O processors of communications."""

from __future__ import annotations

from functools import partial
from typing import Literal

from counterflow.analysis.checks import CAPABILITIES
from counterflow.analysis.checks.definition import CheckFigure, NonNegative, check

check_of_server = partial(check, only={"http_server": True})
"""A check where an HTTP server runs."""


@check(
    "iop",
    bound="at most",
    unit="%",
    source=f"{CAPABILITIES} 15.1 (13)",
    advice="Spread the lines over more I/O processors, keep connections open, raise the MTU.",
)
def iop_utilization(iop_busy_pct: NonNegative) -> CheckFigure:
    """An I/O processor is busy 60 % or less on average."""
    return CheckFigure(iop_busy_pct, 60.0)


@check_of_server(
    bound="at most",
    unit="threads",
    source=f"{CAPABILITIES} 15.1 (10a)",
    advice="Start from CPW / 20; far too many threads only cause overhead.",
)
def http_threads(http_max_threads: NonNegative, http_cpw: NonNegative) -> CheckFigure:
    """The HTTP server has no more threads than the CPW used for it / 20."""
    return CheckFigure(http_max_threads, http_cpw / 20, "a starting point")


@check_of_server(
    source=f"{CAPABILITIES} 15.1 (5, 6)",
    advice="Switch KeepAlive on: without it secure transactions take 7 times the CPU or more.",
)
def http_keep_alive(http_keep_alive: bool) -> CheckFigure:
    """The HTTP server keeps connections open."""
    return CheckFigure(http_keep_alive, True)


@check_of_server(
    source=f"{CAPABILITIES} 15.1 (7, 10e)",
    advice="Disable unused logs: they take 5 to 10 % of CPU.",
)
def http_logging(http_access_log: bool) -> CheckFigure:
    """The HTTP server writes no access log."""
    return CheckFigure(not http_access_log, True)


@check_of_server(
    source=f"{CAPABILITIES} 15.1 (12)",
    advice="Serve from ROOT or QOpenSys: QDLS and QSYS have a half to a fifth of the capacity.",
)
def http_file_system(http_file_system: Literal["root", "qopensys", "qdls", "qsys", "other"]) -> CheckFigure:
    """Pages are served from the ROOT or QOpenSys file system."""
    return CheckFigure(http_file_system in ("root", "qopensys"), True, f"from {http_file_system}")


@check_of_server(
    source=f"{CAPABILITIES} 15.1 (10f)",
    advice="Set HostNameLookups Off.",
)
def http_name_lookups(http_name_lookups: bool) -> CheckFigure:
    """The HTTP server does no name lookup for each transaction."""
    return CheckFigure(not http_name_lookups, True)
