"""Ports for the servers of tests, which run in several processes at once."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Iterator
from itertools import islice

from counterflow.stack.settings import HOST

_BELOW_EPHEMERAL = range(20_000, 32_000)
"""The kernel may give a higher port to an outgoing connection at any time."""


def free_ports(count: int) -> list[int]:
    """Return ports that nothing listens on; none is returned again before all others were."""
    return list(islice(_free, count))


def is_free(port: int) -> bool:
    """Return whether nothing listens on the port."""
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) != 0


def _endless() -> Iterator[int]:
    """Yield the free ports of this process's share: pytest-xdist numbers its processes gw0, gw1, ..."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    share = list(_BELOW_EPHEMERAL[number :: int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))])
    random.shuffle(share)
    while True:
        yield from filter(is_free, share)


_free = _endless()
