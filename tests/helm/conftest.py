"""Tests of the chart that need more than the others are asked for: `make helm ARGS=--server`."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--server", action="store_true", help="Ask a real kube-apiserver with etcd, too.")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    asked = config.getoption("--server", default=False)
    return True if collection_path.name == "test_server.py" and not asked else None
