"""Counterflow: performance counters from the systems that keep them to answers in SQL.

The folders beside this package (`collectors`, `schemas`, `pipelines`) are its subpackages through links; see
docs/decisions/0001-layout.md.

A program gets the figures of the command line: `look` reads files, `connect` opens the running line, `kept` a folder of
`look --keep`. docs/notebook.md shows it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterflow.base.errors import CounterflowError
    from counterflow.recordings.database import reading as kept
    from counterflow.recordings.looking import look
    from counterflow.stack.line import connect

__all__ = ["CounterflowError", "connect", "kept", "look"]

_WHERE = {
    "CounterflowError": ("counterflow.base.errors", "CounterflowError"),
    "connect": ("counterflow.stack.line", "connect"),
    "kept": ("counterflow.recordings.database", "reading"),
    "look": ("counterflow.recordings.looking", "look"),
}


def __getattr__(name: str) -> Any:
    """Import what a program names, when it first names it, so that the command line starts at once."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, there = _WHERE[name]
    return getattr(import_module(module), there)
