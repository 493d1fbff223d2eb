"""Local times as recorders write them: clocks of 12 hours, and months in other languages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from counterflow.collectors.formats.nmon.headers import local_time
from counterflow.collectors.text.stamps import SnapshotInterval, interval


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
