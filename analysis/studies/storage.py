"""Logs, drives and buses: rates and capacities from their counts and ratings."""

from __future__ import annotations

from counterflow.analysis.studies.percentages import Number, per

CI_BYTES = 4096
"""A control interval of Db2's active log."""


def log_bytes_per_s(cis_per_s: Number, copies: Number) -> Number:
    """Return the bytes a second of one log copy from the CIs written to all copies (QJSTCIWR)."""
    each = per(cis_per_s, copies)
    return None if each is None else each * CI_BYTES


def gb(mb: float) -> float:
    """Return MB as GB of 1000 MB, as prose does."""
    return mb / 1000


def mib(size_bytes: Number) -> Number:
    """Return bytes as MB of 1,048,576 bytes."""
    return per(size_bytes, 2**20)


def kib(size_bytes: Number) -> Number:
    """Return bytes as KB of 1,024 bytes."""
    return per(size_bytes, 2**10)


def tib(size_bytes: float) -> float:
    """Return bytes as TB of 2⁴⁰ bytes, as `lsblk` does."""
    return size_bytes / 2**40


def raid10_bytes(drives: int, drive_bytes: float) -> float:
    """Return the capacity of mirrored pairs: half of that of the drives."""
    return drives / 2 * drive_bytes


def pcie_gb_per_s(gigatransfers_per_s: float, lanes: int) -> float:
    """Return GB/s each way of a PCIe link of generation 3 or later: 128 bits in 130 carry data."""
    return gigatransfers_per_s * lanes * 128 / 130 / 8
