"""A hint is a command that exists where it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterflow.base import place
from counterflow.base.errors import CounterflowError
from counterflow.stack.settings import StackSettings


@pytest.mark.parametrize(
    ("environment", "states"),
    [
        ({}, "counterflow status; counterflow up"),
        ({"COUNTERFLOW_COMPOSE": "1"}, "docker compose ps"),
        ({"KUBERNETES_SERVICE_HOST": "10.96.0.1"}, "kubectl get pods"),
        ({"KUBERNETES_SERVICE_HOST": "1.2.3.4", "COUNTERFLOW_ONE_MACHINE": "1"}, "counterflow status; counterflow up"),
    ],
)
def test_where_the_states_of_the_parts_are(environment: dict[str, str], states: str) -> None:
    assert place.states(environment) == states


def test_a_missing_password_names_what_generates_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERFLOW_COMPOSE", "1")
    with pytest.raises(CounterflowError) as refused:
        StackSettings(home=tmp_path).clickhouse_password("reader")
    assert str(refused.value.hint) == "docker compose up configure generates the passwords"
