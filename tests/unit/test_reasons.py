"""The closed list of reasons and the page that explains it agree."""

from __future__ import annotations

import re
from pathlib import Path

from counterflow.collectors.records import Reason

PAGE = Path(__file__).parents[2] / "docs/data-quality.md"


def test_every_reason_is_explained_and_no_other() -> None:
    explained = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(), re.MULTILINE)
    assert explained == [reason.value for reason in Reason]
