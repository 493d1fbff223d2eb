"""The option of a folder that a command writes to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


class Folder(click.Path):
    """A folder, made where it is missing. An empty name, as of a variable that is not set, is refused."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).strip():
            self.fail("is empty; name a folder, `.` for this one, or leave the option out", param, ctx)
        return super().convert(value, param, ctx)
