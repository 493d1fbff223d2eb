"""Recognises loopback addresses, the only ones that need neither TLS nor passwords."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Return whether a name or address is loopback, which no other machine can reach."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
