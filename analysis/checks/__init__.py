"""Published rules as checks over counters and configuration: one module per group, one function per check.

`counterflow doctor SYSTEM` runs them; docs/doctor.md lists them with their inputs. An input is either a counter, that
is a column of one of `queries/*.sql`, or a fact that a person states, that is a field in `facts.py`.
"""

from __future__ import annotations

import importlib
from functools import cache

from counterflow.analysis.checks.definition import Check

CAPABILITIES = "Capabilities Reference"
"""Power Systems Performance Capabilities Reference, IBM i 7.1 (SC41-0607)."""
MIRROR = "Mirror Performance"
"""IBM Db2 Mirror for i: Performance Considerations, June 2022."""

GROUPS = ("memory", "processors", "jobs", "disks", "vios", "iscsi", "communications", "saves", "mirror")


@cache
def checks() -> dict[str, Check]:
    """Return all checks by name, in the order of their groups and definitions."""
    modules = [importlib.import_module(f"{__name__}.{group}") for group in GROUPS]
    return {c.name: c for module in modules for c in vars(module).values() if isinstance(c, Check)}
