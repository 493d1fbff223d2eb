"""The chart's examples as Helm renders them: `python -m helm.examples` writes them, a test compares.

What other commands generate is not shown again: dashboards and rules stand in `files/`, fingerprints of jobs as zeros.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from helm.schemas import FOLDER as KINDS
from helm.schemas import KUBERNETES

CHART = Path(__file__).parent / "counterflow"
EXAMPLES = tuple(sorted(path.name for path in (CHART / "examples").iterdir()))
_COPIED = {"grafana/dashboards.yaml", "monitoring/rules.yaml"}
"""Templates whose objects carry a file as it is."""


def program(name: str) -> Path:
    """Return the path of `helm`, `kubeconform` or `helm-unittest`, which `make helm` builds."""
    path = Path(__file__).parents[1] / ".counterflow/tools" / name
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}: make helm")
    return path


def run(name: str, *arguments: str | Path, stdin: str = "") -> str:
    """Run one of them in the chart's folder; returns what it said, on both streams where it failed."""
    command = [program(name), *arguments]
    result = subprocess.run(command, cwd=CHART, input=stdin, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{name} {' '.join(map(str, arguments))}:\n{result.stdout}{result.stderr}")
    return result.stdout


@cache
def template(values: Path, *settings: str) -> str:
    """Return all manifests of a release named `counterflow`, hooks included."""
    chosen = [word for setting in settings for word in ("--set", setting)]
    where = ("--namespace", "counterflow", "--kube-version", KUBERNETES)
    return run("helm", "template", "counterflow", ".", *where, "--values", values, *chosen)


def values_of(example: str) -> Path:
    """Return the values of an example."""
    return CHART / "examples" / example / "values.yaml"


def rendered(example: str) -> dict[str, str]:
    """Return the manifests of an example by the name of their template."""
    found: dict[str, list[str]] = {}
    for text in re.split(r"^---\n", template(values_of(example)), flags=re.MULTILINE):
        source = re.match(r"# Source: counterflow/templates/(.*)\n", text)
        if source and source[1] not in _COPIED:
            plain = re.sub(r"\b([a-z0-9-]+)-[0-9a-f]{8}(?=$|-rest\b|/)", r"\1-00000000", text, flags=re.MULTILINE)
            found.setdefault(source[1], []).append(plain[source.end() :])
    return {name: "---\n".join(texts) for name, texts in found.items()}


def schema_location() -> str:
    """Return where kubeconform finds the schema of a kind."""
    return f"{KINDS}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"


def write() -> None:
    """Render every example anew."""
    for example in EXAMPLES:
        folder = CHART / "examples" / example / "rendered"
        shutil.rmtree(folder, ignore_errors=True)
        for name, text in rendered(example).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)


if __name__ == "__main__":
    write()
