"""`counterflow deadletter` with a real broker and a real ClickHouse: a refused record lands once, or is dropped."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest

from counterflow.base.clickhouse import ClickHouse, Settings
from counterflow.schemas.definition import topics
from counterflow.schemas.migrations import migrate
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.integration.test_landing import (
    TOPIC,
    admin,
    answer,
    assert_landed,
    framed,
    land,
    publish,
    record,
    records,
)
from tests.support.command_line import run

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def line(kafka: StackSettings, clickhouse: StackSettings) -> Iterator[StackSettings]:
    """Topics whose earlier records have landed, and tables of the test's own."""
    create_topics(kafka, topics())
    with admin(clickhouse) as client:
        migrate(client)
        publish(kafka, "before", records("before", 0, 1))
        land(kafka)
        client.post("DROP DATABASE IF EXISTS counterflow SYNC")
        migrate(client)
        yield kafka
        client.post("DROP DATABASE IF EXISTS counterflow SYNC")


@pytest.fixture
def deadletter(line: StackSettings) -> Run:
    """Run `counterflow deadletter ARGUMENTS`."""
    return lambda *arguments: run("deadletter", *arguments, COUNTERFLOW_HOME=str(line.home))


def lines(run: subprocess.CompletedProcess[str], status: int = 0) -> list[dict[str, Any]]:
    assert run.returncode == status, run.stdout + run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def forget(client: ClickHouse) -> None:
    """Leave the state of a replay that was killed before it recorded what it had published."""
    client.post("TRUNCATE TABLE counterflow.deadletter_handled")


def test_a_refused_record_lands_once_however_often_it_is_replayed(line: StackSettings, deadletter: Run) -> None:
    agent = "replayed"
    values: list[bytes | None] = list(records(agent, 0, 10))
    for seq in (3, 7):
        values[seq] = framed(record(agent, seq, ts=f"1999-12-31T00:00:0{seq}Z"))

    def replayed(*which: str) -> list[dict[str, Any]]:
        """Replay, and return the letters, all of which were published."""
        found = lines(deadletter("replay", *which, "--json"))
        assert [row["what"] for row in found] == ["published"] * 2
        return found

    publish(line, agent, values)
    land(line)
    assert_landed(line, agent, 10, 45 - 3 - 7, deadletters=2)
    [group] = lines(deadletter("list", "--json"))
    assert group.items() >= {"stage": "land", "reason": "VIOLATED_CONSTRAINT", "place": TOPIC, "letters": 2}.items()
    assert lines(deadletter("list", "--from", "-1h", "--to", "-1m", "--each", "--json")) == []
    assert lines(deadletter("list", "--to", "2000-01-01", "--json")) == []

    with admin(line) as client:
        client.post("ALTER TABLE counterflow.disk DROP CONSTRAINT ts_sane")
        replayed("--reason", "VIOLATED_CONSTRAINT")
        assert lines(deadletter("list", "--json")) == []
        forget(client)  # and what was published is still under way
        replayed("--reason", "VIOLATED_CONSTRAINT")
        land(line)
        assert_landed(line, agent, 10, refused=2)
        forget(client)  # and it has landed
        again = replayed("--from", "2000-01-01")
        land(line)
        assert_landed(line, agent, 10, refused=2)
        shown = deadletter("show", again[0]["id"])
        assert "handled       replayed" in shown.stdout
        refused = deadletter("replay", again[0]["id"])
    assert refused.returncode == 1
    assert f"error: {again[0]['id']} was replayed" in refused.stderr


def test_what_cannot_be_replayed_names_the_cause_and_is_dropped_for_a_reason(
    line: StackSettings, deadletter: Run
) -> None:
    agent = "dropped"
    huge = framed(record(agent, 1, ts="1999-12-31T00:00:00Z", disk="x" * 70_000))
    publish(line, agent, [b"\x1b[2J{\xff", huge])
    land(line)
    parsed = {**record(agent, 2), "stage": "parse", "origin": "/data/a.nmon:7", "reason": "bad_number", "error": "x"}
    parsed |= {"payload_base64": "Pw==", "payload_bytes": 1}
    with admin(line) as client:
        settings: Settings = {"date_time_input_format": "best_effort", "input_format_skip_unknown_fields": 1}
        client.post("INSERT INTO counterflow.deadletter FORMAT JSONEachRow", orjson.dumps(parsed), settings)
    each = {letter["reason"]: letter["id"] for letter in lines(deadletter("list", "--each", "--json"))}
    assert set(each) == {"not_json", "VIOLATED_CONSTRAINT", "bad_number"}
    outcome = {row["id"]: row for row in lines(deadletter("replay", "--from", "2000-01-01", "--json"), status=1)}
    why = {letter: row["why"] for letter, row in outcome.items()}
    assert "its agent and seq cannot be read" in why[each["not_json"]]
    assert outcome[each["VIOLATED_CONSTRAINT"]]["what"] == "published"  # all its bytes were kept
    assert "/data/a.nmon:7, before it became a record" in why[each["bad_number"]]
    assert "counterflow publish --again" in why[each["bad_number"]]

    shown = deadletter("show", each["not_json"]).stdout
    assert "\x1b" not in shown
    assert r"\x1b[2J{\xff" in shown

    assert deadletter("drop", each["not_json"]).returncode == 2
    [dropped] = lines(deadletter("drop", each["not_json"], "--reason", "line noise", "--json"))
    assert dropped["what"] == "dropped"
    assert len(lines(deadletter("list", "--json"))) == 1
    assert "line noise" in deadletter("show", each["not_json"]).stdout
    kept = answer(line, "SELECT count() AS n FROM counterflow.deadletter FINAL", agent)
    assert kept["n"] == 3
    unknown = deadletter("drop", "0123456789abcdef", "--reason", "x")
    assert "error: there is no dead letter 0123456789abcdef" in unknown.stderr
