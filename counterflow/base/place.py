"""Commands to type where this process runs: on a machine, in a container of compose.yaml, in a pod of Kubernetes."""

from __future__ import annotations

import os
from collections.abc import Mapping


def states(environment: Mapping[str, str] = os.environ) -> str:
    """Return the command that shows which parts run, and on a machine the one that starts them."""
    if _part_of_the_chart(environment):
        return "kubectl get pods"
    if "COUNTERFLOW_COMPOSE" in environment:
        return "docker compose ps"
    return "counterflow status; counterflow up"


def passwords(environment: Mapping[str, str] = os.environ) -> str:
    """Return the hint for a missing password file: what generates it."""
    if _part_of_the_chart(environment):
        return "the secret that the chart's values name for this user has to have that key"
    if "COUNTERFLOW_COMPOSE" in environment:
        return "docker compose up configure generates the passwords"
    return "counterflow up generates the passwords"


def _part_of_the_chart(environment: Mapping[str, str]) -> bool:
    """Whether this pod is one part of many; that of `helm/trial` is a whole machine and states so."""
    return "KUBERNETES_SERVICE_HOST" in environment and "COUNTERFLOW_ONE_MACHINE" not in environment
