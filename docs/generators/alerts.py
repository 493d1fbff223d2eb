"""What the site lists of the alerts, and of the metrics that they can use.

Alerts are `dashboards/alerts/<alert>/alert.yaml` with the front matter of its runbook; metrics are `watched:` of
datasets.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

from counterflow.dashboards.alerting import Alert, Severity, alerts
from counterflow.schemas.definition import Dataset, Watched, datasets
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


def metrics() -> str:
    """Return the metrics of the datasets that the exporter watches, in Markdown."""
    rows = (
        (f"`counterflow_{name}`", ", ".join(dataset.watched.labels), figure.text, _rows(dataset))
        for dataset in datasets().values()
        if dataset.watched
        for name, figure in dataset.watched.figures.items()
    )
    return markdown.table(("metric", "labels", "meaning", "newest row of"), rows)


def _rows(dataset: Dataset) -> str:
    conditions = (f"{name} {' or '.join(values)}" for name, values in (dataset.watched or Watched()).where.items())
    return ", ".join([f"`{dataset.dataset}`", *conditions])


def _in_sql(alert: Alert) -> str:
    return "" if alert.grafana is None else "yes" if alert.expr else "alone"
