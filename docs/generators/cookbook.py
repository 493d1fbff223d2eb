"""The part `questions` of the cookbook: every stored question with its statement."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter

from counterflow.analysis.queries import StoredQuery


def cookbook(stored: Iterable[StoredQuery]) -> str:
    """Return the questions by section, in Markdown, below a list of links to them."""
    ordered = sorted(stored, key=attrgetter("section", "name"))
    sections = [(section, list(found)) for section, found in groupby(ordered, attrgetter("section"))]
    contents = "\n".join(
        line for section, found in sections for line in (f"\n**{section}**\n", *(_entry(query) for query in found))
    )
    pages = [f"## {section}\n\n" + "\n".join(_page(query) for query in found) for section, found in sections]
    return "\n".join([contents.lstrip(), "", *pages]).rstrip() + "\n"


def _entry(query: StoredQuery) -> str:
    return f"- [{query.name}](#{query.name}): {query.question}"


def _page(query: StoredQuery) -> str:
    return f"### {query.name}\n\n{query.question}\n\n```sql\n{query.sql}\n```\n"
