"""The oldest ClickHouse that `migrate` accepts."""

from __future__ import annotations

import re

import pytest

from counterflow.base.errors import CounterflowError
from counterflow.schemas.migrations import require_version, schema, statements


@pytest.mark.parametrize("version", ["24.8.4.1", "25.5.2.1"])
def test_a_server_that_is_too_old_is_refused_with_the_reason_and_the_way_out(version: str) -> None:
    with pytest.raises(
        CounterflowError, match=rf"ClickHouse {version} is too old: tables and views need 25\.8 or later"
    ) as refused:
        require_version(version)
    assert refused.value.hint == "upgrade the server to 25.8 or later, then run counterflow dev migrate again"


@pytest.mark.parametrize("version", ["25.8.2.1", "26.10.1", "27.1.1"])
def test_a_newer_server_is_accepted(version: str) -> None:
    require_version(version)


def test_no_view_ends_with_a_table_or_a_subquery_without_a_name() -> None:
    """Before 26.7 a COMMENT behind it would be taken for its name."""
    unnamed = re.compile(r"(?:\b(?:FROM|JOIN)\s+[\w.]+(?:\s+FINAL)?|^\))\nCOMMENT", re.MULTILINE)
    views = [text for part in schema().parts.values() for text in statements(part) if " VIEW " in text]
    assert len(views) > 30
    assert [text for text in views if unnamed.search(text)] == []
