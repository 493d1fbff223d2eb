"""The pages: their links, the code in them, the output that they show, and that what they name exists."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from counterflow.analysis.checks import checks, trend
from counterflow.analysis.findings import FOLDER
from counterflow.analysis.queries import queries
from counterflow.cli import cli
from counterflow.collectors.agent.config import Config
from counterflow.collectors.records import Reason
from counterflow.dashboards.definition import boards, charts
from counterflow.schemas.definition import datasets
from counterflow.simulate import cases
from docs.generators.formats import readme
from docs.generators.hooks import linked
from tests.support.pages import REPOSITORY, agrees, blocks, commands, sessions, words
from tests.support.waiting import PATIENCE_S

WITHOUT_SERVICES = ("agent", "look", "rules", "study")


def _paths(command: click.Command, path: str) -> list[str]:
    """Return the anchors of a command and of those below it."""
    context = click.Context(command)
    names = command.list_commands(context) if isinstance(command, click.Group) else ()
    return [path, *(below for name in names for below in _paths(command.get_command(context, name), f"{path}-{name}"))]


PARTS_FOR_READERS = {
    "cli.html": _paths(cli, "counterflow"),
    "cookbook.html": [*queries()],
    "data-dictionary.html": [*datasets()],
    "configuration.html": ["stack", "config", "kafka", "sqlsource", "example-of-an-agent"],
}
"""What a reader looks for on a generated page: the anchors of its headings."""


def test_the_site_has_every_page_and_no_dead_link_and_needs_no_network(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    built = subprocess.run(build, cwd=REPOSITORY, capture_output=True, text=True, timeout=PATIENCE_S)
    assert built.returncode == 0, built.stderr
    for name, parts in PARTS_FOR_READERS.items():
        page = (tmp_path / name).read_text(encoding="utf-8")
        assert [part for part in parts if f'id="{part}"' not in page] == [], name
    loaded = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"?(?:https?:)?//[^>]*>")
    assert {path.name: found for path in tmp_path.rglob("*.html") if (found := loaded.findall(path.read_text()))} == {}


def test_the_readme_lists_the_formats() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert text == readme(text), "make golden writes the table"


def test_examples_in_python_print_what_the_page_shows() -> None:
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for page, examples in groupby(blocks("pycon"), key=lambda block: block.page):
        names: dict[str, object] = {}
        for block in examples:
            test = doctest.DocTestParser().get_doctest(block.text, names, page, page, block.line)
            runner.run(test, out=failures.append, clear_globs=False)
            names = test.globs
    assert "".join(failures) == ""


def test_a_page_beside_its_format_is_linked_from_the_site_and_to_it() -> None:
    beside = {"formats/nmon.md": "collectors/formats/nmon/README.md"}
    text = "[one](../../../docs/formats/njmon.md#when) [two](https://example.org/a.md) [three](#below)"
    assert linked(text, "formats/nmon.md", beside) == text.replace("../../../docs/formats/", "")
    text = "[nmon](../../collectors/formats/nmon/README.md)"
    assert linked(text, "kpis/index.md", beside) == "[nmon](../formats/nmon.md)"
    assert linked("[page](landing.md)", "index.md", beside) == "[page](landing.md)"


def test_every_command_that_a_page_names_exists_with_its_options() -> None:
    assert [f"{block}: {command}: {why}" for block, command in commands() if (why := mistake(command))] == []


def mistake(command: str) -> str | None:
    """Return what the command line would refuse, whatever the values of options and arguments are."""
    found: click.Command = cli
    context = click.Context(found, info_name="counterflow")
    _, *rest = words(command)
    while isinstance(found, click.Group) and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        inner = found.get_command(context, name)
        if inner is None:
            return f"no `{name}`"
        found, context = inner, click.Context(inner, context, name)
    try:
        values, _, _ = found.make_parser(context).parse_args(rest)
    except click.UsageError as error:
        return error.format_message()
    question = values.get("query")
    if context.command_path == "counterflow sql" and isinstance(question, str) and question.isidentifier():
        return None if question in queries() else f"no question `{question}`"
    return None


def test_what_a_page_shows_of_the_samples_is_what_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("COLUMNS", "140")
    shown = [of for of in sessions() if words(of[1])[1] in WITHOUT_SERVICES]
    assert shown
    for block, command, printed in shown:
        found = CliRunner().invoke(cli, words(command)[1:], catch_exceptions=False).stdout
        assert agrees(printed, found), f"{block}\n{found}"


def test_the_example_of_an_agent_explains_every_key() -> None:
    example = (REPOSITORY / "collectors/agent.example.yaml").read_text(encoding="utf-8")
    schema = Config.model_json_schema()
    keys = {key for part in (schema, *schema["$defs"].values()) for key in part["properties"]}
    assert {key for key in keys if not re.search(rf"\b{key}:", example)} == set()


EXISTING = {
    "board": {board.removeprefix("cf-").replace("-", "_") for board in boards()},
    "case": {*cases()},
    "check": {*checks(), trend.NAME},
    "dataset": {*datasets()},
    "finding": {path.stem for path in FOLDER.glob("*.sql")},
    "question": {*queries()},
}


def test_what_the_page_names_exists_and_every_check_of_a_document_stands_on_it() -> None:
    page = (REPOSITORY / "docs/sources.md").read_text(encoding="utf-8")
    lists = re.findall(rf"\b({'|'.join(EXISTING)}) (`[\w-]+`(?:, `[\w-]+`)*)", page, re.IGNORECASE)
    named = {(kind.lower(), name) for kind, names in lists for name in re.findall(r"`([\w-]+)`", names)}
    assert {(kind, name) for kind, name in named if name not in EXISTING[kind]} == set()
    of_documents = {name for name, check in checks().items() if not check.source.startswith("the site's own")}
    assert {("check", name) for name in of_documents} <= named


def test_the_charts_that_users_of_nmon_look_for_exist() -> None:
    page = (REPOSITORY / "docs/charts-parity.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`([a-z]+_\w+)`", page)) <= {*charts()}


def test_every_reason_is_explained_and_no_other() -> None:
    page = (REPOSITORY / "docs/data-quality.md").read_text(encoding="utf-8")
    explained = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert explained == [reason.value for reason in Reason]
