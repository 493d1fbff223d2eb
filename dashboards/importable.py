"""Boards as files for import by hand: Grafana prompts for the data sources, and nothing is provisioned.

Source: grafana/grafana, public/app/features/manage-dashboards: it prompts for `__inputs`, and replaces `${NAME}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

LEAST = {"grafana": "11.0.0", "grafana-clickhouse-datasource": "4.0.0", "prometheus": "1.0.0"}
"""The oldest versions that know every key; docs/dashboards.md lists the versions that were tried."""
_INPUTS = {
    "datasource": ("DS_CLICKHOUSE", "ClickHouse", "grafana-clickhouse-datasource"),
    "prometheus": ("DS_PROMETHEUS", "Prometheus", "prometheus"),
}


def importable(board: Mapping[str, Any]) -> Json:
    """Return a provisioned board as one to import: its data sources are inputs instead of variables.

    It has no uid, since Grafana assigns one to each import; so its panels have no links to other boards. The menus on
    top find the boards by their tags.
    """
    variables = board["templating"]["list"]
    sources = {one["name"]: _INPUTS[one["name"]] for one in variables if one["type"] == "datasource"}
    left = {"list": [v for v in variables if v["name"] not in sources]}
    panels = json.loads(json.dumps(board["panels"]), object_hook=_alone)
    text = json.dumps({**board, "editable": True, "templating": left, "panels": panels})
    for name, (key, _, _) in sources.items():
        text = text.replace(f'"${{{name}}}"', f'"${{{key}}}"')
    made = {key: value for key, value in json.loads(text).items() if key != "uid"}
    inputs = [
        {
            "name": key,
            "label": label,
            "description": "",
            "type": "datasource",
            "pluginId": plugin,
            "pluginName": label,
        }
        for key, label, plugin in sources.values()
    ]
    plugins = [("datasource", plugin, label) for _, label, plugin in sources.values()]
    requires = [
        {"type": kind, "id": id_, "name": name, "version": LEAST[id_]}
        for kind, id_, name in (("grafana", "grafana", "Grafana"), *plugins)
    ]
    return {"__inputs": inputs, "__elements": {}, "__requires": requires, **made}


def _alone(found: Json) -> Json:
    """Return an object of a panel without links to other boards, and without properties that are such links."""
    alone = {key: value for key, value in found.items() if key != "links"}
    if "properties" in alone:
        alone["properties"] = [one for one in alone["properties"] if one["id"] != "links"]
    return alone
