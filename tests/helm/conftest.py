"""Tests of the chart that need an API server run on request: `make helm ARGS=--server`."""

from __future__ import annotations

from pathlib import Path

import pytest

from helm import files


@pytest.fixture(scope="session")
def chart_files() -> None:
    """The files that the chart carries from the rest of the repository, as they are now."""
    files.write()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--server", action="store_true", help="Test against a real kube-apiserver with etcd, too.")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    requested = config.getoption("--server", default=False)
    return True if collection_path.name == "test_server.py" and not requested else None
