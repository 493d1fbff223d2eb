"""A part of the stack: a program that is started, supervised and checked for readiness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

_EMPTIED = '/bin/rm -rf "$0"; /bin/mkdir -p "$0"; exec "$@"'
"""What empties a folder, then becomes a program; a full disk does not keep the program from running.

PATH is the user's, and may lack these two.
"""


def scratch(home: Path, part: str) -> Path:
    """Return the folder of a part's temporary files; its next start removes what a killed process left."""
    return home / "tmp" / part


@dataclass(frozen=True)
class Part:
    """What supervision needs to know about a program.

    Parameters
    ----------
    name : of the program, its log and its row in `counterflow status`.
    command : the process itself, or a script that `exec`s it, so that the supervisor's child is the program.
    ready : sends the program a real request and returns a short status, or None while it does not answer; its
        argument is the set of ports that the process listens on.
    ports : those that the process must listen on before it is queried.
    problems : why a part that answers does not do its work, a sentence each; none while it does.
    prepare : writes configuration and makes folders, before each start by `counterflow up`.
    environment : additional environment variables.
    stop_s : seconds from SIGTERM to SIGKILL.
    ready_s : seconds after which a part that does not answer has failed; a killed broker needs many.
    """

    name: str
    command: Sequence[str]
    ready: Callable[[Set[int]], str | None]
    ports: Sequence[int] = ()
    problems: Callable[[], Sequence[str]] = lambda: ()
    prepare: Callable[[], None] = lambda: None
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_s: int = 20
    ready_s: int = 120

    def with_empty_scratch(self, home: Path) -> tuple[str, ...]:
        """Return the command, which first empties the part's folder of temporary files."""
        return ("/bin/sh", "-c", _EMPTIED, str(scratch(home, self.name)), *self.command)
