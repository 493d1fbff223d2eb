"""Published rules and `whatif mirror` over rows of a real ClickHouse, names with quotes and markup among them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from counterflow.analysis.checks.report import measured, measures
from counterflow.analysis.queries import BEGINNING, END, restricted
from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.cli import cli
from tests.support.tables import insert

NAME = 'o\'pfer \\ [bold]"x"'
TABLES = ("pool", "disk", "job", "counter", "system_cpu", "link", "io_mix", "manifest", "config")
DAY = ("--from", "2026-03-01", "--to", "2026-03-02")
PERIOD = ("--system", NAME, *DAY)

Run = Callable[..., Result]


@pytest.fixture
def run(client: ClickHouse, in_environment: None) -> Run:
    for table, rows in _rows().items():
        insert(client, table, *rows, interval_s=100.0, system=NAME, source="ibmi_tables")
    return lambda *arguments: CliRunner().invoke(cli, arguments, catch_exceptions=False)


def _rows() -> dict[str, list[dict[str, Any]]]:
    """Return two intervals of 100 s of a system, and one of another system that no command selects."""
    rows: dict[str, list[dict[str, Any]]] = {t: [] for t in TABLES}

    def add(table: str, minute: int, **columns: Any) -> None:
        rows[table].append({"ts": f"2026-03-01 00:{minute:02}:00", **columns})

    for minute in (10, 20):
        add(
            "pool",
            minute,
            pool="001",
            pool_name="*MACHINE",
            size_mb=1000.0,
            reserved_mb=100.0 if minute == 10 else 600.0,
        )
        add("pool", minute, pool="003", pool_name="*INTERACT", size_mb=500.0, faults=5000.0, active_to_ineligible=0.0)
        add("pool", minute, pool="004", pool_name="*SHRPOOL1", faults=4000.0, active_to_ineligible=minute - 10.0)
        add("system_cpu", minute, engine_type="core", engine="all", busy_pct=40.0 + minute, configured_cpu_ms=200_000.0)
        for job, kind, pool, transactions in (("1/A/INT/1", "I", "03", 2000.0), ("2/B/BCH/2", "B", "04", 0.0)):
            number, user, name, task = job.split("/")
            identity = {"job_number": number, "job_user": user, "job_name": name, "task": task, "job_type": kind}
            figures = {
                "transactions": transactions,
                "response_s": transactions * 0.4,
                "cpu_ms": {"I": 96_000.0, "B": 48_000.0}[kind],
                "full_opens": 50.0,
            }
            add("job", minute, job=job, command=name, job_pool=pool, **identity, **figures)
        disk = {"device_type": "disk", "leaf": True, "asp": "1", "service_ms": 7.0, "wait_ms": 1.0}
        for number, busy in (("DMP1", 12.0), ("DMP2", 2.0 * minute + 1)):
            size = {"read_kb": 16_000.0, "written_kb": 8_000.0}
            add("disk", minute, disk=number, busy_pct=busy, reads=1000.0, writes=500.0, **size, **disk)
        add(
            "io_mix",
            minute,
            grouping="partition",
            name="*",
            reads=60.0,
            inserts=30.0,
            other=10.0,
            commits=0,
            rollbacks=0,
        )
        add(
            "io_mix",
            minute,
            grouping="generic_job",
            name="it's[b]",
            reads=60.0,
            read_for_update=60.0,
            inserts=40.0,
            other=0.0,
        )
    for unit, pool, used_by_path in (("19", "2", (10, 0)), ("20", "2", (10, 10, 10, 0)), ("21", "3", (10, 10, 0, 0))):
        for path, transfers in enumerate(used_by_path):
            of = {
                "device_type": "path",
                "leaf": True,
                "unit": f"{path % 2 * '00'}{unit}",
                "asp": pool,
                "capacity_mb": 100.0 * int(unit),
            }
            add("disk", 20, disk=f"DMP{unit}{path}", transfers=float(transfers), **of)
    for half in ("A", "B"):  # of a mirrored pair
        add("disk", 20, disk=f"DMP22{half}", device_type="disk", leaf=True, unit="22", asp="3")
    for unit, pool in (("1", "1"), ("20", "2"), ("22", "3"), ("22#2", "3")):  # a listing of the same units
        add("disk", 21, source="wrkdsksts", disk=unit, device_type="disk", leaf=True, unit=unit[:2], asp=pool)
    for jobs, value in (("TOTAL", 9.0), ("MAXIMUM", 10.0), ("ACTIVE", 4.0)):
        add("counter", 20, section="SYSTEM_STATUS", instance="", counter=f"{jobs}_JOBS_IN_SYSTEM", value=value)
    for group, peer in (("MIRROR_DATABASE", "10.0.0.2"), ("MIRROR_RESYNC", "10.0.0.2"), ("MIRROR_RESYNC", "10.0.1.2")):
        add("link", 20, link=f"{group} {peer}", link_type="nrg_link", group=group, peer=peer)
    add("manifest", 20, counted="pool", row_count=5)
    entry = {
        "INITIAL_JOBS": "3",
        "THRESHOLD": "20",
        "ADDITIONAL_JOBS": "40",
        "MAXIMUM_USES": "-1",
        "SUBSYSTEM_ACTIVE": "YES",
    }
    settings = [("SYSTEM_VALUE_INFO", "QPFRADJ", "CURRENT_CHARACTER_VALUE", "2"), ("QAPMSYSTEM", "", "SYSHRF", "Y")]
    settings += [("SYSTEM_VALUE_INFO", "QPRCMLTTSK", "CURRENT_CHARACTER_VALUE", "0")]
    settings += [("PRESTART_JOB_INFO", "QSYS/QUSRWRK", name, value) for name, value in entry.items()]
    settings += [("PRESTART_JOB_INFO", "OLD/SBS", *of) for of in (("INITIAL_JOBS", "1"), ("SUBSYSTEM_ACTIVE", "NO"))]
    counted = {"JOURNALED_FILES": "120", "FILES_WITH_BEFORE_IMAGES": "3", "FILES_WITH_OPEN_CLOSE": "0"}
    settings += [("JOURNALED_OBJECTS", "", name, value) for name, value in counted.items()]
    settings += [("SYSDISKSTAT", disk, "UNIT_TYPE", "1") for disk in ("DMP1", "DMP2")]
    settings += [("MEMORY_POOL", "4", "PAGING_OPTION", "*CALC"), ("MEMORY_POOL", "9", "PAGING_OPTION", "*CALC")]
    for section, item, name, value in settings:  # sent once, long before the time that is checked
        add("config", 0, ts="2026-02-02 00:00:00", section=section, item=item, name=name, value=value)
    add("config", 1, system="sees no journal", section="mirror", item="", name="distance_km", value="20")
    adjusted = {"section": "SYSTEM_VALUE_INFO", "item": "QPFRADJ", "name": "CURRENT_CHARACTER_VALUE", "value": "1"}
    add("config", 0, ts="2026-02-01 00:00:00", **adjusted)
    add("config", 0, ts="2026-02-01 00:00:00", system="not measured", **adjusted)
    add("manifest", 20, system="sees no journal", counted="pool", row_count=1)
    for name in counted:
        add("config", 1, system="sees no journal", section="JOURNALED_OBJECTS", item="", name=name, value="0")
    add("pool", 10, system="other", pool="1", pool_name="*MACHINE", size_mb=10.0, reserved_mb=10.0)
    add("pool", 10, source="nmon", pool="memory", size_mb=10.0)
    return rows


def rules(answer: Result) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the answers about published rules, by rule and the thing that it judged."""
    lines = [orjson.loads(line) for line in answer.stdout_bytes.splitlines()]
    assert {line["system"] for line in lines if line["kind"] == "rule"} <= {NAME, "sees no journal"}
    return {(line["subject"], line["entity"] or "system"): line for line in lines if line["kind"] == "rule"}


