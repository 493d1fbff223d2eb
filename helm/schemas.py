"""Generates JSON Schemas of every kind of object in the chart, for kubeconform: `python -m helm.schemas`.

Those of Kubernetes come from the PyPI package kubernetes-validate; those of the operators from the crates kcr_*, Rust
types that kopium generates weekly from the operators' CustomResourceDefinitions. Descriptions are left out, and unknown
fields are refused. The files are committed, since few machines have cargo; new versions of the packages change them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

Json = dict[str, Any]

FOLDER = Path(__file__).parents[1] / "tests/helm/kinds"
KUBERNETES = "1.34.0"
"""The oldest release still maintained: newer ones accept what it accepts."""
_PACKAGE = "kubernetes-validate==1.37.0"
_KINDS = (
    "configmap-v1",
    "cronjob-batch-v1",
    "daemonset-apps-v1",
    "deployment-apps-v1",
    "horizontalpodautoscaler-autoscaling-v2",
    "job-batch-v1",
    "networkpolicy-networking-v1",
    "persistentvolumeclaim-v1",
    "pod-v1",
    "poddisruptionbudget-policy-v1",
    "role-rbac-v1",
    "rolebinding-rbac-v1",
    "service-v1",
    "serviceaccount-v1",
    "statefulset-apps-v1",
)


class _Crate(NamedTuple):
    name: str
    version: str
    files: tuple[str, ...]


_CRATES = (
    _Crate("kcr_flink_apache_org", "3.20260603.110356", ("v1beta1/flinkdeployments",)),
    _Crate("kcr_kafka_strimzi_io", "3.20260604.80828", ("v1/kafkatopics", "v1/kafkausers")),
    _Crate("kcr_clickhouse_altinity_com", "3.20260611.182040", ("v1/clickhouseinstallations",)),
    _Crate("kcr_clickhouse_keeper_altinity_com", "3.20260607.221302", ("v1/clickhousekeeperinstallations",)),
    _Crate(
        "kcr_monitoring_coreos_com",
        "3.20260613.160609",
        ("v1/podmonitors", "v1/prometheusrules", "v1alpha1/alertmanagerconfigs"),
    ),
)
_LATER = {("FlinkDeployment", "flinkVersion"): ["v2_3"]}
"""Values newer than the operator's crate: Flink Kubernetes Operator, FlinkVersion.java, July 2026."""

