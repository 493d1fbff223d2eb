"""Pages that lie in the folder of what they describe.

A page begins with its title and, where it is of a figure, the question that it answers; a page of a format has front
matter before them, YAML between two lines `---`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from counterflow.base.strict import Strict
from counterflow.schemas.definition import load_yaml

CHECKOUT = Path(__file__).resolve().parents[2]


class PageElsewhere(Strict):
    """A page.

    Parameters
    ----------
    path : of its file in the checkout.
    title : its heading, without the name of what it describes.
    question : the paragraph below the heading.
    """

    path: str
    title: str
    question: str

    @property
    def folder(self) -> str:
        """Name of the folder that it describes: of a format, a job or an alert."""
        return self.path.split("/")[-2]

    @property
    def on_site(self) -> str:
        """Path of the page on the site: `formats/<format>.md`, `formats/<format>_<page>.md`, `jobs/<job>.md` …"""
        room, folder, file = self.path.split("/")[-3:]
        return f"{room}/{folder}.md" if file == "README.md" else f"{room}/{folder}_{file}"

    def link(self, folder: str = ".") -> str:
        """Return a link to the page from a file of the folder, in Markdown."""
        return f"[{self.title}]({posixpath.relpath(self.path, folder)})"


def navigation(pages: Iterable[PageElsewhere]) -> list[dict[str, str]]:
    """Return the navigation of pages, as in mkdocs.yml."""
    return [{page.title: page.on_site} for page in pages]


Found = TypeVar("Found", bound=PageElsewhere)


def read(model: type[Found], pattern: str) -> list[Found]:
    """Return the pages whose paths in the checkout match; raises `ValueError` where their beginning is wrong."""
    return [_read(model, path) for path in sorted(CHECKOUT.glob(pattern))]


def _read(model: type[Found], path: Path) -> Found:
    text = path.read_text(encoding="utf-8")
    matter, text = text[4:].split("---\n", 1) if text.startswith("---\n") else ("", text)
    try:
        heading, question, *_ = text.strip().split("\n\n")
        title = heading.removeprefix("# ").split(": `")[0]
        return model(
            path=path.relative_to(CHECKOUT).as_posix(), title=title, question=question, **(load_yaml(matter) or {})
        )
    except (TypeError, ValueError, ValidationError) as error:
        raise ValueError(f"front matter, title or question of {path}: {error}; see CONTRIBUTING.md") from None
