"""Renders the chart's examples with Helm, and finds the programs that check them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from helm.schemas import FOLDER as KINDS
from helm.schemas import KUBERNETES

CHART = Path(__file__).parent / "counterflow"
TRIAL = Path(__file__).parent / "trial"
TOOLS = Path(__file__).parents[1] / ".counterflow/tools"
EXAMPLES = tuple(sorted(path.name for path in (CHART / "examples").iterdir()))


def program(name: str) -> Path:
    """Return the path of `helm`, `kubeconform` or `helm-unittest`, which `make helm` builds."""
    path = TOOLS / name
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: make helm")
    return path


def run(
    name: str,
    *arguments: str | Path,
    stdin: str = "",
    chart: Path = CHART,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run one of the programs in the chart's folder; raises `RuntimeError` with both output streams if it fails.

    `environment` is added to that of this process.
    """
    command, env = [program(name), *arguments], {**os.environ, **(environment or {})}
    result = subprocess.run(command, cwd=chart, env=env, input=stdin, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{name} {' '.join(map(str, arguments))}:\n{result.stdout}{result.stderr}")
    return result.stdout


@cache
def template(values: Path, *settings: str) -> str:
    """Return all manifests of a release named `counterflow`, hooks included."""
    return run("helm", "template", *_release(values, settings), "--kube-version", KUBERNETES)


def install(server: Mapping[str, str], values: Path, *settings: str) -> str:
    """Return what Helm reports of the same release, installed in a dry run; raises `RuntimeError` if it refuses.

    `server` is the environment that gives Helm access to one.
    """
    return run("helm", "install", *_release(values, settings), "--dry-run=server", environment=server)


def _release(values: Path, settings: Sequence[str]) -> list[str | Path]:
    chosen = [word for setting in settings for word in ("--set", setting)]
    return ["counterflow", ".", "--namespace", "counterflow", "--values", values, *chosen]


def values_of(example: str) -> Path:
    """Return the values of an example."""
    return CHART / "examples" / example / "values.yaml"


def schema_location() -> str:
    """Return the template of the path where kubeconform finds the schema of a kind."""
    return f"{KINDS}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
