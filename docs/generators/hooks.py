"""Hooks of MkDocs: fill the generated parts into pages, and add the pages that lie in the folder of what they describe.

In a page, a line `<!-- generated: NAME -->` stands for the part NAME of `PARTS`. The README of a format,
`collectors/formats/<format>/README.md`, is the page `formats/<format>.md`, that of a job `jobs/<job>.md`, that of an
alert `alerts/<alert>.md`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from counterflow.analysis.queries import queries
from counterflow.cli import cli
from counterflow.pipelines.rules import rules
from counterflow.schemas.definition import datasets
from counterflow.schemas.mapping import mappings
from docs.generators import (
    alerts,
    backtests,
    boards,
    checks,
    cookbook,
    dictionary,
    elsewhere,
    formats,
    jobs,
    reference,
)
from tests.faults import table as faults

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

BELOW: Mapping[str, Callable[[], list[Any]]] = {
    "alerts.md": lambda: elsewhere.navigation(alerts.pages()),
    "formats/index.md": formats.navigation,
    "kpis/index.md": lambda: elsewhere.navigation(jobs.pages()),
}
"""What stands in the navigation below a page."""


def _yaml(path: str) -> str:
    return f"```yaml\n{(elsewhere.CHECKOUT / path).read_text(encoding='utf-8')}```"


PARTS: Mapping[str, Callable[[], str]] = {
    "agent_example": lambda: _yaml("collectors/agent.example.yaml"),
    "agent_settings": reference.agent_settings,
    "alerts": alerts.listed,
    "boards": boards.answers,
    "checks": checks.tables,
    "commands": lambda: reference.commands(cli),
    "datasets": lambda: dictionary.data_dictionary(datasets().values(), mappings()),
    "figures": boards.figures,
    "formats": formats.take_what,
    "faults": faults.table,
    "jobs": jobs.questions,
    "log_paths": backtests.log_path,
    "metrics": alerts.metrics,
    "predictions": backtests.mirror,
    "questions": lambda: cookbook.cookbook(queries().values()),
    "site_example": lambda: _yaml("collectors/formats/site/example.yaml"),
    "stack_settings": reference.stack_settings,
    "tables": formats.tables,
    **{f"{name}_parameters": partial(reference.parameters, rule) for name, rule in rules().items()},
}
_PART = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+\.md)")


def outside() -> dict[str, str]:
    """Return the pages outside docs/: the path of each file in the checkout, by its path on the site."""
    return {page.on_site: page.path for page in (*formats.pages(), *jobs.pages(), *alerts.pages())}


def filled(markdown: str) -> str:
    """Return a page with its generated parts."""
    return _PART.sub(lambda part: PARTS[part[1]](), markdown)


def linked(markdown: str, site_path: str, pages: Mapping[str, str]) -> str:
    """Return a page whose links, which lead to files of the checkout, lead to the same pages of the site.

    Parameters
    ----------
    site_path : the page's path on the site, `formats/nmon.md`.
    pages : the pages outside docs/, as `outside` returns them.
    """
    here = posixpath.dirname(pages.get(site_path, f"docs/{site_path}"))
    on_site = {source: path for path, source in pages.items()}

    def target(link: re.Match[str]) -> str:
        source = posixpath.normpath(posixpath.join(here, link[1]))
        path = on_site.get(source, source.removeprefix("docs/"))
        return posixpath.relpath(path, posixpath.dirname(site_path) or ".")

    return _LINK.sub(target, markdown)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that are not named in mkdocs.yml into the navigation."""
    docs = elsewhere.CHECKOUT / "docs"
    for section in config.nav or []:
        if "Decisions" in section:
            section["Decisions"] = [str(page.relative_to(docs)) for page in sorted(docs.glob("decisions/*.md"))]
        for entries in section.values():
            for index, below in BELOW.items():
                if index in entries:
                    entries[1:1] = below()
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages outside docs/."""
    from mkdocs.structure.files import File

    for path, source in outside().items():
        files.append(File.generated(config, path, abs_src_path=str(elsewhere.CHECKOUT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill a page, and lead its links to pages of the site."""
    return linked(filled(markdown), page.file.src_uri, outside())
