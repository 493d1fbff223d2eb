"""Formats: bytes in, records and rejects out. Pure: no files opened, no clock, no network, no Kafka.

A format is a folder here: its package, whose `FORMAT` satisfies `counterflow.collectors.records.Format`, which counter
fills which column (`mapping.yaml`), and its page. Its presence here registers it. Whoever reads a file takes the format
from `formats` or `recognise`, which refuse figures that cannot be (`counterflow.collectors.plausible`).
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from counterflow.collectors.plausible import Plausible
from counterflow.collectors.records import Format


@cache
def formats() -> dict[str, Format]:
    modules = {m.name: importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)}
    return {name: Plausible(m.FORMAT, getattr(m, "LONGEST_S", None)) for name, m in modules.items()}


def summaries() -> dict[str, str]:
    """Return the summary of each format by its name: the first line of its module's docstring."""
    documented = {name: importlib.import_module(f"{__name__}.{name}").__doc__ or "" for name in formats()}
    return {name: text.split("\n", 1)[0] for name, text in documented.items()}


def recognise(head: bytes) -> Format | None:
    """Return the format of a file that begins with `head` (up to 64 KiB), or None where no format knows it."""
    return next((f for f in formats().values() if f.recognises(head)), None)
