"""What the site lists of the jobs, from the front matter of `pipelines/jobs/<job>/README.md`."""

from __future__ import annotations

from functools import cache

from docs.generators.elsewhere import PageElsewhere, read
from docs.generators.markdown import table


class JobPage(PageElsewhere):
    """Front matter of the page of a job.

    Parameters
    ----------
    question : that the job answers.
    """

    question: str


@cache
def pages() -> list[JobPage]:
    """Return the pages by the name of the job."""
    return read(JobPage, "pipelines/jobs/*/README.md")


def questions() -> str:
    """Return the question of each job, in Markdown."""
    return table(("page", "question"), ((page.link("docs/kpis"), page.question) for page in pages()))
