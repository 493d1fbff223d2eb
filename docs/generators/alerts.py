"""What the site lists of the alerts, from `dashboards/alerts/`."""

from __future__ import annotations

import re
from typing import Any

from counterflow.dashboards.alerting import Alert, alerts

_SEVERITIES = ("critical", "warning", "info", "none")
_OPTIONAL = re.compile(r"\{\{ with .*?\{\{ end \}\}")
_LABEL = re.compile(r"\{\{ \$labels\.(\w+) \}\}")


def navigation() -> list[Any]:
    """Return the navigation of the runbooks, as in mkdocs.yml."""
    return [{alert.name.replace("_", " ").capitalize(): f"runbooks/{alert.slug}.md"} for alert in _ordered()]


def table() -> str:
    """Return each alert with what it reports and what evaluates it, in Markdown; labels are in italics."""
    rows = (
        f"| [{alert.title}](runbooks/{alert.slug}.md) | {alert.severity} | {_summary(alert)} | {_by(alert)} |\n"
        for alert in _ordered()
    )
    return "| alert | severity | reports | evaluated by |\n|---|---|---|---|\n" + "".join(rows)


def _ordered() -> list[Alert]:
    return sorted(alerts().values(), key=lambda alert: (_SEVERITIES.index(alert.severity), alert.group, alert.name))


def _summary(alert: Alert) -> str:
    return _LABEL.sub(r"*\1*", _OPTIONAL.sub("", alert.summary))


def _by(alert: Alert) -> str:
    return ", ".join(name for name, rule in (("Prometheus", alert.expr), ("Grafana", alert.grafana)) if rule)
