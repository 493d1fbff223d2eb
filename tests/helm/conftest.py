"""What the tests of the chart share."""

from __future__ import annotations

import pytest

from helm import files


@pytest.fixture(scope="session")
def chart_files() -> None:
    """The files that the chart carries from the rest of the repository, as they are now."""
    files.write()
