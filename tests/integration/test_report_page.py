"""The report in a real Chromium: nothing fails, nothing is missing, nothing is cut off, and the colours are right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterflow.dashboards.looks import looks
from counterflow.dashboards.report import page as made
from tests.support.browser import Page, browser
from tests.support.colour import contrast
from tests.support.reports import report

SOON = "new Promise((go) => setTimeout(go, 300))"
DRAWN = "document.readyState === 'complete' && document.documentElement.dataset.drawn !== undefined"
CUT_TABLES = """[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.outerHTML.slice(0, 99))"""
FIGURES = 30
PICTURES = sum(figure.spec is not None for figure in report(FIGURES).drawn)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(made.html(report(FIGURES)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("chromium")) as page:
        yield page


@pytest.fixture(scope="module")
def opened(chromium: Page, path: Path) -> Page:
    """The report, open and drawn."""
    chromium.size(1600)
    chromium.open(path, DRAWN)
    return chromium


@pytest.fixture
def page(opened: Page) -> Page:
    """The report on a screen 1,600 pixels wide, before any click."""
    opened.call("Emulation.setEmulatedMedia", media="", features=[])
    opened.size(1600)
    opened.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = false; })")
    return opened


def test_every_chart_is_drawn_without_an_error_and_without_a_network(page: Page, path: Path) -> None:
    assert page.errors == []
    assert page.evaluate("document.querySelectorAll('.drawing svg').length") == PICTURES
    assert page.evaluate("document.querySelectorAll('.drawing:not([data-drawn=yes])').length") == 0
    assert page.evaluate("document.querySelectorAll('figure').length") == FIGURES
    assert page.fetched == [path.as_uri()]


@pytest.mark.parametrize("width", [360, 1600, 3840])
def test_nothing_is_wider_than_the_window(page: Page, width: int) -> None:
    page.size(width)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; }), " + SOON)
    assert page.evaluate("innerWidth") == width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    cut = """[...document.querySelectorAll('main *')].filter((one) => !one.closest('.scroll, pre, svg'))
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 99))"""
    assert page.evaluate(cut) == []
    of_svg = """[...document.querySelectorAll('.drawing svg')].filter((one) =>
      one.getBoundingClientRect().right > one.closest('figure, .verdict').getBoundingClientRect().right).length"""
    assert page.evaluate(of_svg) == 0


def test_the_idoctor_chart_is_drawn_in_its_colours(page: Page) -> None:
    fills = """[...new Set([...document.querySelectorAll('#chart-logical_io .mark-rect path')]
      .map((one) => one.getAttribute('fill')))]"""
    kinds = ("read_only", "read_for_update", "reads_not_parted", "insert", "other_io")
    assert sorted(page.evaluate(fills)) == sorted(looks().colours[kind] for kind in kinds)


def test_pointing_at_a_chart_reads_every_series_and_marks_the_moment_in_the_others(page: Page) -> None:
    """The made-up series have one value an interval of a quarter of an hour; the fifth ends at 09:15."""
    shown = page.evaluate("""(() => {
      const place = document.querySelector('#chart-logical_io .drawing');
      place.scrollIntoView({ block: 'center', behavior: 'instant' });
      return new Promise((go) => setTimeout(() => {
        const plot = place.querySelector('.mark-rect').getBoundingClientRect();
        const x = plot.left + plot.width * 4.5 / 48, y = plot.top + plot.height / 2;
        place.dispatchEvent(new PointerEvent('pointermove', { clientX: x, clientY: y, bubbles: true }));
        go([document.getElementById('at').innerText, document.querySelectorAll('.moment').length]);
      }, 300));
    })()""")
    assert "2026-05-04 09:15 UTC" in shown[0]
    for name in ("Read only", "Read for update", "Inserts", "Other"):
        assert name in shown[0]
    assert shown[1] >= 2


def test_a_stretch_that_is_chosen_in_one_chart_is_shown_in_all(page: Page) -> None:
    ticks = (
        "[...document.querySelectorAll('#chart-%s .role-axis-label')[0].children].map((one) => one.textContent).sort()"
    )
    drag = """(async () => {
      const place = document.querySelector('#chart-logical_io .drawing');
      place.scrollIntoView({ block: 'center', behavior: 'instant' });
      await new Promise((go) => setTimeout(go, 300));
      const plot = place.querySelector('.mark-rect').getBoundingClientRect();
      const at = (share) => ({ clientX: plot.left + plot.width * share, clientY: plot.top + 9 });
      const mouse = { button: 0, pointerType: 'mouse', bubbles: true };
      const send = (type, share, to) => to.dispatchEvent(new PointerEvent(type, { ...at(share), ...mouse }));
      send('pointerdown', 0.5, place);
      send('pointermove', 0.6, window);
      send('pointerup', 0.6, window);
      await new Promise((go) => setTimeout(go, 500));
      document.querySelector('#chart-disk_response').scrollIntoView({ behavior: 'instant' });
      await new Promise((go) => setTimeout(go, 500));
    })()"""
    before = page.evaluate(ticks % "disk_response")
    page.evaluate(drag)
    assert page.evaluate(ticks % "disk_response") != before
    assert page.evaluate(ticks % "disk_response") == page.evaluate(ticks % "logical_io")
    page.evaluate("""(async () => {
      const place = document.querySelector('#chart-disk_response .drawing');
      place.dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));
      await new Promise((go) => setTimeout(go, 500));
    })()""")
    assert page.evaluate(ticks % "disk_response") == before


@pytest.mark.parametrize("width", [400, 1400])
def test_no_table_is_cut(page: Page, width: int) -> None:
    page.size(width)
    page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; }), " + SOON)
    assert page.evaluate(CUT_TABLES) == []


def test_every_point_is_in_a_table(page: Page) -> None:
    page.evaluate(
        "document.querySelectorAll('#chart-logical_io details').forEach((one) => { one.open = true; })," + SOON
    )
    assert page.evaluate("document.querySelectorAll('#chart-logical_io .points tbody tr').length") == 48
    assert "\u2013" in page.evaluate("document.querySelector('#chart-logical_io .points').textContent"), "a gap"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(page: Page, scheme: str) -> None:
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    colours = """['.reading', 'h2', 'nav a', '.more summary', '.drawing svg text', 'thead th'].map((what) => {
      const style = getComputedStyle(document.querySelector(what));
      return what.includes('svg') ? style.fill : style.color;
    })"""
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for colour in page.evaluate(colours):
        assert contrast(_hexadecimal(colour), _hexadecimal(paper)) >= 4.5, (colour, paper)


def _hexadecimal(rgb: str) -> str:
    return "#{:02X}{:02X}{:02X}".format(*map(int, re.findall(r"\d+", rgb)))


def test_it_prints(page: Page) -> None:
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    page.size(760)  # A4 between its margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 760
    assert page.evaluate(CUT_TABLES) == [], "paper cannot be scrolled"
    assert len(page.call("Page.printToPDF", printBackground=True)["data"]) > 50_000
