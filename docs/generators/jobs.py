"""What the site lists of the jobs, `pipelines/jobs/<job>/README.md`, and of the views, `docs/kpis/<view>.md`."""

from __future__ import annotations

from docs.generators import table
from docs.generators.elsewhere import PageElsewhere, read


def pages() -> list[PageElsewhere]:
    """Return the pages of jobs by the name of the job."""
    return read(PageElsewhere, "pipelines/jobs/*/README.md")


def questions() -> str:
    """Return the question of each job and view, in Markdown."""
    figures = [*pages(), *read(PageElsewhere, "docs/kpis/[!i]*.md")]
    return table(("page", "question"), ((page.link("docs/kpis"), page.question) for page in figures))
