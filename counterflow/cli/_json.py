"""What commands print with --json."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import orjson


def write_json(objects: Iterable[object]) -> None:
    """Print each object as a line of JSON, times in UTC with `Z`."""
    for one in objects:
        sys.stdout.buffer.write(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z))
    sys.stdout.flush()  # if the reader is gone, the command ends here, quietly
