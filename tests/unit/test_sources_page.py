"""The page of the documents names nothing that does not exist, and every check."""

from __future__ import annotations

import re

from counterflow.analysis.checks import checks, trend
from counterflow.analysis.findings import FOLDER
from counterflow.analysis.queries import queries
from counterflow.dashboards.definition import boards
from counterflow.schemas.definition import datasets
from counterflow.simulate import cases
from tests.support.pages import REPOSITORY

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
