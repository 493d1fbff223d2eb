"""Boards as files for import by hand: Grafana prompts for the data sources, and nothing is provisioned.

Source: grafana/grafana, public/app/features/manage-dashboards: it prompts for `__inputs`, and replaces `${NAME}`.
"""

from __future__ import annotations

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
    panels = [_alone(panel) for panel in board["panels"]]
    sources = {one["name"]: _INPUTS[one["name"]] for one in variables if one["type"] == "datasource"}
    left = {"list": [v for v in variables if v["name"] not in sources]}
    names = {f"${{{name}}}": f"${{{key}}}" for name, (key, _, _) in sources.items()}
    made = _renamed({**board, "editable": True, "templating": left, "panels": panels}, names)
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
    return {"__inputs": inputs, "__elements": {}, "__requires": requires, **_without(made, "uid")}


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Return JSON in which every text that is one of `names` has the new name."""
    if isinstance(value, dict):
        return {key: _renamed(one, names) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(one, names) for one in value]
    return names.get(value, value) if isinstance(value, str) else value


def _alone(panel: Mapping[str, Any]) -> Json:
    """Return a panel, or a row with its panels, without links to other boards."""
    field = panel.get("fieldConfig")
    if field is None:
        return {**panel, **({"panels": [_alone(one) for one in panel["panels"]]} if panel.get("panels") else {})}
    overrides = [
        {**override, "properties": [one for one in override["properties"] if one["id"] != "links"]}
        for override in field["overrides"]
    ]
    return {**panel, "fieldConfig": {"defaults": _without(field["defaults"], "links"), "overrides": overrides}}


def _without(found: Mapping[str, Any], key: str) -> Json:
    return {name: value for name, value in found.items() if name != key}
