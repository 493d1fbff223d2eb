"""Runs a kube-apiserver with its etcd, and nothing else, for dry runs: no kubelet, no controller, no operator.

`make helm ARGS=--server` builds both from their Go modules. They listen on loopback, and stop when the context ends.
"""

from __future__ import annotations

import json
import secrets
import socket
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import tenacity

from helm.examples import program
from helm.schemas import FOLDER, Json

HOST = "127.0.0.1"


class Server:
    """An API server, accessed as its administrator.

    `for_helm` is the environment that gives Helm the same access.
    """

    def __init__(self, http: httpx.Client, for_helm: Mapping[str, str]) -> None:
        """Use a client that trusts the server and authenticates itself."""
        self.http = http
        self.for_helm = for_helm
        self._plurals: dict[tuple[str, str], str] = {}

    def post(self, path: str, body: Json, **parameters: str) -> Json:
        """Post an object; raises `RuntimeError` with the server's message if it refuses or warns."""
        answer = self.http.post(path, json=body, params=parameters)
        warnings = answer.headers.get_list("warning")
        if answer.is_error or warnings:
            name = f"{body['kind']} {body['metadata']['name']}"
            raise RuntimeError(f"{name}: {answer.json().get('message')} {warnings}")
        found: Json = answer.json()
        return found

    def dry_run(self, namespace: str, body: Json) -> Json:
        """Admit, default and validate an object without storing it; unknown fields are refused."""
        group = body["apiVersion"]
        base = f"/api/{group}" if "/" not in group else f"/apis/{group}"
        path = f"{base}/namespaces/{namespace}/{self._plural(base, body['kind'])}"
        return self.post(path, body, dryRun="All", fieldValidation="Strict")

    def _plural(self, base: str, kind: str) -> str:
        if (base, kind) not in self._plurals:
            resources = self.http.get(base).raise_for_status().json()["resources"]
            self._plurals |= {(base, one["kind"]): one["name"] for one in resources if "/" not in one["name"]}
        return self._plurals[base, kind]


def definitions() -> Iterator[Json]:
    """Yield the CustomResourceDefinition of each kind with a committed schema (helm/schemas.py)."""
    for path in sorted(FOLDER.glob("*.json")):
        schema = json.loads(path.read_text())
        of = schema.get("x-kubernetes-group-version-kind", [{}])[0]
        if "plural" in of:
            yield {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": f"{of['plural']}.{of['group']}", "annotations": _APPROVED},
                "spec": {
                    "group": of["group"],
                    "names": {"kind": of["kind"], "plural": of["plural"], "singular": of["kind"].lower()},
                    "scope": "Namespaced",
                    "versions": [
                        {
                            "name": of["version"],
                            "served": True,
                            "storage": True,
                            "schema": {"openAPIV3Schema": {"type": "object", "properties": _spec(schema)}},
                        }
                    ],
                },
            }


# the certificate is missing or incomplete, then the server does not answer or is not ready
_PATIENTLY = tenacity.Retrying(
    retry=tenacity.retry_if_exception_type((OSError, httpx.HTTPError)),
    stop=tenacity.stop_after_delay(90),
    wait=tenacity.wait_fixed(0.3),
    reraise=True,
)
_APPROVED = {"api-approved.kubernetes.io": "unapproved, experimental-only"}


def _spec(schema: Json) -> Json:
    return {"spec": _structural(schema["properties"]["spec"])}


def _structural(node: Any) -> Any:
    """Return a schema limited to the keywords that a CustomResourceDefinition may use."""
    if not isinstance(node, dict):
        return node
    if not node or node == {"type": "object"}:
        return {"x-kubernetes-preserve-unknown-fields": True, **node}
    if node.get("type") == ["integer", "string"]:
        return {"x-kubernetes-int-or-string": True}
    found = {name: value for name, value in node.items() if name in ("type", "enum", "required")}
    if "properties" in node:
        found["properties"] = {name: _structural(of) for name, of in node["properties"].items()}
    elif isinstance(node.get("additionalProperties"), dict):
        found["additionalProperties"] = _structural(node["additionalProperties"])
    if "items" in node:
        found["items"] = _structural(node["items"])
    return found


@contextmanager
def running(folder: Path) -> Iterator[Server]:
    """Run both, with their data below `folder`, and yield the server once it answers."""
    clients, peers, port = _free_ports(3)
    token = secrets.token_urlsafe()
    (folder / "tokens.csv").write_text(f"{token},admin,admin,system:masters\n")
    key = folder / "service-account.key"
    make_key = ("openssl", "genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key)
    subprocess.run(make_key, check=True)
    etcd = (
        program("etcd"),
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls=http://{HOST}:{clients}",
        f"--advertise-client-urls=http://{HOST}:{clients}",
        f"--listen-peer-urls=http://{HOST}:{peers}",
        f"--initial-advertise-peer-urls=http://{HOST}:{peers}",
        f"--initial-cluster=default=http://{HOST}:{peers}",
        "--unsafe-no-fsync",
        "--log-level=error",
    )
    apiserver = (
        program("kube-apiserver"),
        f"--etcd-servers=http://{HOST}:{clients}",
        f"--bind-address={HOST}",
        f"--advertise-address={HOST}",
        f"--secure-port={port}",
        f"--cert-dir={folder / 'certificates'}",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--disable-admission-plugins=ServiceAccount",
    )
    with _process(folder / "etcd.log", etcd), _process(folder / "apiserver.log", apiserver):
        url, bearer = f"https://{HOST}:{port}", {"Authorization": f"Bearer {token}"}
        certificate = folder / "certificates/apiserver.crt"
        for_helm = {"HELM_KUBEAPISERVER": url, "HELM_KUBETOKEN": token, "HELM_KUBECAFILE": str(certificate)}
        trust = _PATIENTLY(ssl.create_default_context, cafile=certificate)
        with httpx.Client(base_url=url, headers=bearer, verify=trust, trust_env=False, timeout=30) as http:
            _PATIENTLY(lambda: http.get("/readyz").raise_for_status())
            yield Server(http, for_helm)


@contextmanager
def _process(log: Path, command: tuple[str | Path, ...]) -> Iterator[None]:
    """Run a program until the block ends; its output is attached as a note to an error that ends the block."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    try:
        yield
    except Exception as error:
        error.add_note(f"{log}:\n{log.read_text()[-4000:]}")
        raise
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
