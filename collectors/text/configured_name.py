"""The name that a source or `--system` gives: it replaces that of the first system of a recording, and of no other."""

from __future__ import annotations

from counterflow.collectors.records import Reason, Reject


def name_of(system: str | None, first: str | None, configured: str | None) -> str | None:
    """Return the name that rows of `system` get in a recording whose first system is `first`."""
    if configured is None:
        return system
    return configured if system in (None, first) else system


def kept_apart(system: str | None, first: str | None, configured: str | None) -> Reject | None:
    """Return the note that `system` keeps its own name, None where it does not, or none is configured."""
    if configured is None or system in (None, first):
        return None
    detail = f"`{configured}` names {first}; {system} is another system, kept under its own name"
    return Reject(Reason.RESTARTED, detail, "all", system=system)
