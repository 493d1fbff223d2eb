"""A part of the stack: a program that is started, watched and asked whether it is ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Part:
    """What supervision has to know of a program.

    Parameters
    ----------
    name : of the program, its log and its row in `counterflow status`.
    command : the process itself, or a script that `exec`s it, so that the supervisor's child is the program.
    ready : sends the program a real request and returns what it says of itself, or None while it does not answer;
        is given the ports that the process listens on.
    ports : those that the process must itself listen on before it is asked.
    prepare : writes configuration and makes folders, before each start by `counterflow up`.
    environment : beside the one inherited.
    stop_s : seconds from SIGTERM to SIGKILL.
    ready_s : seconds after which one that does not answer is given up; a broker that was killed needs many.
    """

    name: str
    command: Sequence[str]
    ready: Callable[[Set[int]], str | None]
    ports: Sequence[int] = ()
    prepare: Callable[[], None] = lambda: None
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_s: int = 20
    ready_s: int = 120
