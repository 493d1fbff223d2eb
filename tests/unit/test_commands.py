"""The first page of the command line: every command once and whole, and a misspelt one finds its way."""

from __future__ import annotations

import re

import click
import pytest
from click.testing import CliRunner

from counterflow.cli import cli


@pytest.mark.parametrize("width", [80, 160])
def test_help_shows_every_command_once_with_its_whole_description(width: int) -> None:
    page = CliRunner().invoke(cli, ["--help"], terminal_width=width, max_content_width=width).output
    assert max(map(len, page.splitlines())) <= width
    commands = page.split("Look at files:")[1]
    assert "..." not in commands
    shown = re.findall(r"^  ([a-z-]+) ", commands, re.MULTILINE)
    assert sorted(shown) == cli.list_commands(click.Context(cli))


@pytest.mark.parametrize(("typed", "meant"), [("loook", "look"), ("pubish", "publish"), ("deadleter", "deadletter")])
def test_a_misspelt_command_is_answered_with_the_nearest(typed: str, meant: str) -> None:
    answer = CliRunner().invoke(cli, [typed])
    assert answer.exit_code == 2
    assert f"No such command '{typed}'. Did you mean '{meant}'?" in answer.output
