"""Writes the report into a folder: the page, and each chart as a picture."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from counterflow.base.errors import CounterflowError

if TYPE_CHECKING:
    from counterflow.dashboards.report.collect import Report

_MOST_AT_ONCE = 4
"""Drawing processes; each needs 100 MB."""


def write(report: Report, folder: Path, *, pictures: bool) -> Path:
    """Write the page and, with `pictures`, each chart as a picture; returns the page's path.

    Raises
    ------
    CounterflowError : the disk refuses it, or a library of the report is not installed; exit code 2.
    """
    try:
        from counterflow.dashboards.report import page
    except ModuleNotFoundError as missing:
        raise CounterflowError(
            f"the report needs {missing.name}, which is not installed",
            hint="pip install 'counterflow[report]'",
            exit_code=2,
        ) from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.html").write_text(page.html(report), encoding="utf-8")
        if pictures:
            (folder / "charts").mkdir(exist_ok=True)
            # A chart takes 0.25 s of one core, and threads share one. Spawned, since the drawing library has threads.
            with ProcessPoolExecutor(min(_MOST_AT_ONCE, os.cpu_count() or 1), get_context("spawn")) as pool:
                for figure, drawn in zip(report.drawn, pool.map(page.pictures, report.drawn), strict=True):
                    for ending, data in drawn.items():
                        (folder / "charts" / f"{figure.place}.{ending}").write_bytes(data)
    except OSError as error:  # the error of a full disk names no file
        what = f"{error.filename or folder}: {error.strerror or error}"
        raise CounterflowError(what, hint="--out names another folder", exit_code=2) from None
    return folder / "report.html"