_TYPE = re.compile(r"^pub (?:struct|enum) (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"(?:#\[serde\(([^\n]*)\)\]\n\s*)?(?:pub (?:r#)?(\w+): ([^\n]+),|(\w+),)$", re.MULTILINE)
_ROOT = re.compile(r'#\[kube\(group = "([^"]+)", version = "([^"]+)", kind = "([^"]+)", plural = "([^"]+)"\)\]')
_SCALARS: dict[str, Json] = {
    "String": {"type": "string"},
    "bool": {"type": "boolean"},
    "i64": {"type": "integer"},
    "i32": {"type": "integer"},
    "f64": {"type": "number"},
    "IntOrString": {"type": ["integer", "string"]},
    "serde_json::Value": {},
    "Condition": {"type": "object"},
}


def of_crate(source: str) -> tuple[str, Json]:
    """Return the schema of the kind that a kopium module describes, after the name under which kubeconform looks it up.

    Raises
    ------
    ValueError : the module contains an unsupported construct.
    """
    found = _ROOT.search(source)
    if found is None:
        raise ValueError("no kind")
    group, version, kind, plural = found.groups()
    code = "\n".join(line for line in source.splitlines() if not line.lstrip().startswith("//"))
    types = {name: list(_members(body)) for name, body in _TYPE.findall(code)}
    enums = {name for name in types if f"pub enum {name} " in code}

    def schema(of: str, field: str) -> Json:
        if wrapped := re.fullmatch(r"(Option|Box|Vec|BTreeMap)<(?:String, )?(.*)>", of):
            inner = schema(wrapped[2], field)
            return {
                "Option": inner,
                "Box": inner,
                "Vec": {"type": "array", "items": inner},
                "BTreeMap": {"type": "object", "additionalProperties": inner},
            }[wrapped[1]]
        if of in _SCALARS:
            return _SCALARS[of]
        if of in enums:
            return {"type": "string", "enum": [name for name, _ in types[of]] + _LATER.get((kind, field), [])}
        if of not in types:
            raise ValueError(f"{kind}: {of}")
        return struct(types[of])

    def struct(members: list[tuple[str, str]]) -> Json:
        required = [field for field, of in members if not of.startswith("Option<")]
        return {
            "type": "object",
            "properties": {field: schema(of, field) for field, of in members},
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }

    whole = {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string", "enum": [f"{group}/{version}"]},
            "kind": {"type": "string", "enum": [kind]},
            "metadata": {"type": "object"},
            "spec": struct(types[f"{kind}Spec"]),
        },
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "additionalProperties": False,
        "x-kubernetes-group-version-kind": [{"group": group, "version": version, "kind": kind, "plural": plural}],
    }
    return f"{kind.lower()}-{group.partition('.')[0]}-{version}", whole


def _members(body: str) -> Iterator[tuple[str, str]]:
    """Yield each field of a struct with its type, or each value of an enum without a type."""
    for serde, field, of, value in _FIELD.findall(body):
        renamed = re.search(r'rename = "([^"]*)"', serde)
        yield (renamed.group(1) if renamed else field or value), of


def of_kubernetes(folder: Path, kind: str) -> Json:
    """Return the schema of a Kubernetes kind with all references resolved."""
    definitions = json.loads((folder / "_definitions.json").read_text())["$defs"]
    used: dict[str, Json] = {}

    def whole(node: Any) -> Any:
        if isinstance(node, list):
            return [whole(one) for one in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            if name not in used:
                used[name] = {}
                used[name] = whole(definitions[name])
            return {"$ref": f"#/$defs/{name}"}
        # a property may be named `description`: then it is a schema, not a text
        return {name: whole(of) for name, of in node.items() if not (name == "description" and isinstance(of, str))}

    found = whole(json.loads((folder / f"{kind}.json").read_text()))
    return {**found, "$defs": used}


def _download(into: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file."""
    cargo = _program("cargo", "sudo apt-get install cargo")
    uv = _program(
        os.environ.get("UV", "uv"), "make setup, then UV=.counterflow/uv/bin/uv .venv/bin/python -m helm.schemas"
    )
    install = (uv, "pip", "install", "--quiet", "--no-deps", "--target", "python", _PACKAGE)
    subprocess.run(install, cwd=into, check=True)
    kubernetes = into / f"python/kubernetes_validate/kubernetes-json-schema/v{KUBERNETES}-local-strict"
    for kind in _KINDS:
        yield f"{kind}.json", _text(of_kubernetes(kubernetes, kind))
    needed = "".join(f'{crate.name} = "={crate.version}"\n' for crate in _CRATES)
    (into / "src").mkdir()
    (into / "src/lib.rs").touch()
    (into / "Cargo.toml").write_text(f'[package]\nname = "x"\nversion = "0.0.0"\n[dependencies]\n{needed}')
    subprocess.run([cargo, "vendor", "--quiet"], cwd=into, check=True, stdout=subprocess.DEVNULL)
    for crate in _CRATES:
        for name in crate.files:
            kind, schema = of_crate((into / "vendor" / crate.name / "src" / f"{name}.rs").read_text())
            yield f"{kind}.json", _text(schema)


def _text(schema: Json) -> str:
    return json.dumps(schema, separators=(",", ":"), sort_keys=True) + "\n"


def _program(name: str, hint: str) -> str:
    """Return the path of a program; exits with status 2 if it is not installed."""
    path = shutil.which(name)
    if path is None:
        print(f"error: {name}, which downloads the schemas, is not installed\nhint: {hint}", file=sys.stderr)
        sys.exit(2)
    return str(Path(path).absolute())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        made = dict(_download(Path(temporary)))  # all of them before replacing any
    for path, text in made.items():
        (FOLDER / path).write_text(text)