@pytest.mark.usefixtures("run")
def test_every_input_query_names_what_it_returns(reader: ClickHouse) -> None:
    for query in measures():
        rows = reader.rows(query.sql, restricted((), BEGINNING, END))
        subject = set() if query.subject == "system" else {"subject"}
        assert rows, query.sql
        assert set(rows[0]) == {"system", *subject, *query.columns}


@pytest.mark.usefixtures("run")
def test_a_unit_with_several_paths_is_one_disk_and_a_mirrored_pair_two_whoever_else_lists_them(
    reader: ClickHouse,
) -> None:
    found = measured(reader, restricted((), BEGINNING, END))[NAME]
    assert {pool: found["asp", pool]["disks"] for pool in ("1", "2", "3")} == {"1": 2.0, "2": 2.0, "3": 3.0}
    # two disks, each 10 reads/s of 34 µs and 5 writes/s of 36 µs; what is not known of the others is none of it
    assert found["system", ""]["virtual_scsi_processors"] == pytest.approx(2 * (10 * 34 + 5 * 36) / 1e6)
    assert (found["asp", "2"]["smallest_disk_mb"], found["asp", "2"]["largest_disk_mb"]) == (1900.0, 2000.0)


def test_rules_warn_pass_and_report_what_they_need(run: Run, tmp_path: Path) -> None:
    facts = tmp_path / "facts.yaml"
    held = {"pools": {"4": {"holds_objects": True}}}
    facts.write_bytes(b"systems: " + orjson.dumps({NAME: {"vios": False, "qdbmsrvr_threshold": 50} | held}))
    answer = run("doctor", NAME, *DAY, "--facts", str(facts), "--json")
    assert answer.exit_code == 2  # of the parts, ClickHouse alone runs here
    found = rules(answer)
    figures = {key: (r["status"], r["details"]["value"]) for key, r in found.items() if r["status"] != "unknown"}
    assert figures == {
        ("machine_pool_size", "pool 1"): ("warn", 1000.0),  # of 600 MB reserved at the worst
        ("activity_level", "pool 3"): ("pass", 0.0),
        ("activity_level", "pool 4"): ("warn", 0.1),
        ("interactive_faulting", "pool 3"): ("pass", pytest.approx(5.0)),  # 50 faults/s, 8 ms, 20 tps, 0.4 s
        ("batch_faulting", "pool 4"): ("warn", pytest.approx(40.0)),  # 32 % of the time in faults, 48 % at a processor
        ("expert_cache", "pool 4"): ("pass", 55.0),
        ("object_pool", "pool 4"): ("warn", False),  # *SHRPOOL1, QPFRADJ 2
        ("multithreading", "system"): ("warn", False),
        ("disk_busy", "asp 1"): ("warn", 41.0),
        ("job_tables", "system"): ("warn", 90.0),
        ("lun_paths", "asp 2"): ("warn", 2.0),
        ("lun_paths", "asp 3"): ("pass", 4.0),
        ("path_balance", "asp 2"): ("warn", 1.0),
        ("path_balance", "asp 3"): ("pass", 0.0),
        ("resync_link", "system"): ("warn", 1.0),
        ("pool_adjustment", "system"): ("pass", True),
        ("qdbmsrvr_inljobs", "system"): ("warn", 3.0),
        ("qdbmsrvr_threshold", "system"): ("pass", 20.0),
        ("qdbmsrvr_adljobs", "system"): ("pass", 40.0),
        ("qdbmsrvr_maxuse", "system"): ("pass", "*NOMAX"),
        ("journal_open_close", "system"): ("pass", True),
        ("journal_before_images", "system"): ("warn", False),
        ("mirror_processors", "system"): ("warn", False),
        ("mirror_storage", "system"): ("pass", True),
    }
    assert found["journal_before_images", "system"]["details"]["note"] == "3 of 120 journaled files, mirrored or not"
    assert "PRESTART_JOB_INFO" in found["qdbmsrvr_threshold", "system"]["details"]["inputs"]["qdbmsrvr_threshold"]
    assert found["disk_busy", "asp 1"]["details"]["note"] == "unit DMP2"
    assert found["lun_paths", "asp 2"]["details"]["note"] == "unit 19"
    assert "; 5 of them queued" in found["job_tables", "system"]["details"]["note"]
    assert found["full_opens", "system"]["needs"].keys() == {"full_opens_goal_per_s"}
    assert "vios_memory" not in {check for check, _ in found}


