"""The folders of the boards in the order of work."""

from __future__ import annotations

from typing import NamedTuple

from counterflow.dashboards.definition import Board


class Folder(NamedTuple):
    """Boards of some steps of work.

    Parameters
    ----------
    name : of the directory, and the tag of its boards.
    title : of the folder in Grafana.
    steps : of its boards.
    """

    name: str
    title: str
    steps: tuple[str, ...]

    @property
    def heading(self) -> str:
        """The folder's title in Grafana, which lists folders by name: the number keeps their order."""
        return f"Counterflow {1 + FOLDERS.index(self)} {self.title}"


FOLDERS = (
    Folder("fleet", "Fleet", ("fleet",)),
    Folder("system", "Systems", ("system",)),
    Folder("detail", "Detail", ("interval", "rank", "job")),
    Folder("more", "More", ("study", "line")),
)


def folder_of(board: Board) -> Folder:
    return next(folder for folder in FOLDERS if board.step in folder.steps)
