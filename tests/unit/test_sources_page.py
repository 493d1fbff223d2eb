"""The page of the documents names nothing that does not exist."""

from __future__ import annotations

import re

import pytest

from counterflow.analysis.checks import checks, trend
from counterflow.analysis.findings import FOLDER
from counterflow.analysis.queries import queries
from counterflow.collectors.sources.sql import packs
from counterflow.dashboards.definition import boards
from counterflow.schemas.definition import datasets
from counterflow.simulate import cases
from tests.support.pages import REPOSITORY

PAGE = REPOSITORY / "docs/sources.md"
EXISTING = {
    "board": {board.removeprefix("cf-").replace("-", "_") for board in boards()},
    "case": {*cases()},
    "check": {*checks(), trend.NAME},
    "dataset": {*datasets()},
    "finding": {path.stem for path in FOLDER.glob("*.sql")},
    "question": {*queries()},
}
NAMED = [
    (kind.lower(), name)
    for kind, names in re.findall(
        rf"\b({'|'.join(EXISTING)}) (`[\w-]+`(?:, `[\w-]+`)*)", PAGE.read_text(encoding="utf-8"), re.IGNORECASE
    )
    for name in re.findall(r"`([\w-]+)`", names)
]
ROWS = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| (?!section|-)", line)]


@pytest.mark.parametrize(("kind", "name"), sorted(set(NAMED)))
def test_what_the_page_names_exists(kind: str, name: str) -> None:
    assert name in EXISTING[kind]


def test_every_other_name_of_a_row_is_one_of_ours() -> None:
    columns = {column for dataset in datasets().values() for column in dataset.columns}
    ours = {*columns, *packs.names()}.union(*EXISTING.values())
    assert {name for row in ROWS for name in re.findall(r"`([^`]+)`", row)} - ours == set()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\]\(([^)#]+)", PAGE.read_text(encoding="utf-8")))))
def test_what_the_page_links_exists(path: str) -> None:
    assert (PAGE.parent / path).is_file()


def test_every_section_has_what_covers_it_or_a_reason() -> None:
    assert [row for row in ROWS if row.count(" | ") != 1 or re.search(r"not covered(?![^|;]*[:,])", row)] == []


def test_every_check_stands_on_the_page() -> None:
    stated_by_a_document = {name for name, check in checks().items() if not check.source.startswith("the site's own")}
    assert stated_by_a_document - {name for kind, name in NAMED if kind == "check"} == set()
