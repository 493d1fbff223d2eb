"""Pictures of charts of a report, as a browser shows them: `python -m tests.support.screenshots REPORT FOLDER`."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from counterflow.dashboards.definition import boards
from tests.support.browser import Page, browser

CHARTS = ("logical_io", "cap_verdict", "log_rate", "disk_response")
WIDTH, SCALE = 460, 2
"""CSS pixels of the window, so that two stand beside each other in a README; device pixels of each."""
FIRST_PAGE = 1100, 1000
"""CSS pixels of the picture of the report itself."""
BOARD, BOARD_WIDTH = "cf-question-capped", 1280
"""The board whose picture is taken, of its charts in the report, on a dark page of so many CSS pixels."""
DRAWN = "document.documentElement?.dataset.drawn"
"""Every chart has been drawn."""
WHERE = """(() => {
  const figure = document.querySelector('#chart-%s');
  const begin = figure.getBoundingClientRect(), end = figure.querySelector('.legend').getBoundingClientRect();
  return [begin.left + scrollX + 8, begin.top + scrollY + 8, begin.width - 16, end.bottom - begin.top - 4];
})()"""
"""Left, top, width and height of a chart from within its border to its legend, on the page."""
OF_BOARD = """((title, charts) => {
  const section = document.querySelector(`#chart-${charts[0]}`).closest("section");
  section.querySelector("h2").textContent = title;
  for (const one of section.querySelectorAll("h3, .note, .more, section > p")) one.remove();
  for (const one of section.querySelectorAll(".place"))
    if (!charts.some((chart) => one.querySelector(`#chart-${chart}`))) one.remove();
  for (const one of section.querySelectorAll(".charts"))
    one.querySelector(".place") ? (one.style.marginBottom = "1rem") : one.remove();
  const box = section.getBoundingClientRect();
  return [box.left + scrollX - 16, box.top + scrollY, box.width + 32, box.height];
})"""
"""The same of the charts of a board, under its title."""


def take(report: Path, folder: Path) -> None:
    """Write each chart with its title, question and legend to `folder`, named as it is, a board and the first page."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as profile, browser(Path(profile)) as page:
        page.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=1200, deviceScaleFactor=SCALE, mobile=False)
        page.open(report.absolute(), until=DRAWN)
        for name in CHARTS:
            (folder / f"{name}.png").write_bytes(_clip(page, page.evaluate(WHERE % name)))
        page.size(BOARD_WIDTH)
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        page.open(report.absolute(), until=DRAWN)
        board = boards()[BOARD]
        clip = page.evaluate(f"{OF_BOARD}({json.dumps(board.title)}, {json.dumps(board.charts)})")
        (folder / "board_capped.png").write_bytes(_clip(page, clip))
        page.call("Emulation.setEmulatedMedia", features=[])
        page.size(*FIRST_PAGE)
        page.open(report.absolute(), until=DRAWN)
        (folder / "report.png").write_bytes(page.screenshot())


def _clip(page: Page, where: list[float]) -> bytes:
    """Return a part of the page as PNG."""
    clip = {**dict(zip(("x", "y", "width", "height"), where, strict=True)), "scale": 1}
    return base64.b64decode(page.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"])


if __name__ == "__main__":
    take(*map(Path, sys.argv[1:]))
