"""The folders beside `counterflow/` are imported by one name only."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.pages import REPOSITORY
from tests.support.waiting import PATIENCE_S


@pytest.mark.parametrize("package", ["analysis", "collectors", "dashboards", "pipelines", "schemas"])
def test_a_folder_of_the_checkout_is_refused_with_its_name(package: str) -> None:
    command = [sys.executable, "-c", f"import {package}"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert f"ImportError: import counterflow.{package} instead of {package}" in done.stderr
