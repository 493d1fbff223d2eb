"""The simulated stories of the demo: what each shows, and one report of all. No real system was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from counterflow.simulate import Simulation, begin_of, cases, simulate

if TYPE_CHECKING:
    from counterflow.base.clickhouse import ClickHouse
    from counterflow.dashboards.report.collect import Chapter, Report
    from counterflow.stack.settings import StackSettings

GENERATED = "(generated, not a real system)"


class Story(NamedTuple):
    """A case of the demo.

    Parameters
    ----------
    case : name of a case of `counterflow study simulate`.
    boards : boards that show it in the report; each board shows one story.
    question : stored question that shows it for `system` on the terminal; or none.
    runs : labelled runs to compare, the baseline first.
    """

    case: str
    boards: tuple[str, ...]
    question: str = ""
    system: str = ""
    runs: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return cases()[self.case].title


STORIES = (
    Story("end-of-day-story", ("cf-system", "cf-logical-io", "cf-disks")),
    Story("batch-night", ("cf-job-ranking",)),
    Story("sriov-story", ("cf-mirror",), "cap_timeline", "SRIOVA"),
    Story("log-ceiling-story", ("cf-db2-logging",), "ceiling_timeline", "ZSTORY"),
    Story("q-replication", ("cf-replication", "cf-compare"), runs=("without", "with")),
    Story("nvme-story", ("cf-storage-study",)),
)


class Simulated(NamedTuple):
    """A story whose files are written, with all its runs from `begin` to `end`."""

    story: Story
    simulation: Simulation

    @property
    def begin(self) -> datetime:
        return min(placed.begin for placed in self.simulation.runs)

    @property
    def end(self) -> datetime:
        return max(placed.end for placed in self.simulation.runs)

    @property
    def systems(self) -> list[str]:
        return list(dict.fromkeys(system for placed in self.simulation.runs for system in placed.run.systems))


def simulate_stories(folder: Path, start: datetime | None = None) -> list[Simulated]:
    """Write the files of every story below `folder`; each begins at `start`, or else ends now.

    Raises
    ------
    OSError : a file cannot be written.
    """
    now = datetime.now(UTC)
    begins = {story: start or begin_of(story.case, now) for story in STORIES}
    return [Simulated(story, simulate(story.case, folder / story.case, start=begin)) for story, begin in begins.items()]


def links(stories: Sequence[Simulated], settings: StackSettings) -> list[tuple[str, str]]:
    """Return the title of each story, and the address of the board that shows it best over its period."""
    return [
        (one.story.title, settings.board_url(one.story.boards[0], one.begin, one.end, {"system": one.systems}))
        for one in stories
    ]


def report(client: ClickHouse, stories: Sequence[Simulated]) -> Report:
    """Return all stories as one report, each with its own boards and period."""
    from counterflow.analysis.studies.compare import compare
    from counterflow.analysis.studies.pictured import side_by_side
    from counterflow.analysis.studies.stored import read_run
    from counterflow.dashboards.report.collect import collect

    begin, end = min(one.begin for one in stories), max(one.end for one in stories)
    made = collect(client, begin, end, chapters=[_chapter(one) for one in stories])
    [runs] = [one.story.runs for one in stories if one.story.runs]
    compared = compare([read_run(client, name) for name in runs])
    notes = (f"The demo's stories {GENERATED}: files as the systems write them, simulated from published figures.",)
    return made._replace(comparison=side_by_side(compared), notes=notes)


def _chapter(one: Simulated) -> Chapter:
    from counterflow.dashboards.report.collect import Chapter

    when = f"{one.begin:%H:%M} to {one.end:%H:%M} UTC"
    about = (("Story", one.story.title), ("Shown", f"{when}, {', '.join(one.systems)}"))
    chosen = dict(zip(("baseline", "scenario"), one.story.runs, strict=False))
    return Chapter(about, one.begin, one.end, one.systems, one.story.boards, chosen)
