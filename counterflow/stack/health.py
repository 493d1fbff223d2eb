"""The part that reports the health of the stack."""

from __future__ import annotations

import sys

import httpx

from counterflow.stack.part import Part
from counterflow.stack.settings import HOST, StackSettings

NAME = "health"


def server(settings: StackSettings) -> Part:
    """Describe the process that reports the state of all parts."""
    return Part(
        name=NAME,
        command=(sys.executable, "-m", "counterflow.stack.health_server"),
        ready=lambda _: _ready(settings),
        ports=(settings.health_port,),
    )


def _ready(settings: StackSettings) -> str | None:
    try:
        answer = httpx.get(f"http://{HOST}:{settings.health_port}/healthz", timeout=20, trust_env=False)
    except httpx.HTTPError:
        return None
    found = [line.partition(" ")[0] for line in answer.text.splitlines()]
    return "every part answers" if answer.status_code == httpx.codes.OK else f"do not answer: {', '.join(found)}"
