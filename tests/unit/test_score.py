"""Agreement of a rule's states with labelled spells, over figures that are plain to work out."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from counterflow.analysis.replay import Given
from counterflow.analysis.score import LabelledSpell, Score, read_spells, score
from counterflow.base.errors import CounterflowError
from counterflow.cli import cli

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def minute(number: float) -> datetime:
    return NOON + timedelta(minutes=number)


def alarms(minutes: range) -> list[Given]:
    """Return the minutes, by the number at which each ends, in which an alarm was raised."""
    return [Given(("A", "G"), SimpleNamespace(ts=minute(n), interval_s=60.0), {}) for n in minutes]


def spell(begin: float, end: float, system: str = "A") -> LabelledSpell:
    return LabelledSpell(system=system, entity="G", begin=minute(begin), end=minute(end))


@pytest.mark.parametrize(
    ("raised", "spells", "expected"),
    [
        # raised from minute 13 to 20 of a spell from 10 to 20, and 2 minutes more: 8 of 10 minutes are right
        (range(13, 23), [spell(10, 20)], Score(1, 1, 0.8, 1.0, 7.0, 3.0, 2.0)),
        (range(0), [spell(10, 20)], Score(1, 0, None, 0.0, None, None, 0.0)),
        (range(5, 8), [], Score(0, 0, 0.0, None, None, None, 3.0)),
        (range(11, 13), [spell(10, 20), spell(30, 40)], Score(2, 1, 1.0, 0.5, 9.0, 1.0, 0.0)),
        (range(11, 13), [spell(10, 20, "B")], Score(1, 0, 0.0, 0.0, None, None, 2.0)),
    ],
)
def test_precision_recall_lead_and_false_alarm(raised: range, spells: list[LabelledSpell], expected: Score) -> None:
    assert score(alarms(raised), spells) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "- {system: A, begin: 2026-05-04T12:00:00Z, end: 2026-05-04T12:10:00Z}",
            r"spells\[0.entity\]: Field required",
        ),
        ("- {system: A, entity: G, begin: 2026-05-04T12:10:00Z, end: 2026-05-04T12:00:00Z}", "`end` is after `begin`"),
        ("spells: 3", "valid list"),
        ("{", "expected"),
    ],
)
def test_a_mistake_among_spells_is_named_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "spells.yaml"
    path.write_text(text)
    with pytest.raises(CounterflowError, match=message) as error:
        read_spells(path)
    assert str(path) in error.value.message


def log_intervals() -> str:
    """Return twenty minutes of a log, near its ceiling of 200 MB/s and with waits from minute 6 to 14."""
    quiet = {"system": "Z", "subsystem": "DBP1", "interval_s": 60, "path": "zhpf", "ceiling_mb_s": 200.0}
    quiet |= {"rate_mb_s": 100.0, "waits_delta": 0.0, "gcp_pct": 30.0, "ziip_pct": 30.0}
    busy = {"rate_mb_s": 186.0, "waits_delta": 9.0}
    rows = [{**quiet, "ts": minute(n).isoformat(), **(busy if 6 <= n <= 14 else {})} for n in range(1, 21)]
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_sweep_shows_which_threshold_finds_the_spell(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(log_intervals())
    spells = {
        "spells": [{"system": "Z", "entity": "DBP1", "begin": "2026-05-04T12:05:00Z", "end": "2026-05-04T12:14:00Z"}]
    }
    (tmp_path / "spells.json").write_text(json.dumps(spells))
    arguments = ["rules", "replay", "log_ceiling", "--input", str(tmp_path / "in.jsonl")]
    arguments += ["--score", str(tmp_path / "spells.json"), "--sweep", "near_ratio=0.9,0.95", "--set", "clear_after=1"]
    result = CliRunner().invoke(cli, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    near, far = (json.loads(line) for line in result.stdout.splitlines())
    # 0.93 of the ceiling: near at 0.9, critical at the third interval, minute 8 of a spell that begins at 5
    assert (near["near_ratio"], near["recall"], near["precision"], near["late_min"]) == ("0.9", 1.0, 1.0, 3.0)
    assert (far["near_ratio"], far["recall"], far["precision"]) == ("0.95", 0.0, None)


@pytest.mark.parametrize("sweep", ["near_ratio", "near_ratio=a..b", "near_ratio="])
def test_a_sweep_that_cannot_be_read_is_refused(tmp_path: Path, sweep: str) -> None:
    (tmp_path / "in.jsonl").write_text(log_intervals())
    (tmp_path / "spells.json").write_text("[]")
    arguments = ["rules", "replay", "log_ceiling", "--input", str(tmp_path / "in.jsonl")]
    result = CliRunner().invoke(cli, [*arguments, "--score", str(tmp_path / "spells.json"), "--sweep", sweep])
    assert result.exit_code == 2
    assert "expected NAME=A..B or NAME=A,B,C" in result.output
