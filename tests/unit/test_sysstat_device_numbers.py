"""Devices that sadf names by major and minor number: no I/O counts twice."""

from __future__ import annotations

import pytest

from counterflow.collectors.text.device_names import numbered

ONE, TWO = (10.0, 2000.0), (30.0, 500.0)


def leaves(totals: dict[str, tuple[float, ...]]) -> list[str]:
    return [name for name, device in numbered(totals).devices.items() if device.leaf]


@pytest.mark.parametrize(
    ("totals", "disks"),
    [
        ({"dev8-0": ONE, "dev8-2": ONE, "dev8-16": TWO, "dev8-17": TWO}, ["dev8-0", "dev8-16"]),
        ({"dev65-0": ONE, "dev65-1": ONE, "dev135-240": TWO}, ["dev65-0", "dev135-240"]),
        ({"dev8-1": ONE}, ["dev8-1"]),  # its disk is not listed
        ({"dev8-0": ONE, "dev253-0": ONE, "dev253-1": (0.0, 0.0)}, ["dev8-0"]),  # a volume
        ({"dev252-0": ONE, "dev252-1": ONE, "dev252-16": TWO}, ["dev252-0", "dev252-16"]),  # vda, vda1, vdb
        ({"dev252-0": ONE, "dev253-0": (9.0, 1900.0), "dev253-1": (1.0, 99.0)}, ["dev252-0"]),  # vda and its volumes
        ({"dev11-0": (0.0, 0.0), "dev252-0": ONE, "dev252-1": ONE}, ["dev11-0", "dev252-0"]),  # a drive for CDs
        ({"dev259-0": ONE, "dev259-1": (4.0, 500.0), "dev259-2": (6.0, 1500.0)}, ["dev259-0"]),
        ({"dev259-0": ONE, "dev259-1": TWO}, ["dev259-0", "dev259-1"]),
        ({"dev259-0": ONE, "dev259-1": TWO, "dev259-2": ONE, "dev259-3": TWO}, ["dev259-0", "dev259-1"]),
        ({"dev259-0": ONE, "dev259-1": ONE, "dev253-0": ONE}, ["dev259-0"]),
        ({"dev8-0": ONE, "dev9-0": ONE, "dev7-0": TWO, "dev1-0": TWO}, ["dev8-0"]),
        ({"dev94-0": ONE, "dev94-1": ONE, "dev94-4": TWO}, ["dev94-0", "dev94-4"]),
    ],
)
def test_each_transfer_counts_once(totals: dict[str, tuple[float, ...]], disks: list[str]) -> None:
    assert leaves(totals) == disks


def test_what_only_the_figures_show_is_named() -> None:
    assert numbered({"dev8-0": ONE, "dev8-1": ONE}).inferred == ()
    assert numbered({"dev8-0": ONE, "dev253-0": ONE}).inferred == ("dev253-0",)
