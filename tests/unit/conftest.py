"""What unit tests of agents share."""

from __future__ import annotations

import pytest

from tests.support.memory_broker import Broker


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    """A broker in memory, which all agents of this process use."""
    return Broker.used_by_agents(monkeypatch)
