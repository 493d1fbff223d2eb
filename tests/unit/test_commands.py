"""The command line: the help of every command, their names and options, and where they start."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from counterflow.cli import cli
from counterflow.cli._times import Time
from tests.support.pages import REPOSITORY
from tests.support.waiting import PATIENCE_S

SAMPLE = REPOSITORY / "samples/nmon/linux_16n_plain.nmon.gz"


@pytest.mark.parametrize("width", [80, 160])
def test_help_shows_every_command_once_with_its_whole_description(width: int) -> None:
    page = CliRunner().invoke(cli, ["--help"], terminal_width=width, max_content_width=width).output
    assert max(map(len, page.splitlines())) <= width
    commands = page.split("Read files:")[1]
    assert "..." not in commands
    shown = re.findall(r"^  ([a-z-]+) ", commands, re.MULTILINE)
    assert sorted(shown) == cli.list_commands(click.Context(cli))


@pytest.mark.parametrize(("output", "lines"), [("| head -n 1", 1), ("<&- >&-", 0)])
@pytest.mark.parametrize("option", ["--records", "--zone UTC"])
def test_look_ends_quietly_on_a_closed_pipe_or_output(option: str, output: str, lines: int) -> None:
    script = f'"$0" -m counterflow look {option} "$1" {output}'
    command = ["bash", "-c", script, sys.executable, SAMPLE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, lines, "")


@pytest.mark.parametrize(
    "words", [("rules", "list"), ("look", SAMPLE), ("look", "--summary", SAMPLE), ("look", "--records", SAMPLE)]
)
def test_output_without_room_is_reported(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "counterflow", *words]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 2
    assert re.search("^error: .*output: No space left on device$", done.stderr, re.MULTILINE)


def test_a_name_that_the_locale_cannot_print_is_escaped() -> None:
    command = [sys.executable, "-m", "counterflow", "look", "--summary", "--system", "日", SAMPLE]
    latin = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(command, env=latin, capture_output=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stdout.split()[1]) == (0, b"\\u65e5,"), done.stderr


def test_help_loads_no_client_and_no_engine() -> None:
    """Help appears at once: a client of ClickHouse, Kafka or Flink is loaded by the command that needs it."""
    shown = "import sys, counterflow.cli as c; c.cli(['--help'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert "click" in loaded
    assert not loaded & {"httpx", "confluent_kafka", "pydantic", "chdb", "jinja2", "supervisor"}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["loook"], "'look'"),
        (["rules", "repaly"], "'replay'"),
        (["sql", "--sytem", "A"], "'--system'"),
        (["publish", "--agian", "x"], "'--again'"),
    ],
)
def test_the_nearest_command_or_option_is_suggested_for_a_misspelt_one(typed: list[str], meant: str) -> None:
    answer = CliRunner().invoke(cli, typed)
    assert answer.exit_code == 2
    assert f"Did you mean {meant}?" in answer.output


WITHOUT_JSON = {
    "agent install": "prints a unit of systemd, or where it wrote it",
    "agent run": "runs until it is stopped; its log is JSON, its figures are metrics",
    "dev land": "runs until it is stopped; its log is JSON, its figures are metrics",
    "dev part": "is started by the supervisor, and runs until it is stopped",
    "dev schemas show": "prints statements of SQL",
    "mcp": "speaks its protocol, which is JSON, until standard input ends",
    "dev verdicts": "runs until it is stopped; its figures are metrics",
}


def everything(group: click.Group = cli, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield all commands, and the groups of them, below a group."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{path} {name}".strip(), command
        if isinstance(command, click.Group):
            yield from everything(command, f"{path} {name}".strip())


def commands() -> Iterator[tuple[str, click.Command]]:
    return ((path, command) for path, command in everything() if not isinstance(command, click.Group))


@pytest.mark.parametrize("path", ["", *(path for path, _ in everything())], ids=lambda path: path or "counterflow")
def test_the_help_of_every_command_fits_one_screen_and_cuts_no_description(path: str) -> None:
    lines = CliRunner().invoke(cli, [*path.split(), "--help"], terminal_width=80).output.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith("...") for line in lines[1:])


def test_a_user_has_at_most_twenty_one_commands() -> None:
    """Twenty for people, and `mcp`, which an assistant starts."""
    assert len(cli.list_commands(click.Context(cli))) <= 21


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["look", "--keep", "", "x"], "value for '--keep': is empty; name a folder, `.` for this one, or leave"),
        (["look", ""], "value for 'FILES...': is empty; name a file or a folder, `.` for this one"),
        (["sql", " "], "the statement is empty; `counterflow sql` without one lists the stored queries"),
        (["sql", "/* a\n */; --b"], "the statement is empty; `counterflow sql` without one lists the stored queries"),
        (["sql", "systems", "--json", "--format", "csv"], "give --format or --json, not both"),
        (["whatif", "mirror", "--input", "x", "--on", "."], "give --input or --on, not both"),
        (["whatif", "log-path", "--input", "x", "--on", "."], "give --input or --on, not both"),
        (["rules", "replay", "roce_cap", "--input", __file__, "--on", "."], "give --input or --on, not both"),
    ],
)
def test_what_is_empty_or_contradicts_itself_is_refused(words: list[str], error: str) -> None:
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 2
    assert error in done.stderr


def test_every_command_has_json_or_a_reason() -> None:
    lacking = {path for path, command in commands() if not options(command) & {"--json"}}
    assert lacking == WITHOUT_JSON.keys()


def test_every_period_and_system_is_named_alike() -> None:
    """Every command names a period, a system, a folder database and a zone with the same options."""
    others = {"--since", "--until", "--end", "--begin", "--host", "--db", "--database", "--timezone", "--tz"}
    for path, command in commands():
        assert not options(command) & others, path
        assert ("--to" in options(command)) == ("--from" in options(command)) or path in COPY_TO, path
        for parameter in command.params:
            assert not isinstance(parameter.type, click.DateTime), path
            assert isinstance(parameter.type, Time) or parameter.name not in ("begin", "end"), path


COPY_TO = {"agent install", "dev dashboards build", "fetch", "jobs render"}
"""Commands whose `--to` is the folder that they write to."""


def options(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts}


def test_what_was_written_is_reported_as_json(tmp_path: Path) -> None:
    built = CliRunner().invoke(cli, ["dev", "dashboards", "build", "--to", str(tmp_path), "--json"])
    reported = json.loads(built.output)
    assert reported == {"files": sum(path.is_file() for path in tmp_path.rglob("*")), "to": str(tmp_path)}
    rendered = CliRunner().invoke(cli, ["jobs", "render", "io_mix", "--to", str(tmp_path / "job"), "--json"])
    reported = json.loads(rendered.output)
    assert reported["job"] == "io_mix"
    assert sorted(map(Path, reported["files"])) == sorted((tmp_path / "job").iterdir())


def test_a_table_is_not_taken_for_a_misspelt_question() -> None:
    answer = CliRunner().invoke(cli, ["sql", "link_load"])
    hint = "it is a table: SELECT * FROM counterflow.link_load LIMIT 10"
    assert answer.exception.hint == hint  # type: ignore[union-attr]


POSIX = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
SCRIPT = """
import sys
import multiprocessing, subprocess, shutil, tempfile, tarfile, zipfile, pathlib  # these take what this machine has
for name in sys.argv[1].split(","):
    sys.modules[name] = None
sys.argv = ["counterflow", *sys.argv[2:]]
from counterflow.cli import main
main()
"""


@pytest.mark.parametrize(
    "words",
    [
        ("look", "--summary", str(SAMPLE)),
        ("look", "--records", str(SAMPLE)),
        ("bundle", str(SAMPLE), "--out"),
        ("report", "--help"),
    ],
    ids=" ".join,
)
def test_no_posix_module_is_imported(words: tuple[str, ...], tmp_path: Path) -> None:
    more = [str(tmp_path / "b.tgz")] if words[-1] == "--out" else []
    command = [sys.executable, "-c", SCRIPT, ",".join(POSIX), *words, *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", ["analysis", "collectors", "dashboards", "pipelines", "schemas"])
def test_a_folder_of_the_checkout_is_refused_with_its_name(package: str) -> None:
    command = [sys.executable, "-c", f"import {package}"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert f"ImportError: import counterflow.{package} instead of {package}" in done.stderr
