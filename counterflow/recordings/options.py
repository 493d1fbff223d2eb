"""What the user states about recordings that they do not state themselves."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo


class ReadingOptions(NamedTuple):
    """The options by which files are read, as `collectors.reading.read_each` takes them.

    Parameters
    ----------
    zone : of local times.
    system : name of the system, instead of the one in the file.
    date_order : of ambiguous dates.
    at : time of a listing that carries none, or begin of a run; without a zone it is in `zone`.
    """

    zone: ZoneInfo
    system: str | None = None
    date_order: Literal["ymd", "mdy", "dmy"] | None = None
    at: datetime | None = None
