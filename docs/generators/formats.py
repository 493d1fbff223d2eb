"""What the site and README.md list of the formats, from the pages in their folders, `collectors/formats/<format>/*.md`.

Each page begins with front matter, YAML between two lines `---`: see `FormatPage`. `make golden` writes the table of
README.md.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from counterflow.schemas.definition import load_yaml

CHECKOUT = Path(__file__).resolve().parents[2]
README = CHECKOUT / "README.md"
_TABLE = re.compile(r"(?<=<!-- formats -->\n).*?(?=<!-- end -->)", re.DOTALL)

System = Literal["AIX, Linux", "IBM i", "HMC", "z/OS", "Replication", "Workloads, sites"]


class FormatPage(BaseModel):
    """Front matter of a page.

    Parameters
    ----------
    path : of its file in the checkout.
    title : in the navigation and in tables.
    system : where the files come from.
    wanted, produce : what a reader has it for, and what writes it.
    example : the golden case that tests read in each encoding and packing; a further page of a format has none.
    table : whether the files are tables, which may also be JSON or sheets of a workbook.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    title: str
    system: System
    wanted: str
    produce: str
    example: str | None = None
    table: bool = False

    @property
    def format(self) -> str:
        """Name of the format."""
        return self.path.split("/")[-2]

    @property
    def on_site(self) -> str:
        """Path of the page on the site: `formats/<format>.md`, `formats/<format>_<page>.md`."""
        page = Path(self.path).stem
        return f"formats/{self.format}{'' if page == 'README' else f'_{page}'}.md"

    def link(self, folder: str = "") -> str:
        """Return a link to the page from a file of the folder, in Markdown."""
        return f"[{self.title}]({posixpath.relpath(self.path, folder or '.')})"


@cache
def pages() -> list[FormatPage]:
    """Return the pages by system, then by path; raises `ValueError` where the front matter of one is wrong."""
    found = [_page(path) for path in sorted(CHECKOUT.glob("collectors/formats/*/*.md"))]
    return sorted(found, key=lambda page: get_args(System).index(page.system))


def examples() -> dict[str, FormatPage]:
    """Return the page with the example of each format, by the name of the format."""
    return {page.format: page for page in pages() if page.example}


def _page(path: Path) -> FormatPage:
    try:
        _, matter, _ = path.read_text(encoding="utf-8").split("---\n", 2)
        return FormatPage(path=path.relative_to(CHECKOUT).as_posix(), **load_yaml(matter))
    except (TypeError, ValueError, ValidationError) as error:
        raise ValueError(f"{path}: front matter: {error}; see CONTRIBUTING.md, Add a format") from None


def by_system() -> dict[str, list[FormatPage]]:
    """Return the pages of each system."""
    return {system: [page for page in pages() if page.system == system] for system in get_args(System)}


def navigation() -> list[Any]:
    """Return the navigation of the pages, for mkdocs.yml."""
    return [{system: [{page.title: page.on_site} for page in found]} for system, found in by_system().items()]


def take_what() -> str:
    """Return for each system what to take for what, in Markdown."""
    head = "| you want | take | made by |\n|---|---|---|\n"
    return "\n".join(
        f"## {system}\n\n{head}"
        + "".join(f"| {page.wanted} | {page.link('docs/collectors')} | {page.produce} |\n" for page in found)
        for system, found in by_system().items()
    )


def tables() -> str:
    """Return the formats whose files are tables, in Markdown."""
    return ", ".join(page.link("docs/formats") for page in pages() if page.table) + "."


def readme(text: str) -> str:
    """Return README.md with its table of formats."""
    rows = (f"| {system} | {', '.join(page.link() for page in found)} |\n" for system, found in by_system().items())
    table = "\n| system | what Counterflow reads |\n|---|---|\n" + "".join(rows) + "\n"
    return _TABLE.sub(lambda _: table, text)


if __name__ == "__main__":
    README.write_text(readme(README.read_text(encoding="utf-8")), encoding="utf-8")
