"""What the site lists of the alerts: `dashboards/alerts/<alert>/alert.yaml`, and the front matter of its runbook."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

from counterflow.dashboards.alerting import Alert, Severity, alerts
from docs.generators import markdown
from docs.generators.elsewhere import PageElsewhere, read


class Runbook(PageElsewhere):
    """Front matter of the runbook of an alert.

    Parameters
    ----------
    fires : the condition, in words.
    """

    fires: str

    @property
    def on_site(self) -> str:
        """Path of the page on the site."""
        return f"runbooks/{self.folder}.md"


@cache
def pages() -> list[Runbook]:
    """Return the runbooks, those of the most severe alerts first."""
    found = read(Runbook, "dashboards/alerts/*/README.md")
    return sorted(found, key=lambda page: get_args(Severity).index(alerts()[page.folder].severity))


def navigation() -> list[Any]:
    """Return the navigation of the pages, as in mkdocs.yml."""
    return [{page.title: page.on_site} for page in pages()]


def table() -> str:
    """Return severity and condition of each alert, in Markdown."""
    shown = ((page, alerts()[page.folder]) for page in pages())
    rows = ((f"[{of.title}]({page.on_site})", of.severity, page.fires, _in_sql(of)) for page, of in shown)
    return markdown.table(("alert", "severity", "fires", "in SQL"), rows)


def _in_sql(alert: Alert) -> str:
    return "" if alert.grafana is None else "yes" if alert.expr else "alone"
