"""Communications: CPU for a throughput, connections, frames, TLS handshakes, I/O processors, and the HTTP server."""

from __future__ import annotations

from difflib import get_close_matches
from functools import partial
from typing import Annotated, Literal

from pydantic import AfterValidator

from counterflow.analysis.checks import CAPABILITIES
from counterflow.analysis.checks.definition import CheckFigure, NonNegative, Positive, check

check_of_server = partial(check, only={"http_server": True})
"""A check where an HTTP server runs."""

# Tables 2.6 and 2.8. Their header reads "per server CPU"; the text's own arithmetic is per 1 % of a CPU.
SECURITIES = (
    "none",
    "ssl_rc4_md5",
    "ssl_rc4_sha1",
    "ssl_aes128_sha1",
    "ssl_aes256_sha1",
    "ssl_tdes_sha1",
    "vpn_ah_md5",
    "vpn_esp_rc4_md5",
    "vpn_esp_aes128_sha1",
    "vpn_esp_tdes_sha1",
)
_RATES = {
    "request_response": (1167, 565.4, 530.0, 479.6, 462.1, 202.2, 428.5, 322.9, 307.71, 148.4),
    "connect_request_response": (249.7, 53.4, 48.0, 31.3, 27.4, 4.8, 49.9, 37.7, 32.7, 9.1),
    "stream": (478.4, 55.7, 53.3, 36.9, 31.9, 6.5, 44.0, 31.0, 25.6, 5.4),
}
CAPACITY = {
    f"{kind}/{security}": float(rate)
    for kind, rates in _RATES.items()
    for security, rate in zip(SECURITIES, rates, strict=True)
}
"""Transactions/s for 1 % of a server CPU, by `kind of traffic/security`."""

RSA_PER_S = {1024: 1044.0, 2048: 462.0}
"""RSA operations/s of one 4764, ten threads, by key length in bits."""
CLIENT_WEIGHTS = (2, 3)
"""CPU of a full handshake that authenticates the client too, in those that authenticate the server alone (3.5)."""
PAIRS_IN_WAIT = 500 * 120


def _known(traffic: dict[str, float]) -> dict[str, float]:
    if unknown := sorted(set(traffic) - set(CAPACITY)):
        near = get_close_matches(unknown[0], CAPACITY, 1)
        raise ValueError(
            f"`{unknown[0]}` is not in the tables; " + (f"did you mean `{near[0]}`?" if near else _EXAMPLE)
        )
    return traffic


_EXAMPLE = "for example `request_response/none`"
Traffic = Annotated[dict[str, NonNegative], AfterValidator(_known)]
"""Transactions/s by a name of `CAPACITY`."""


@check(
    bound="at most",
    unit="% of a CPU",
    source=f"{CAPABILITIES} 2.5, tables 2.6 and 2.8",
    advice="Add CPU, keep connections open, or choose a cheaper cipher. A rough indicator only.",
)
def communications_cpu(planned_traffic: Traffic, processors: Positive, cpu_busy_max_pct: NonNegative) -> CheckFigure:
    """The additional planned traffic fits in the CPU that the busiest interval leaves:
    transactions/s / capacity of its kind and security.
    """
    cpu = sum(cpu_pct(rate, CAPACITY[kind]) for kind, rate in planned_traffic.items())
    left = max(0.0, (100 - cpu_busy_max_pct) * processors)
    return CheckFigure(cpu, left, "the text's arithmetic: table values are per 1 % of a CPU")


def cpu_pct(transactions_per_s: float, capacity: float) -> float:
    """Return the percentage of one CPU that a rate needs if 1 % handles `capacity` transactions a second."""
    return transactions_per_s / capacity


def transactions_per_s(cpu_pct: float, capacity: float) -> float:
    """Return the rate that a percentage of one CPU can handle if 1 % handles `capacity` transactions a second."""
    return cpu_pct * capacity


@check(
    bound="at most",
    unit="connections/s",
    source=f"{CAPABILITIES} 2.6",
    advice="CHGTCPA TCPCLOTIMO: a socket pair cannot be used again for that long.",
)
def new_connections(new_connections_per_s: NonNegative, tcp_close_timeout_s: Positive) -> CheckFigure:
    """New connections stay below the limit of the closed connection time-out: about 500/s at its default of 120 s."""
    note = "about 500/s at 120 s; inversely proportional for others, which is inferred"
    return CheckFigure(new_connections_per_s, PAIRS_IN_WAIT / tcp_close_timeout_s, note)


@check(
    bound="at least",
    unit="bytes",
    source=f"{CAPABILITIES} 2.6",
    advice="Set the frame size of the virtual Ethernet to jumbo frames, in all components on the path.",
)
def virtual_ethernet_frames(virtual_ethernet_mtu: NonNegative) -> CheckFigure:
    """Virtual Ethernet uses jumbo frames: an MTU of 8,992 bytes."""
    return CheckFigure(virtual_ethernet_mtu, 8992.0)


@check(
    bound="at most",
    unit="handshakes/s",
    source=f"{CAPABILITIES} 3.5; rates of the 4764 from 3.4",
    advice="Use a cryptographic coprocessor for the RSA operations, and request client authentication only where "
    "needed.",
)
def ssl_handshakes(
    full_handshakes_per_s: NonNegative,
    client_handshakes_per_s: NonNegative,
    crypto_coprocessors: NonNegative,
    rsa_key_bits: Literal[1024, 2048],
) -> CheckFigure:
    """Full TLS handshakes stay below the rate of the cryptographic coprocessors; without any, below that of one.
    One that authenticates the client counts three times, the most that the reference states.
    """
    least, most = (full_handshakes_per_s + (weight - 1) * client_handshakes_per_s for weight in CLIENT_WEIGHTS)
    limit = max(1.0, crypto_coprocessors) * RSA_PER_S[rsa_key_bits]
    note = "busiest interval; limit of the 4764 at ten threads"
    if client_handshakes_per_s:
        note += f"; {client_handshakes_per_s:,.4g}/s authenticate the client: counted twice, {least:,.4g}"
    return CheckFigure(most, limit, note)


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
