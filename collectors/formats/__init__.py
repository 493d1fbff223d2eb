"""Formats: bytes in, records and rejects out. Pure: no files opened, no clock, no network, no Kafka.

A format is a folder here whose `FORMAT` satisfies `counterflow.collectors.records.Format`. Its presence here registers
it. Whoever reads a file takes the format from `formats` or `recognise`, which refuse figures that
cannot be (`counterflow.collectors.plausible`).
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from counterflow.collectors.plausible import Plausible
from counterflow.collectors.records import Format


@cache
def formats() -> dict[str, Format]:
    modules = (importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__))
    return {m.FORMAT.name: Plausible(m.FORMAT, getattr(m, "LONGEST_S", None)) for m in modules if hasattr(m, "FORMAT")}


def summaries() -> dict[str, str]:
    """Return the summary of each format by its name: the first line of its module's docstring."""
    documented = {name: importlib.import_module(f"{__name__}.{name}").__doc__ or "" for name in formats()}
    return {name: text.split("\n", 1)[0] for name, text in documented.items()}


def recognise(head: bytes) -> Format | None:
    """Return the format of a file that begins with `head` (up to 64 KiB), or None where no format knows it."""
    return next((f for f in formats().values() if f.recognises(head)), None)
