"""What the commands of the one-machine stack share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from counterflow.base.errors import CounterflowError


@contextmanager
def stack_extra() -> Iterator[None]:
    """Import what only the extra `stack` installs; without it, say so."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise CounterflowError(
            f"the one-machine stack needs {missing.name}, which is not installed",
            hint="run counterflow from a checkout: git clone, then make up",
        ) from None
