"""What the site lists of the alerts, `dashboards/alerts/<alert>/alert.yaml`, and of the metrics that they can use.

Metrics are `watched:` of datasets.
"""

from __future__ import annotations

import re
from typing import get_args

from counterflow.dashboards.alerting import Alert, Severity, alerts
from counterflow.schemas.definition import Dataset, Watched, datasets
from docs.generators import table
from docs.generators.elsewhere import PageElsewhere, read


def pages() -> list[PageElsewhere]:
    """Return the runbooks, those of the most severe alerts first."""
    found = read(PageElsewhere, "dashboards/alerts/*/README.md")
    return sorted(found, key=lambda page: get_args(Severity).index(alerts()[page.folder].severity))


def listed() -> str:
    """Return severity and text of each alert, in Markdown, with the names of labels in italics."""
    shown = ((page, alerts()[page.folder]) for page in pages())
    rows = ((f"[{page.title}]({page.on_site})", of.severity, _text(of), _in_sql(of)) for page, of in shown)
    return table(("alert", "severity", "text", "in SQL"), rows)


def _text(alert: Alert) -> str:
    text = re.sub(r"{{ with .*?{{ end }}", "", alert.summary)
    return re.sub(r"{{ \$labels\.(\w+) }}", r"*\1*", text).replace("{{ $values.A }}", "…")


def metrics() -> str:
    """Return the metrics of the datasets that the exporter watches, in Markdown."""
    rows = (
        (f"`counterflow_{name}`", ", ".join(dataset.watched.labels), figure.text, _rows(dataset))
        for dataset in datasets().values()
        if dataset.watched
        for name, figure in dataset.watched.figures.items()
    )
    return table(("metric", "labels", "meaning", "newest row of"), rows)


def _rows(dataset: Dataset) -> str:
    conditions = (f"{name} {' or '.join(values)}" for name, values in (dataset.watched or Watched()).where.items())
    return ", ".join([f"`{dataset.dataset}`", *conditions])


def _in_sql(alert: Alert) -> str:
    return "" if alert.grafana is None else "yes" if alert.expr else "alone"
