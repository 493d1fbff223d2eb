"""Formats: bytes in, records and rejects out. Pure: no files opened, no clock, no network, no Kafka.

A format is a folder here: its package, which has the functions of `counterflow.collectors.records.Format`, which
counter fills which column (`mapping.yaml`), and its page. Its presence here registers it. Whoever reads a file takes
the format from `formats` or `recognise`, which refuse figures that cannot be (`counterflow.collectors.plausible`).
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from counterflow.collectors.plausible import Plausible

_COMMON = ("nmon", "njmon", "sysstat")
_DEAR = ("ibmi_tables",)
"""Its 48 descriptions are read to recognise a table."""


@cache
def _format(name: str) -> Plausible:
    module = importlib.import_module(f"{__name__}.{name}")
    return Plausible(name, module, getattr(module, "LONGEST_S", None))


@cache
def _names() -> tuple[str, ...]:
    return tuple(module.name for module in pkgutil.iter_modules(__path__))


@cache
def formats() -> dict[str, Plausible]:
    return {name: _format(name) for name in _names()}


def summaries() -> dict[str, str]:
    """Return the summary of each format by its name: the first line of its module's docstring."""
    documented = {name: importlib.import_module(f"{__name__}.{name}").__doc__ or "" for name in _names()}
    return {name: text.split("\n", 1)[0] for name, text in documented.items()}


def recognise(head: bytes) -> Plausible | None:
    """Return the format of a file that begins with `head` (up to 64 KiB), or None where no format knows it.

    No file is of two formats: the common ones come first, so that the others need not be imported.
    """
    others = (name for name in _names() if name not in _COMMON + _DEAR)
    return next((form for name in (*_COMMON, *others, *_DEAR) if (form := _format(name)).recognises(head)), None)
