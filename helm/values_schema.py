"""The schema of a chart's values: names and types are those of the defaults, and `STATED` has the rest."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

Json = dict[str, Any]

_TYPES: dict[type, Json] = {
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 1},
    float: {"type": "number"},
    str: {"type": "string"},
    list: {"type": "array", "items": {"type": "object"}},
}
_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
_DIGEST = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_ABOVE_0 = {"type": "number", "exclusiveMinimum": 0}
_NAMED = {"items": {"type": "object", "required": ["name"], "properties": {"value": {"type": "string"}}}}
_PORTS = {"items": {"type": "integer", "minimum": 1, "maximum": 65535}}
_ANY_MAP: Json = {"type": "object"}


def _map(properties: Json, *required: str) -> Json:
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": list(required)}


def _map_by(names: str, value: Json) -> Json:
    return {"type": "object", "additionalProperties": False, "patternProperties": {names: value}}


def _like(*path: str) -> Json:
    """Return the schema of another value."""
    return {"$ref": "#/properties/" + "/properties/".join(path)}


_POD = {
    name: _like(name)
    for name in (
        *("podAnnotations", "podLabels", "priorityClassName", "nodeSelector", "tolerations", "affinity"),
        *("topologySpreadConstraints", "extraEnv", "extraVolumes", "extraVolumeMounts", "podSecurityContext"),
    )
}
"""Values for every pod, which each part may have of its own."""

_PARTS = {
    *("agentDefaults", "lander", "verdicts", "flink", "migration", "audit", "deadletter"),
    *("clickhouse.installation", "clickhouse.installation.keeper"),
}

_SPOOL = _map({"size": _TEXT, "className": {"type": "string"}, "maxMb": _ABOVE_0}, "size", "maxMb")
_AGENT = {
    "kind": {"enum": ["DaemonSet", "Deployment"]},
    "sources": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["name"]}},
    "spool": _SPOOL,
    "hostPaths": {"type": "array", "items": {"type": "string", "pattern": "^/"}},
    "secrets": {"type": "array", "items": _TEXT},
    "resources": _like("agentDefaults", "resources"),
}
_JOB = {"enabled": {"type": "boolean"}, "parallelism": {"type": "integer", "minimum": 1}} | {
    name: _like("flink", name) for name in ("configuration", "jobManager", "taskManager")
}

STATED: dict[str, Json] = {
    "fullnameOverride": {"pattern": "^([a-z]([-a-z0-9]*[a-z0-9])?)?$", "maxLength": 20},
    "image.repository": _TEXT,
    "image.digests": _map_by("^(agent|lander|verdicts|tools|flink|line)$", _DIGEST),
    "image.digest": {"pattern": "^(sha256:[0-9a-f]{64})?$"},
    "image.pullPolicy": {"enum": ["Always", "IfNotPresent", "Never"]},
    "imagePullSecrets": {"items": {"type": "object", "required": ["name"]}},
    "trust": {"minItems": 1, "items": _like("kafka", "users", "agent")},
    "kafka.bootstrap": {"pattern": r"^[^,\s:]+:[0-9]+(,[^,\s:]+:[0-9]+)*$"},
    "kafka.strimzi.cluster": _TEXT,
    "kafka.topics.config": _TEXTS,
    "clickhouse.url": {"pattern": r"^(https://[^/\s?#@]+)?$"},
    "clickhouse.installation.image": _TEXT,
    "clickhouse.installation.keeper.image": _TEXT,
    "clickhouse.installation.keeper.replicas": {"enum": [1, 3, 5]},
    "agents": _map_by("^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$", _map(_POD | _AGENT, "kind", "sources")),
    "lander.replicas": {"minimum": 0},
    "flink.mode": {"enum": ["application", "session"]},
    "flink.session.heapMb": {"minimum": 500},
    "flink.storage": {"pattern": "^([a-z0-9]+:/.*)?$"},
    "flink.configuration": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
    "flink.*Manager.cpu": _ABOVE_0,
    "flink.*Manager.memory": {"pattern": "^[0-9]+[mg]$"},
    "flink.scratch": _TEXT,
    "flink.jobs": {"type": "object", "additionalProperties": _map(_JOB)},
    "grafana.datasource.password": {"pattern": r"^\$"},  # what Grafana expands, never the password
    "grafana.datasource.ca": {"pattern": r"^(\$.*)?$"},
    "grafana.datasource.prometheusUrl": {"pattern": "^(https?://.*)?$"},
    "monitoring.grafanaUrl": {"pattern": "^https?://"},
    "monitoring.runbooks": {"pattern": "^https?://"},
    "networkPolicy.kafka.ports": _PORTS,
    "networkPolicy.clickhouse.ports": _PORTS,
    "networkPolicy.*.ports": {**_PORTS, "minItems": 1},
    "*storage.size": _TEXT,
    "*.requests": _ANY_MAP,
    "*.limits": _ANY_MAP,
    "affinity": _ANY_MAP,
    "*.labels": _TEXTS,
    "podSecurityContext": _ANY_MAP,
    "securityContext": _ANY_MAP,
    "extra*": _NAMED,
}
"""By path: what replaces the names of a map, and adds to the type of any other value; the first that fits."""


def schema(values: Json) -> Json:
    """Return the schema of values with these defaults."""
    whole = _of(values, "")
    whole["properties"]["global"] = _ANY_MAP
    required = [name for name in ("kafka", "clickhouse") if name in values]
    return {"$schema": "https://json-schema.org/draft-07/schema#", **whole, "required": required}


def _of(value: Any, path: str) -> Json:
    stated = next((stated for pattern, stated in STATED.items() if fnmatchcase(path, pattern)), {})
    if not isinstance(value, dict):
        return {**_TYPES[type(value)], **stated}
    if stated or not value:
        return stated or _TEXTS
    if "secret" in value:
        return _map(dict.fromkeys(value, _TEXT), *value)
    own = {name: _of(of, f"{path}.{name}".removeprefix(".")) for name, of in value.items()}
    secrets = [name for name, of in value.items() if isinstance(of, dict) and "secret" in of]
    return _map(own | _POD if path in _PARTS else own, *secrets)
