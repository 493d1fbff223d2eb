"""A date that can be read in several ways: refused, until its order is configured."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from counterflow.cli.look import command
from counterflow.collectors.agent.config import Config, Source, check
from tests.golden.cases import golden

CONFIG = """
agent_id: a
kafka: {bootstrap: "127.0.0.1:9092"}
sources: [{name: prints, paths: [/perf], date_order: ORDER}]
"""


@pytest.fixture
def screen(tmp_path: Path) -> str:
    return str(golden("wrkdsksts/date_in_two_readings").written(tmp_path))


@pytest.mark.parametrize(("order", "day"), [("mdy", "2026-05-09"), ("dmy", "2026-09-05")])
def test_look_takes_the_order_of_its_option(order: str, day: str, screen: str) -> None:
    result = CliRunner().invoke(command, ["--records", screen, "--date-order", order])
    assert result.exit_code == 0
    assert f'"ts":"{day}T18:50:00Z"' in result.output


def test_look_refuses_the_date_and_names_the_way_out(screen: str) -> None:
    result = CliRunner().invoke(command, ["--records", screen])
    assert result.exit_code == 1
    assert "--date-order" in result.output


def test_a_source_sets_the_order() -> None:
    found = check(CONFIG.replace("ORDER", "dmy"))
    assert isinstance(found, Config)
    (source,) = found.sources
    assert isinstance(source, Source)
    assert source.date_order == "dmy"


def test_an_unknown_order_is_named() -> None:
    found = check(CONFIG.replace("ORDER", "day first"))
    assert isinstance(found, list)
    assert [(m.line, m.where) for m in found] == [(4, "sources[0].date_order")]
    assert "'ymd', 'mdy' or 'dmy'" in found[0].what
