"""The parts `boards` and `figures` of the page of boards: what each answers, and what its menu *Figure* chooses."""

from __future__ import annotations

from counterflow.dashboards.definition import boards, charts, members
from docs.generators import table


def answers() -> str:
    """Return the description of each board, in Markdown."""
    return table(("board", "uid", "answers"), ((of.title, f"`{uid}`", of.description) for uid, of in boards().items()))


def figures() -> str:
    """Return the panels with several figures, in Markdown."""
    on: dict[str, list[str]] = {}
    for uid, board in boards().items():
        for place in (place for row in board.rows for place in row.panels):
            if members(place.chart) != [place.chart]:
                on.setdefault(place.chart, []).append(f"`{uid}`")
    families = {name: [charts()[one] for one in members(name)] for name in sorted(on)}
    rows = (
        (of[0].of, " ".join(on[name]), ", ".join(f"{one.figure} (`{one.name}`)" for one in of))
        for name, of in families.items()
    )
    return table(("panel", "boards", "figures: the word in the menu, and the chart of the report"), rows)
