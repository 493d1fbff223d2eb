"""What only this machine reaches: the one place without TLS and passwords of its own."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Say whether a name or address is this machine's own and reached by nobody else."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
