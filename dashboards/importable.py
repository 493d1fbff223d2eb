"""Boards as files that a person imports: Grafana asks for the data sources, and nothing is provisioned.

Source: grafana/grafana, public/app/features/manage-dashboards: `__inputs` are asked for, and `${NAME}` is replaced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

LEAST = {"grafana": "11.0.0", "grafana-clickhouse-datasource": "4.0.0", "prometheus": "1.0.0"}
"""The oldest versions that know every key; docs/dashboards.md names those that were tried."""
_INPUTS = {
    "datasource": ("DS_CLICKHOUSE", "ClickHouse", "grafana-clickhouse-datasource"),
    "prometheus": ("DS_PROMETHEUS", "Prometheus", "prometheus"),
}


def importable(board: Mapping[str, Any]) -> Json:
    """Return a provisioned board as one to import, whose data sources are inputs instead of variables.

    It keeps its own uid, since the boards lead to each other by it; the form of the import can change it.
    """
    variables = board["templating"]["list"]
    asked = {one["name"]: _INPUTS[one["name"]] for one in variables if one["type"] == "datasource"}
    text = json.dumps(
        {**board, "editable": True, "templating": {"list": [v for v in variables if v["name"] not in asked]}}
    )
    for name, (key, _, _) in asked.items():
        text = text.replace(f"&${{{name}:queryparam}}", "").replace(f'"${{{name}}}"', f'"${{{key}}}"')
    inputs = [
        {
            "name": key,
            "label": label,
            "description": "",
            "type": "datasource",
            "pluginId": plugin,
            "pluginName": label,
        }
        for key, label, plugin in asked.values()
    ]
    plugins = [("datasource", plugin, label) for _, label, plugin in asked.values()]
    requires = [
        {"type": kind, "id": id_, "name": name, "version": LEAST[id_]}
        for kind, id_, name in (("grafana", "grafana", "Grafana"), *plugins)
    ]
    return {"__inputs": inputs, "__elements": {}, "__requires": requires, **json.loads(text)}
