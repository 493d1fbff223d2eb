"""Pictures of charts of a report, as a browser shows them: `python -m tests.support.screenshots REPORT FOLDER`."""

from __future__ import annotations

import base64
import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from counterflow.dashboards.definition import boards
from tests.support.browser import Page, browser

QUESTIONS = {
    "question-mirroring": "cf-logical-io",
    "question-capped": "cf-mirror",
    "question-ceiling": "cf-db2-logging",
    "question-limits": "cf-system",
}
"""Boards whose first screen answers a question, by the name of its picture."""
CHARTS = ("logical_io", "cap_verdict", "log_rate", "disk_response")
WIDTH, SCALE = 460, 2
"""CSS pixels of the window, so that two stand beside each other in a README; device pixels of each."""
FIRST_PAGE = 1100, 1000
"""CSS pixels of the picture of the report itself."""
BOARD_WIDTH, SETTLED_S = 1600, 1.0
"""CSS pixels of the dark page on which the charts of a board are drawn, and how long they take to fit their places."""
DRAWN = "document.documentElement?.dataset.drawn"
"""Every chart has been drawn."""
WHERE = """(() => {
  const figure = document.querySelector('#chart-%s');
  const begin = figure.getBoundingClientRect(), end = figure.querySelector('.legend').getBoundingClientRect();
  return [begin.left + scrollX + 8, begin.top + scrollY + 8, begin.width - 16, end.bottom - begin.top - 4];
})()"""
"""Left, top, width and height of a chart from within its border to its legend, on the page."""
ALONE = """((title, charts) => {
  const places = Object.entries(charts).map(([chart, width]) => {
    const place = document.querySelector(`#chart-${chart}`)?.closest(".place");
    if (place) place.style.gridColumn = `span ${width}`;
    return place;
  }).filter((place) => place);
  const grid = places[0].closest(".charts"), section = grid.closest("section");
  section.querySelector("h2").textContent = title;
  for (const one of [...section.children]) if (one.tagName != "H2" && one != grid) one.remove();
  grid.style.gridTemplateColumns = "repeat(24, minmax(0, 1fr))";
  grid.replaceChildren(...places);
  section.id = "alone";
  for (const one of section.querySelectorAll(".note, .more")) one.remove();
  dispatchEvent(new Event("resize"));
})"""
"""Leave nothing in a section of the report but its head and the charts of a board, as wide as they are there."""
OF_BOARD = """(() => {
  const box = document.querySelector("#alone").getBoundingClientRect();
  return [box.left + scrollX - 16, box.top + scrollY, box.width + 32, box.height];
})()"""
"""Left, top, width and height of that section on the page."""


def take(report: Path, folder: Path) -> None:
    """Write pictures to `folder`: charts, the first screens that answer a question, and the first page."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as profile, browser(Path(profile)) as page:
        page.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=1200, deviceScaleFactor=SCALE, mobile=False)
        page.open(report.absolute(), until=DRAWN)
        for name in CHARTS:
            (folder / f"{name}.png").write_bytes(_clip(page, page.evaluate(WHERE % name)))
        page.size(BOARD_WIDTH)
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        for picture, uid in QUESTIONS.items():
            first = boards()[uid].rows[0]
            page.open(report.absolute(), until=DRAWN)
            widths = {place.chart: place.width for place in first.panels}
            page.evaluate(f"{ALONE}({json.dumps(first.title)}, {json.dumps(widths)})")
            time.sleep(SETTLED_S)
            (folder / f"{picture}.png").write_bytes(_clip(page, page.evaluate(OF_BOARD)))
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
