"""One grammar of times for every command that takes one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click
import pytest

from counterflow.cli._times import LOCAL_TIME, TIME, Time, moment

NOW = datetime(2026, 3, 29, 12, 34, 56, tzinfo=UTC)  # the day on which Europe's clocks went forward, at 01:00 UTC


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-03-02", "2026-03-02T00:00:00+00:00"),
        ("2026-03-02 08:00", "2026-03-02T08:00:00+00:00"),
        ("2026-03-02T08:00:30", "2026-03-02T08:00:30+00:00"),
        ("2026-03-02T08:00:30Z", "2026-03-02T08:00:30+00:00"),
        ("2026-03-02 08:00+01:00", "2026-03-02T07:00:00+00:00"),
        ("2026-03-02 08:00 Europe/Berlin", "2026-03-02T07:00:00+00:00"),
        ("2026-07-02 08:00 Europe/Berlin", "2026-07-02T06:00:00+00:00"),
        ("now", "2026-03-29T12:34:56+00:00"),
        ("-2h", "2026-03-29T10:34:56+00:00"),
        ("-90m", "2026-03-29T11:04:56+00:00"),
        ("-1w", "2026-03-22T12:34:56+00:00"),
        ("today", "2026-03-29T00:00:00+00:00"),
        ("yesterday", "2026-03-28T00:00:00+00:00"),
        ("today Europe/Berlin", "2026-03-28T23:00:00+00:00"),
        ("yesterday Asia/Tokyo", "2026-03-27T15:00:00+00:00"),
    ],
)
def test_a_time_is_understood(text: str, meant: str) -> None:
    found = moment(text, NOW)
    assert (found, found.utcoffset()) == (datetime.fromisoformat(meant), timedelta())


@pytest.mark.parametrize(
    "text",
    [
        "tomorow",
        "2026-02-30",
        "08:00",
        "-2y",
        "2026-03-02 Mars/Olympus",
        "now+01:00 UTC",
        "-999999d",
        "0001-01-01 Asia/Tokyo",
    ],
)
def test_what_is_no_time_is_refused_with_what_is_understood(text: str) -> None:
    with pytest.raises(click.BadParameter, match="`yesterday`, `-2h`"):
        TIME.convert(text, None, None)


@pytest.mark.parametrize("kind", [TIME, LOCAL_TIME])
def test_a_time_with_two_zones_is_refused(kind: Time) -> None:
    with pytest.raises(click.BadParameter, match="it has two zones"):
        kind.convert("2026-03-02T08:00+01:00 America/New_York", None, None)
