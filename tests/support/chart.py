"""Renders the chart's examples with Helm, and checks them."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import kubernetes_validate
import orjson
import yaml

KUBERNETES = "1.34.0"
"""The oldest release still maintained: newer ones accept what it accepts."""
_REPOSITORY = Path(__file__).parents[2]
_OPERATORS = _REPOSITORY / "tests/helm/kinds"
CHART = _REPOSITORY / "helm/counterflow"
TRIAL = _REPOSITORY / "helm/trial"
TOOLS = _REPOSITORY / ".counterflow/tools"
EXAMPLES = tuple(sorted(path.name for path in (CHART / "examples").iterdir()))


def program(name: str) -> Path:
    """Return the path of `helm` or `helm-unittest`, which `make helm` builds."""
    path = TOOLS / name
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: make helm")
    return path


def run(name: str, *arguments: str | Path, chart: Path = CHART) -> str:
    """Run one of the programs in the chart's folder; raises `RuntimeError` with both output streams if it fails."""
    command = [program(name), *arguments]
    result = subprocess.run(command, cwd=chart, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{name} {' '.join(map(str, arguments))}:\n{result.stdout}{result.stderr}")
    return result.stdout


@cache
def template(values: Path, *settings: str) -> str:
    """Return all manifests of a release named `counterflow`, hooks included."""
    chosen = [word for setting in settings for word in ("--set", setting)]
    release: list[str | Path] = ["counterflow", ".", "--namespace", "counterflow", "--values", values, *chosen]
    return run("helm", "template", *release, "--kube-version", KUBERNETES)


def values_of(example: str) -> Path:
    return CHART / "examples" / example / "values.yaml"


def objects(manifests: str) -> list[dict[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [one for one in yaml.load_all(manifests, loader) if one]


def validate(one: dict[str, Any]) -> None:
    """Raise where an object is not valid by the schema of its kind, or has an unknown field."""
    group, _, version = one["apiVersion"].rpartition("/")
    schema = _OPERATORS / f"{one['kind']}-{group.partition('.')[0]}-{version}.json".lower()
    if schema.exists():
        jsonschema_rs.validate(orjson.loads(schema.read_bytes()), one)
    else:
        kubernetes_validate.validate(one, KUBERNETES, strict=True)