def test_journals_are_unknown_where_none_is_seen(run: Run) -> None:
    found = rules(run("doctor", "sees no journal", *DAY, "--json"))
    assert found["journal_before_images", "system"]["status"] == "unknown"


def test_a_period_has_the_intervals_that_end_after_its_beginning_and_by_its_end(run: Run) -> None:
    judged = run("doctor", NAME, "--from", "2026-03-01T00:00:00", "--to", "2026-03-01T00:10:00", "--json")
    assert rules(judged)["batch_faulting", "pool 4"]["status"] == "warn"
    nothing = run("doctor", NAME, "--from", "2026-03-01T00:10:00", "--to", "2026-03-01T00:15:00", "--json")
    assert "batch_faulting" not in {subject for subject, _ in rules(nothing)}


def test_where_nothing_was_recorded_no_rule_judges_and_no_mirror_is_studied(run: Run) -> None:
    [answer] = [
        one
        for (name, _), one in rules(run("doctor", NAME, "--from", "2027-01-01", "--json")).items()
        if name != "days_to_limit"
    ]
    assert (answer["subject"], answer["status"]) == ("published rules", "unknown")
    with pytest.raises(CounterflowError) as error:
        run("whatif", "mirror", *PERIOD[:2], "--from", "2027-01-01")
    assert error.value.exit_code == 2


def test_the_mirror_study_reads_the_measured_mixes(run: Run) -> None:
    [line] = map(
        orjson.loads, run("whatif", "line", *PERIOD, "--line-gbits", "100", "--json").stdout_bytes.splitlines()
    )
    assert line["figures"]["capacity_pct"]["value"] == 1
    answer = run("whatif", "mirror", *PERIOD, "--km", "10", "--json")
    assert answer.exit_code == 0
    partition, jobs = (orjson.loads(line) for line in answer.stdout_bytes.splitlines())
    assert (partition["name"], partition["intervals"]) == ("*", 2)
    assert partition["figures"]["exposure_pct"]["value"] == pytest.approx(40.0)
    assert partition["figures"]["exposure_pct"]["note"].startswith("lower bound")
    assert partition["figures"]["row_changes_per_s"]["value"] == pytest.approx(0.4)
    assert (jobs["system"], jobs["name"]) == (NAME, "it's[b]")
    assert jobs["figures"]["exposure_pct"]["value"] == 100.0
    assert jobs["figures"]["distance_us"]["value"] == 200.0
    table = run("whatif", "mirror", *PERIOD)
    assert "it's[b]" in table.output
    assert NAME in table.output
