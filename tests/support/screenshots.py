"""Pictures of charts of a report, as a browser shows them: `python -m tests.support.screenshots REPORT FOLDER`."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.browser import browser

CHARTS = ("logical_io", "cap_verdict", "log_rate", "disk_response")
WIDTH, SCALE = 460, 2
"""CSS pixels of the window, so that two stand beside each other in a README; device pixels of each."""
FIRST_PAGE = 1100, 1000
"""CSS pixels of the picture of the report itself."""
DRAWN = "document.documentElement?.dataset.drawn"
"""Every chart has been drawn."""
WHERE = """(() => {
  const figure = document.querySelector('#chart-%s');
  const begin = figure.getBoundingClientRect(), end = figure.querySelector('.legend').getBoundingClientRect();
  return [begin.left + scrollX + 8, begin.top + scrollY + 8, begin.width - 16, end.bottom - begin.top - 4];
})()"""
"""Left, top, width and height of a chart from within its border to its legend, on the page."""


def take(report: Path, folder: Path) -> None:
    """Write each chart with its title, question and legend to `folder`, named as the chart is, and the first page."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as profile, browser(Path(profile)) as page:
        page.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=1200, deviceScaleFactor=SCALE, mobile=False)
        page.open(report.absolute(), until=DRAWN)
        for name in CHARTS:
            left, top, width, height = page.evaluate(WHERE % name)
            clip = {"x": left, "y": top, "width": width, "height": height, "scale": 1}
            shot = page.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
            (folder / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))
        page.size(*FIRST_PAGE)
        page.open(report.absolute(), until=DRAWN)
        (folder / "report.png").write_bytes(page.screenshot())


if __name__ == "__main__":
    take(*map(Path, sys.argv[1:]))
