"""What formats share: device numbers of sadf, stamps of recorders, and running counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from counterflow.collectors.formats.nmon.headers import local_time
from counterflow.collectors.text.device_names import numbered
from counterflow.collectors.text.running_counts import beside
from counterflow.collectors.text.stamps import SnapshotInterval, interval

ONE, TWO = (10.0, 2000.0), (30.0, 500.0)


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
    assert [name for name, device in numbered(totals).devices.items() if device.leaf] == disks


def test_what_only_the_figures_show_is_named() -> None:
    assert numbered({"dev8-0": ONE, "dev8-1": ONE}).inferred == ()
    assert numbered({"dev8-0": ONE, "dev253-0": ONE}).inferred == ("dev253-0",)


@pytest.mark.parametrize(
    ("written", "hour"),
    [("12:05:00 AM", 0), ("1:05:00 am", 1), ("11:05:00AM", 11), ("12:05:00 PM", 12), ("11:05:00 p.m.", 23)],
)
def test_clocks_of_twelve_hours(written: str, hour: int) -> None:
    assert local_time(written, "21-NOV-2026") == datetime(2026, 11, 21, hour, 5)  # noqa: DTZ001 - local by design


@pytest.mark.parametrize("written", ["13:05:00 PM", "00:05:00 AM", "08:05:00 XM", "08:05:00 A"])
def test_invalid_clocks(written: str) -> None:
    assert local_time(written, "21-NOV-2026") is None


@pytest.mark.parametrize(
    "months",
    [
        "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC",
        "Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez",
        "JAN FEB M\x8eR APR MAI JUN JUL AUG SEP OKT NOV DEZ",
        "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
        "JAN FÉV MAR AVR MAI JUIN JUIL AOÛ SEP OCT NOV DÉC",
        "ENE FEB MAR ABR MAY JUN JUL AGO SEP OCT NOV DIC",
        "GEN FEB MAR APR MAG GIU LUG AGO SET OTT NOV DIC",
        "JAN FEV MAR ABR MAI JUN JUL AGO SET OUT NOV DEZ",
        "jan feb mrt apr mei jun jul aug sep okt nov dec",
        "JAN FEB MAR APR MAJ JUN JUL AUG SEP OKT NOV DEC",
        "JAN FEB MAR APR MAI JUN JUL AUG SEP OKT NOV DES",
    ],
)
def test_months(months: str) -> None:
    found = [local_time("08:05:00", f"21-{month}-2026") for month in months.split()]
    assert found == [datetime(2026, month, 21, 8, 5) for month in range(1, 13)]  # noqa: DTZ001 - local by design


@pytest.mark.parametrize("month", ["JUI", "XYZ", "M?R", "MA"])
def test_unknown_and_ambiguous_months(month: str) -> None:
    assert local_time("08:05:00", f"21-{month}-2026") is None


@pytest.mark.parametrize("nominal", [60.0, 900.0, 3600.0, 7200.0, 86400.0])
def test_an_hour_is_told_from_a_drift_at_any_interval(nominal: float) -> None:
    before = datetime(2026, 11, 21, tzinfo=UTC)
    for elapsed in (nominal, nominal + 1, nominal * 1.01):
        assert interval(before, before + timedelta(seconds=elapsed), 1, nominal) == SnapshotInterval(elapsed)
    moved = interval(before, before + timedelta(seconds=nominal + 3601), 1, nominal)
    assert moved.seconds == nominal
    assert "moved by an hour" in str(moved.note)


def test_the_interval_is_that_between_the_times_that_both_records_carry() -> None:
    first, second = (datetime(2026, 3, 2, 8, 0, s, us, tzinfo=UTC) for s, us in ((0, 999_900), (15, 1_100)))
    found = beside(beside(None, first, {"out_bytes": 1.0}).sample, second, {"out_bytes": 2.0})
    assert found.fields == {"interval_s": 14.002, "prev_ts": "2026-03-02T08:00:00.999Z", "prev_out_bytes": 1.0}
    assert found.sample["ts"] == "2026-03-02T08:00:15.001Z"
