"""Rules on what can be seen and understood at a glance; they need only the definitions of charts and boards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from counterflow.dashboards.build import dashboard
from counterflow.dashboards.definition import Board, Chart, Drawing, PrometheusChart, boards, drawings, members
from counterflow.dashboards.looks import Looks, looks
from counterflow.dashboards.tables import width_px
from tests.support.colour import alike, faint

SCREEN = 21
"""Height below Grafana's bars and the variables in a window of 1,600 x 1,000, in units of about 38 pixels."""
SCREENS, MOST = 2, 12
"""The most charts and figures on so many screens: more are not read, and each is a query when the board opens."""
ONLY = ("limit", "peak")
"""Meanings, besides the states, whose colour nothing else has."""
SHARED = ("critical", "warning", "unknown")
"""Meanings that several states share; any other colour stands for one state."""


def illegible() -> Iterator[tuple[str, str]]:
    """Yield each breach of a rule: the uid of the board, empty where it concerns all, and the problem."""
    for problem in looks_problems(looks()):
        yield "", f"looks.yaml: {problem}"
    for uid, board in boards().items():
        for name in board.drawings:
            for problem in chart_problems(drawings()[name], looks()):
                yield uid, f"`{name}`: {problem}"
        if (found := seen_first(board)) > MOST:
            yield (
                uid,
                f"{found} charts and figures stand on its first {SCREENS} screens, of which {MOST} are read",
            )
        if (needed := controls_px(board)) > CONTROLS_PX:
            yield uid, f"its controls need {needed} pixels, and a row of a window of 1,600 has {CONTROLS_PX}"
        for place in (place for row in board.rows for place in row.panels):
            for name in members(place.chart):
                for problem in (*too_wide(drawings()[name], place.width), *axis_cut(drawings()[name], place.height)):
                    yield uid, f"`{name}`: {problem}"


def seen_first(board: Board) -> int:
    """Return how many charts and figures begin on the first screens of a board."""
    shown = [one for one in dashboard(board)["panels"] if one["type"] not in ("row", "text")]
    return sum(one["gridPos"]["y"] < SCREENS * SCREEN for one in shown)


CONTROLS_PX = 1600 - 2 * 16 - 480
"""Width for variables and menus beside the time picker in a window of 1,600 pixels, with Grafana's menu closed."""
_LETTER_PX, _FRAME_PX, _MENU_PX, _VALUE = 7, 44, 48, 14
"""A letter of Inter at 13 pixels; the frames of a variable and of a menu; and the letters of a usual choice."""


def controls_px(board: Board) -> int:
    """Return the width that variables and menus of a board need in one row, pixels."""
    made = dashboard(board)
    labels = [one["label"] for one in made["templating"]["list"] if one["hide"] == 0]
    switches = [one["name"] for one in made["annotations"]["list"] if not one["hide"]]
    words = [(label, _VALUE, _FRAME_PX) for label in labels] + [(name, 0, _FRAME_PX) for name in switches]
    words += [(link["title"], 0, _MENU_PX) for link in made["links"]]
    return sum(_LETTER_PX * (len(word) + more) + frame for word, more, frame in words)


def looks_problems(found: Looks) -> Iterator[str]:
    """Yield which colours are hard to see, have two meanings, or cannot be distinguished."""
    free = {meaning: colour for meaning, colour in found.colours.items() if meaning not in found.documented}
    yield from faint([*free.values(), *found.hues.values(), *found.palette, *found.sequence])
    yield from alike(found.hues.values())
    yield from alike(found.palette)
    states = {one.colour for one in found.states.values()}
    yield from alike(found.colours[meaning] for meaning in sorted(states))
    for meaning, count in Counter(one.colour for one in found.states.values()).items():
        if count > 1 and meaning not in SHARED:
            named = ", ".join(state for state, other in found.states.items() if other.colour == meaning)
            yield f"{named} have the colour of `{meaning}`, which stands for one state"
    times = Counter(free.values())
    for meaning in sorted({*states, *ONLY}):
        if times[found.colours[meaning]] > 1:
            others = [other for other, colour in free.items() if colour == found.colours[meaning] and other != meaning]
            yield f"the colour of `{meaning}` stands for {', '.join(others)}, too"


def chart_problems(chart: Chart | PrometheusChart, found: Looks) -> Iterator[str]:
    """Yield which series of a chart cannot be distinguished, or have a colour that stands for something else."""
    states = {one.colour for one in found.states.values()}
    drawn = {name: series for name, series in chart.series.items() if series.colour}
    for name, series in drawn.items():
        if series.colour in states:
            yield f"{name}: `{series.colour}` is the colour of a state and of nothing else"
        if series.dashed != (series.colour == "limit"):
            yield f"{name}: limits are dashed and have the colour `limit`, and nothing else is or has"
    plain = [one.colour for one in drawn.values() if one.colour and not one.dashed and one.colour not in found.themed]
    yield from alike(found.colours[colour] for colour in plain if colour not in found.documented)


_ROW_PX, _AROUND_PX, _AXIS_LETTER_PX = 38, 95, 6.3
"""A unit of height; heading, legend and labels of times around an axis; and a letter of Inter at 12 pixels."""


def axis_cut(chart: Drawing, height: int) -> Iterator[str]:
    """Yield a problem where the title of an axis is longer than the axis."""
    room = int((height * _ROW_PX - _AROUND_PX) / _AXIS_LETTER_PX)
    if (chart.over_time or chart.shape == "trend") and len(chart.axis) > room:
        yield f"the axis has room for {room} of the {len(chart.axis)} letters of `{chart.axis}`: shorten it"


LAPTOP_PX = 1280
"""The narrowest window in which every column of a table is to be seen, with Grafana's menu closed."""
_MARGINS_PX, _COLUMNS = 64, 24


def room_px(columns: int) -> int:
    """Return the width of a table in a panel of so many of the 24 columns, in the narrowest window."""
    return (LAPTOP_PX - _MARGINS_PX) * columns // _COLUMNS


def too_wide(chart: Drawing, columns: int) -> Iterator[str]:
    """Yield a problem where the columns of a table need more width than there is."""
    if chart.shape != "table":
        return
    needed = sum(width_px(chart, name) for name in chart.series)
    if needed > room_px(columns):
        yield (
            f"its columns need {needed} pixels of {room_px(columns)}: shorten headings, leave columns out, set `chars`,"
            " or give it more columns of the board"
        )
