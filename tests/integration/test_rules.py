"""`counterflow rules` as a person runs it: a file or stored intervals in, a line an interval out, and bad input."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest

from counterflow.schemas.definition import datasets
from counterflow.stack.settings import StackSettings
from tests.support.command_line import run as run_command
from tests.support.tables import empty_tables, insert

# as in tables 7-4 and 7-5 at a capacity of 3 %: 8 threads, then 10
FREE = (4.49, 4.57, 4278626, 87.96, 88.53)
HELD = (1.86, 1.90, 1759392, 89.15, 89.79)
KEYS = ["ts", "system", "link", "state", "signal", "stale", "reason"]


def rules_(*arguments: object, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return run_command("rules", *map(str, arguments), stdin=stdin.encode(), **environment)


def line(number: int, run: tuple[float, ...], link: str = "roce0", **more: Any) -> dict[str, Any]:
    out, in_, msgs, all_out, all_in = run
    return {
        "ts": f"2026-11-21T00:{number // 2:02}:{number % 2 * 30:02}Z",
        "interval_s": 30,
        "system": "a",
        "link": link,
        "own_out_bytes_s": out * 1e9 / 8,
        "own_in_bytes_s": in_ * 1e9 / 8,
        "own_msgs_s": msgs,
        "phys_out_bytes_s": all_out * 1e9 / 8,
        "phys_in_bytes_s": all_in * 1e9 / 8,
        "line_bits_s": 100_000_000_000,
        "capacity_pct": 3,
        "link_count": 1,
        **more,
    }


RESET = {"reset": True, "own_out_bytes_s": None, "own_in_bytes_s": None, "own_msgs_s": None}


def series(link: str = "roce0", **more: Any) -> list[dict[str, Any]]:
    """Return four free intervals, a reset, four held ones; interval 7 is missing."""
    runs = [(1, FREE), (2, FREE), (3, FREE), (4, FREE), (6, HELD), (8, HELD), (9, HELD), (10, HELD)]
    lines = [line(number, run, link, **more) for number, run in runs]
    return [*lines[:4], line(5, FREE, link, **{**more, **RESET}), *lines[4:]]


EXPECTED = [
    *[("OK", "OK", False)] * 4,
    ("UNKNOWN", None, True),
    *[("OK", "CAPPED", False)] * 2,
    *[("CAPPED", "CAPPED", False)] * 2,
]


@pytest.fixture
def intervals(tmp_path: Path) -> Path:
    path = tmp_path / "intervals.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in series()))
    return path


def test_a_file_is_replayed_line_by_line(intervals: Path) -> None:
    run = rules_("replay", "roce_cap", "--input", intervals, "--json")
    assert run.returncode == 0, run.stderr
    verdicts = [json.loads(text) for text in run.stdout.splitlines()]
    assert [list(verdict) for verdict in verdicts] == [KEYS] * 9
    assert [(v["state"], v["signal"], v["stale"]) for v in verdicts] == EXPECTED
    assert [v["ts"] for v in verdicts] == [row["ts"] for row in series()]
    assert "restarted" in verdicts[4]["reason"]
    assert "0.7004" in verdicts[-1]["reason"]


def test_links_and_systems_are_judged_apart(intervals: Path) -> None:
    both = [
        row
        for rows in zip(series(), series("roce1", own_msgs_s=4278626), series(system="b"), strict=True)
        for row in rows
    ]
    run = rules_("replay", "roce_cap", "--input", "-", "--json", stdin="\n".join(map(json.dumps, both)))
    verdicts = [json.loads(text) for text in run.stdout.splitlines()]
    assert [v["link"] for v in verdicts[:3]] == ["roce0", "roce1", "roce0"]
    for first in (0, 2):
        assert [(v["state"], v["signal"], v["stale"]) for v in verdicts[first::3]] == EXPECTED
    assert {v["state"] for v in verdicts[1::3] if not v["stale"]} == {"OK"}


def test_without_json_it_is_a_table_and_names_are_harmless(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(line(1, FREE, "[bold]x[/nothing]\x1b[31m")) + "\n\n")
    run = rules_("replay", "roce_cap", "--input", path)
    assert run.returncode == 0, run.stderr
    assert "[bold]x[/nothing]" in run.stdout
    assert "\x1b" not in run.stdout
    assert "own share 1.711" in run.stdout


def test_parameters_are_set_by_name(intervals: Path) -> None:
    run = rules_(
        "replay", "roce_cap", "--input", intervals, "--json", "--set", "raise_after=2", "--set", "share_high=0.7"
    )
    assert {json.loads(text)["signal"] for text in run.stdout.splitlines()} == {"OK", None}
    run = rules_("replay", "roce_cap", "--input", intervals, "--json", "--set", "raise_after=2")
    assert [json.loads(text)["state"] for text in run.stdout.splitlines()][5:] == ["OK", *["CAPPED"] * 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "drop=0.8"], "drop_ratio"),
        (["--set", "raise_after=1.5"], "whole number"),
        (["--set", "raise_after"], "NAME=VALUE"),
        (["--from", "2026-11-21", "--to", "2026-11-22"], "either --input FILE or both --from and --to"),
    ],
)
def test_wrong_settings_name_what_is_right(intervals: Path, arguments: list[str], message: str) -> None:
    run = rules_("replay", "roce_cap", "--input", intervals, *arguments)
    assert run.returncode == 2
    assert message in " ".join(run.stderr.split())


def test_an_unknown_rule_or_file_is_named(tmp_path: Path) -> None:
    run = rules_("replay", "roce_cup", "--input", "-")
    assert run.returncode == 2
    assert "roce_cap" in run.stderr
    run = rules_("replay", "roce_cap", "--input", tmp_path / "missing")
    assert run.returncode == 2
    assert "missing" in run.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected a JSON object"),
        ("[1]", "expected a JSON object"),
        ({"ts": "yesterday"}, "`ts`: expected a time"),
        ({"interval_s": 0}, "`interval_s`: expected a number above 0"),
        ({"interval_s": "30"}, "`interval_s`: expected a number above 0 or null"),
        ({"system": None}, "`system`: expected a text"),
        ({"own_out_bytes_s": "4,5"}, "`own_out_bytes_s`: expected a number of at least 0 or null"),
        ({"own_in_bytes_s": -1}, "`own_in_bytes_s`: expected a number of at least 0 or null"),
        ({"line_bits_s": 0}, "`line_bits_s`: expected a number above 0 or null"),
        ({"reset": "no"}, "`reset`: expected true, false or null"),
    ],
)
def test_a_bad_line_is_named_with_what_was_expected(tmp_path: Path, text: str | dict[str, Any], message: str) -> None:
    bad = text.encode("latin-1") if isinstance(text, str) else orjson.dumps({**line(2, FREE), **text})
    path = tmp_path / "bad.jsonl"
    path.write_bytes(orjson.dumps(line(1, FREE)) + b"\n" + bad + b"\n" + orjson.dumps(line(3, FREE)) + b"\n")
    run = rules_("replay", "roce_cap", "--input", path, "--json")
    assert run.returncode == 2
    assert f"error: {path}:2: " in run.stderr
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def log(number: int, **more: Any) -> dict[str, Any]:
    """Return a minute of z17 over zHPF with a DS8A50 as measured, its rate the ceiling."""
    return {
        "ts": f"2026-11-21T01:{number:02}:00Z",
        "interval_s": 60,
        "system": "SYS1",
        "subsystem": "DBP1",
        "path": "zhpf",
        "rate_mb_s": 214,
        "ceiling_mb_s": 214,
        "waits_delta": 40,
        "waiting_threads": None,
        "active_threads": 256,
        "log_write_ms": None,
        "gcp_pct": 27.2,
        "ziip_pct": 23.3,
        "zhl_sync_pct": None,
        "reset": None,
        **more,
    }


def test_the_ceiling_is_replayed_with_its_own_entity() -> None:
    both = [log(number, **of) for number in range(3) for of in ({}, {"subsystem": "DBP2", "ceiling_mb_s": None})]
    run = rules_("replay", "log_ceiling", "--input", "-", "--json", stdin="\n".join(map(json.dumps, both)))
    assert run.returncode == 0, run.stderr
    verdicts = [json.loads(text) for text in run.stdout.splitlines()]
    assert [list(verdict) for verdict in verdicts] == [["ts", "system", "subsystem", *KEYS[3:]]] * 6
    assert [v["subsystem"] for v in verdicts[:2]] == ["DBP1", "DBP2"]
    assert [v["state"] for v in verdicts[::2]] == ["OK", "OK", "CRITICAL"]
    assert {v["state"] for v in verdicts[1::2]} == {"UNKNOWN"}
    assert all("no ceiling" in v["reason"] for v in verdicts[1::2])


def test_rules_and_parameters_are_printed() -> None:
    listed = [json.loads(text)["rule"] for text in rules_("list", "--json").stdout.splitlines()]
    assert listed == ["log_ceiling", "roce_cap"]
    shown = [json.loads(text) for text in rules_("show", "roce_cap", "--json").stdout.splitlines()]
    assert {"parameter": "raise_after", "default": 3}.items() <= shown[14].items()
    assert all(parameter["meaning"] and parameter["source"] for parameter in shown)


def variables(stack: StackSettings) -> dict[str, str]:
    return {f"COUNTERFLOW_{name.upper()}": str(value) for name, value in stack if value is not None}


def test_stored_intervals_are_replayed(clickhouse: StackSettings) -> None:
    """In order of time, from the first end, inclusive, to the second, exclusive."""
    with empty_tables(clickhouse) as admin:
        stored = [row for kind in ("nrg", "rdma_link") for row in series(system="rules", link_type=kind)]
        columns = {"ts", "system", "interval_s", *datasets()["link_load"].columns}
        insert(admin, "link_load", *({k: row[k] for k in columns & row.keys()} for row in reversed(stored)))
        period = ("--from", "2026-11-21T00:01:00", "--to", "2026-11-21T00:05:00")
        run = rules_("replay", "roce_cap", *period, "--json", **variables(clickhouse))
    assert run.returncode == 0, run.stderr
    verdicts = [json.loads(text) for text in run.stdout.splitlines()]
    for first in (0, 1):  # two links of one name
        assert [v["ts"] for v in verdicts[first::2]] == [row["ts"].replace("Z", ".000Z") for row in series()[1:-1]]
        assert [(v["state"], v["signal"], v["stale"]) for v in verdicts[first::2]] == EXPECTED[1:-1]


def test_reports_of_a_path_are_no_stored_intervals(clickhouse: StackSettings) -> None:
    """Statistics every ten minutes, and the row that each report of D SMS makes meanwhile, with a length or without."""
    statistics = [
        {**log(0), "ts": f"2026-11-21T0{minute // 60}:{minute % 60:02}:00Z", "interval_s": 600}
        for minute in range(0, 120, 10)
    ]
    known = {name: statistics[0][name] for name in ("subsystem", "path", "ceiling_mb_s", "gcp_pct", "ziip_pct")}
    reports = [
        {**known, "ts": f"2026-11-21T0{minute // 60}:{minute % 60:02}:30Z", "interval_s": 60 if minute % 2 else None}
        for minute in range(120)
    ]
    with empty_tables(clickhouse) as admin:
        insert(admin, "log_load", *({**row, "system": "rules"} for row in (*reports, *statistics)))
        period = ("--from", "2026-11-21", "--to", "2026-11-22")
        run = rules_("replay", "log_ceiling", *period, "--json", **variables(clickhouse))
    assert run.returncode == 0, run.stderr
    found = [json.loads(text) for text in run.stdout.splitlines()]
    assert [verdict["state"] for verdict in found] == ["OK", "OK", *["CRITICAL"] * 10]
