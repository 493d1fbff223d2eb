"""Charts of AIX, VIOS and Linux over recordings in a real ClickHouse: what is stored is drawn, and right."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from click.testing import CliRunner

from counterflow.base.clickhouse import ClickHouse
from counterflow.cli import cli
from counterflow.dashboards import alerting, buckets
from counterflow.dashboards.definition import charts
from counterflow.dashboards.frames import fetch
from counterflow.dashboards.macros import Range, expand
from counterflow.dashboards.report.figures import points
from counterflow.pipelines.landing.rollups import refresh
from counterflow.stack.settings import StackSettings
from tests.golden.cases import golden
from tests.support.recordings import RECORDINGS
from tests.support.shapes import problems
from tests.support.tables import empty_tables, insert, insert_each

AIX, LINUX, VIOS, GPU, NJMON = "aixgen01", "vm", "vios1", "gpu1", "njvm"
FILES = {
    AIX: "aix_generated.nmon",
    LINUX: "linux_16n_full.nmon",
    NJMON: "njmon_v25_linux.json",
}
CASES = {VIOS: "nmon/vios", GPU: "nmon/linux_gpu"}
SPANS = {
    AIX: (datetime(2026, 3, 2, 8, tzinfo=UTC), timedelta(hours=4, minutes=5)),
    LINUX: (datetime(2026, 11, 21, 1, 40, tzinfo=UTC), timedelta(minutes=5)),
    NJMON: (datetime(2026, 11, 21, 0, tzinfo=UTC), timedelta(hours=6)),
    VIOS: (datetime(2016, 2, 10, 12, tzinfo=UTC), timedelta(hours=12)),
    GPU: (datetime(2024, 3, 5, 6, tzinfo=UTC), timedelta(hours=12)),
}


@pytest.fixture(scope="module")
def admin(clickhouse: StackSettings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouse]:
    """An engine with the recordings."""
    with empty_tables(clickhouse) as admin:
        seq = 0
        files = {system: RECORDINGS / file for system, file in FILES.items()}
        files |= {system: golden(name).written(tmp_path_factory.mktemp(system)) for system, name in CASES.items()}
        for system, file in files.items():
            parsed = CliRunner().invoke(cli, ["look", "--records", "--system", system, str(file)])
            rows: list[tuple[str, dict[str, Any]]] = []
            for row in map(json.loads, parsed.stdout.splitlines()):
                if "dataset" in row and "reject" not in row:
                    seq += 1
                    envelope = {"system": system, "agent_id": "a", "seq": seq, "collected_at": row["ts"]}
                    rows.append((row.pop("dataset"), row | envelope))
            insert_each(admin, rows)
        refresh(admin)
        yield admin


def drawn(client: ClickHouse, name: str, system: str, bucket_s: int = 300) -> list[dict[str, Any]]:
    begin, length = SPANS[system]
    chart = charts()[name]
    found = fetch(client, expand(chart.query, Range(begin, begin + length, bucket_s), {"system": (system,)}))
    assert list(problems(chart, found)) == []
    columns = [column.name for column in found.columns]
    return [dict(zip(columns, row, strict=True)) for row in found.rows] if points(chart, found) else []


def test_a_recorder_that_skips_a_second_now_and_then_leaves_no_gaps(admin: ClickHouse) -> None:
    """Samples are a second apart; three of the sixty come after two."""
    drawn_at = [
        datetime.fromisoformat(row["time"]) for row in drawn(admin, "unix_cpu", LINUX, 1) if row["User"] is not None
    ]
    apart = {(after - before).total_seconds() for before, after in pairwise(drawn_at)}
    assert (len(drawn_at), apart) == (32, {2.0})


@pytest.mark.parametrize(
    ("intervals_s", "usual_s"),
    [([300] * 40 + [301] * 9, 300), ([15] * 20 + [3600], 15), ([10] * 9 + [11], 11), ([2] * 9 + [9], 2), ([1], 1)],
)
def test_the_usual_interval_is_none_of_a_pause(intervals_s: list[int], usual_s: int, admin: ClickHouse) -> None:
    begin, system = datetime(2026, 6, 1, tzinfo=UTC), f"usual {intervals_s}"
    rows = ({"ts": begin + timedelta(seconds=n), "interval_s": took_s} for n, took_s in enumerate(intervals_s))
    insert(admin, "manifest", *rows, system=system, counted="disk", row_count=1)
    shown = Range(begin, begin + timedelta(hours=1), 1)
    [[found]] = fetch(admin, expand(f"SELECT {buckets.usual_s(['disk'])}", shown, {"system": (system,)})).rows
    assert found == usual_s


@pytest.mark.parametrize(
    ("chart", "systems", "is_known"),
    [
        *(("unix_paging_space_io", systems, is_known) for systems, is_known in (((AIX,), True), ((AIX, LINUX), False))),
        *(("unix_cpu", systems, is_known) for systems, is_known in (((LINUX,), True), ((LINUX, NJMON), False))),
    ],
)
def test_the_sum_or_mean_of_the_peaks_of_systems_is_no_peak(
    chart: str, systems: tuple[str, ...], is_known: bool, admin: ClickHouse
) -> None:
    """A bucket of a year holds both recordings."""
    year = Range(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC), 365 * 86_400)
    found = fetch(admin, expand(charts()[chart].sql, year, {"system": systems}))
    [[_, first, *_, peak]] = found.rows
    assert (first is not None, peak is not None) == (True, is_known)


def test_faults_of_which_a_kind_is_unknown_are_not_drawn(admin: ClickHouse) -> None:
    begin, system = datetime(2026, 6, 1, tzinfo=UTC), "faults"
    every = {"ts": begin + timedelta(minutes=1), "interval_s": 60, "system": system, "source": "nmon"}
    faults = {"known": {"minor_faults": 540, "major_faults": 60}, "unknown": {"minor_faults": 540}}
    insert(admin, "job", *({"job": name, "command": name, **counts} for name, counts in faults.items()), **every)
    insert(admin, "manifest", {"counted": "job", "row_count": 2}, **every)
    shown = Range(begin, begin + timedelta(hours=1), 60)
    found = fetch(admin, expand(charts()["linux_top_faults"].query, shown, {"system": (system,)}))
    assert [row[1:] for row in found.rows if row[1] is not None] == [["known", 10]]


def recorded(system: str, section: str) -> list[list[str]]:
    """Return the rows of a section as the file has them."""
    lines = (RECORDINGS / FILES[system]).read_text().splitlines()
    return [line.split(",") for line in lines if line.startswith(f"{section},T")]


@pytest.mark.parametrize(
    ("name", "system"),
    [
        *((name, VIOS) for name in ("aix_sea", "aix_sea_packets", "aix_sea_physical", "aix_sea_errors")),
        *((name, VIOS) for name in ("aix_wlm_processors", "aix_fibre_channel", "aix_adapters", "unix_nfs_server")),
        *((name, GPU) for name in ("linux_gpu_load", "linux_gpu_temperature", "linux_gpu_power", "linux_clock")),
        *((name, GPU) for name in ("unix_huge_pages", "unix_nfs_client")),
        *((name, NJMON) for name in ("linux_numa", "unix_inodes", "unix_disk_read_service", "linux_dirty")),
        *((name, LINUX) for name in ("unix_disk_groups", "unix_disk_group_size", "linux_interrupts")),
        *((name, AIX) for name in ("aix_volume_groups", "aix_aio", "aix_top_io", "unix_disk_wait", "aix_pool")),
        *((name, AIX) for name in ("config_glance", "config_lines")),
    ],
)
def test_what_few_recordings_have_is_drawn_where_they_do(admin: ClickHouse, name: str, system: str) -> None:
    assert drawn(admin, name, system)


def test_file_systems_are_as_full_as_the_recording_states(admin: ClickHouse) -> None:
    for chart, section in (("unix_filesystems", "JFSFILE"), ("unix_inodes", "JFSINODE")):
        of_file = sorted(float(value) for row in recorded(AIX, section) for value in row[2:])
        assert sorted(row["Value"] for row in drawn(admin, chart, AIX)) == pytest.approx(of_file)


def test_processors_are_those_of_the_recording(admin: ClickHouse) -> None:
    rows = drawn(admin, "aix_cpu", AIX)
    of_file = [[float(value) for value in row[2:7]] for row in recorded(AIX, "PCPU_ALL")]
    assert len(rows) == len(of_file) == 48
    for row, (user, system, wait, idle, entitled) in zip(rows, of_file, strict=True):
        assert [row["User"], row["System"], row["Wait"], row["Idle"]] == pytest.approx([user, system, wait, idle])
        assert (row["Entitlement"], row["Virtual processors"]) == pytest.approx((entitled, 2))


def test_a_point_over_a_day_weighs_intervals_and_shows_the_highest(admin: ClickHouse) -> None:
    [row] = drawn(admin, "aix_entitlement", AIX, bucket_s=86400)
    consumed = [float(line[2]) / 0.8 * 100 for line in recorded(AIX, "LPAR")]
    assert row["Of entitlement"] == pytest.approx(sum(consumed) / len(consumed))
    assert row["Busiest interval"] == pytest.approx(max(consumed))


def test_processes_are_of_all_the_time_recorded(admin: ClickHouse) -> None:
    rows = drawn(admin, "unix_top_cpu", AIX, bucket_s=86400)
    top = [line for line in (RECORDINGS / FILES[AIX]).read_text().splitlines() if line.startswith("TOP,")]
    used = sum(float(f[3]) for f in (line.split(",") for line in top) if f[1].isdigit() and f[13] == "db2sysc")
    [row] = [row for row in rows if row["series"] == "db2sysc"]
    assert row["Value"] == pytest.approx(used / 100 / 47, rel=0.01)


@pytest.mark.parametrize(("system", "platform"), [(AIX, "AIX"), (LINUX, "")])
@pytest.mark.parametrize(
    "alert", [alert for alert in alerting.alerts().values() if alert.aix_board], ids=lambda a: a.name
)
def test_an_alert_leads_to_the_board_of_the_platform(
    admin: ClickHouse, alert: alerting.Alert, system: str, platform: str
) -> None:
    rules = [rule for group in alerting.grafana()["groups"] for rule in group["rules"]]
    [sql] = [rule["data"][0]["model"]["rawSql"] for rule in rules if rule["title"] == alert.title]
    begin, span = SPANS[system]
    found = fetch(admin, expand(sql, Range(begin, begin + span, 60), {}))
    names = [column.name for column in found.columns]
    assert {row[names.index("platform")] for row in found.rows if row[names.index("system")] == system} == {platform}
