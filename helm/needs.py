"""Requests and limits of a release, computed from the rendered chart: the table of the chart's README.

For a FlinkDeployment the operator requests as much as its limit; the number of TaskManagers follows from parallelism
and slots. A DaemonSet counts once, as on one node. Pods that end (the migration, the audit) are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from helm.examples import CHART, EXAMPLES, template, values_of

README = CHART / "README.md"
_BEGIN, _END = "<!-- needs: made by `make chart` -->\n", "<!-- end of needs -->\n"
_UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "m": 2**20, "g": 2**30}
"""Of memory: Kubernetes' suffixes, and Flink's."""
_APPLICATION = ("flink.mode=application", "flink.storage=s3://bucket/flink")


@dataclass(frozen=True)
class Need:
    """Processors and bytes that a part's pods request, and the most bytes that they may take."""

    cpu: float = 0.0
    memory: float = 0.0
    most: float = 0.0

    def __add__(self, other: Need) -> Need:
        """Return the sum of both."""
        return Need(self.cpu + other.cpu, self.memory + other.memory, self.most + other.most)

    def __mul__(self, times: int) -> Need:
        """Return the need of so many."""
        return Need(self.cpu * times, self.memory * times, self.most * times)

    def __str__(self) -> str:
        """Return the need as a cell of the table."""
        return f"{self.cpu:.2f}, {self.memory / 2**30:.1f} GiB ({self.most / 2**30:.1f})"


def needs(manifests: str) -> dict[str, Need]:
    """Return what each part of a release needs, by its `app.kubernetes.io/component`."""
    found: dict[str, Need] = {}
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    objects = [one for one in yaml.load_all(manifests, loader) if one]
    least = {
        one["metadata"]["name"]: one["spec"]["minReplicas"]
        for one in objects
        if "minReplicas" in (one.get("spec") or {})
    }
    for one in objects:
        for need in _of(one, least.get(one["metadata"]["name"])):
            part = one["metadata"]["labels"]["app.kubernetes.io/component"]
            if need != Need():  # a part that runs only when somebody scales it
                found[part] = found.get(part, Need()) + need
    return found


def _of(one: Mapping[str, Any], least: int | None) -> Iterator[Need]:
    spec = one.get("spec", {})
    match one["kind"]:
        case "Deployment" | "StatefulSet":
            yield _pod(spec["template"]["spec"]) * spec.get("replicas", least or 1)
        case "DaemonSet":
            yield _pod(spec["template"]["spec"])
        case "ClickHouseInstallation" | "ClickHouseKeeperInstallation":
            layout = spec["configuration"]["clusters"][0]["layout"]
            servers = layout.get("shardsCount", 1) * layout["replicasCount"]
            yield _pod(spec["templates"]["podTemplates"][0]["spec"]) * servers
        case "FlinkDeployment":
            slots = int(spec["flinkConfiguration"]["taskmanager.numberOfTaskSlots"])
            managers = math.ceil(spec["job"]["parallelism"] / slots)
            for part, times in ((spec["jobManager"], 1), (spec["taskManager"], managers)):
                memory = _bytes(part["resource"]["memory"])
                yield Need(float(part["resource"]["cpu"]), memory, memory) * times


def _pod(spec: Mapping[str, Any]) -> Need:
    total = Need()
    for container in spec["containers"]:
        requests, limits = (container["resources"].get(name, {}) for name in ("requests", "limits"))
        total += Need(_processors(requests["cpu"]), _bytes(requests["memory"]), _bytes(limits["memory"]))
    return total


def _processors(text: str | float) -> float:
    return float(text[:-1]) / 1000 if isinstance(text, str) and text.endswith("m") else float(text)


def _bytes(text: str) -> float:
    unit = next(unit for unit in sorted(_UNITS, key=len, reverse=True) if text.endswith(unit))
    return float(text.removesuffix(unit)) * _UNITS[unit]


def table() -> str:
    """Return the table: a column per example, `small` in both modes of Flink, and a row per part."""
    columns = {f"`{example}`": needs(template(values_of(example))) for example in reversed(EXAMPLES)}
    columns["`small`, `flink.mode: application`"] = needs(template(values_of("small"), *_APPLICATION))
    parts = sorted({part for column in columns.values() for part in column})
    rows = [["part", *columns], ["---"] * (len(columns) + 1)]
    rows += [
        [_NAMES.get(part, part), *(str(column[part]) if part in column else "-" for column in columns.values())]
        for part in parts
    ]
    rows.append(["**together**", *(f"**{sum(column.values(), Need())}**" for column in columns.values())])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


_NAMES = {"agent": "agents (a DaemonSet once)", "job": "Flink", "keeper": "Keeper", "clickhouse": "ClickHouse"}


def page(text: str) -> str:
    """Return the README with the current table."""
    before, _, rest = text.partition(_BEGIN)
    return before + _BEGIN + table() + _END + rest.partition(_END)[2]
