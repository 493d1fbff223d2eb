"""What the site and README.md list of the formats, from the front matter of `collectors/formats/<format>/*.md`.

`make golden` writes the table of README.md.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Literal, get_args

from docs.generators import elsewhere, table
from docs.generators.elsewhere import CHECKOUT, PageElsewhere, read

README = CHECKOUT / "README.md"
_TABLE = re.compile(r"(?<=<!-- formats -->\n).*?(?=<!-- end -->)", re.DOTALL)

System = Literal["AIX, Linux", "IBM i", "HMC", "z/OS", "Replication", "Workloads, sites"]


class FormatPage(PageElsewhere):
    """Front matter of a page of a format.

    Parameters
    ----------
    system : where the files come from.
    wanted, produce : what a reader has it for, and what writes it.
    example : the golden case that tests read in each encoding and packing; a further page of a format has none.
    table : whether the files are tables, which may also be JSON or sheets of a workbook.
    """

    system: System
    wanted: str
    produce: str
    example: str | None = None
    table: bool = False


@cache
def by_system() -> dict[str, list[FormatPage]]:
    """Return the pages of each system."""
    pages = read(FormatPage, "collectors/formats/*/*.md")
    return {system: [page for page in pages if page.system == system] for system in get_args(System)}


def pages() -> list[FormatPage]:
    """Return the pages by system."""
    return [page for found in by_system().values() for page in found]


def examples() -> dict[str, FormatPage]:
    """Return the page with the example of each format, by the name of the format."""
    return {page.folder: page for page in pages() if page.example}


def navigation() -> list[Any]:
    """Return the navigation of the pages, as in mkdocs.yml."""
    return [{system: elsewhere.navigation(found)} for system, found in by_system().items()]


def take_what() -> str:
    """Return for each system what to take for what, in Markdown."""
    rows = {
        system: [(page.wanted, page.link("docs/collectors"), page.produce) for page in found]
        for system, found in by_system().items()
    }
    head = ("you want", "take", "made by")
    return "\n".join(f"## {system}\n\n{table(head, of)}" for system, of in rows.items())


def tables() -> str:
    """Return the formats whose files are tables, in Markdown."""
    return ", ".join(page.link("docs/formats") for page in pages() if page.table) + "."


def readme(text: str) -> str:
    """Return README.md with its table of formats."""
    rows = ((system, ", ".join(page.link() for page in found)) for system, found in by_system().items())
    made = table(("system", "what Counterflow reads"), rows)
    return _TABLE.sub(lambda _: f"\n{made}\n", text)


if __name__ == "__main__":
    README.write_text(readme(README.read_text(encoding="utf-8")), encoding="utf-8")
