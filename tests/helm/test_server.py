"""Every object of every example, admitted by a real API server in a dry run: `make helm ARGS=--server`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from helm.examples import EXAMPLES, install, template, values_of
from helm.server import Server, definitions, running
from tests.helm.test_chart import objects

pytestmark = pytest.mark.usefixtures("chart_files")

NAMESPACE = "counterflow"
SESSION = ("flink.mode=session", "flink.storage=", "flink.storageSecret=", "flink.configuration=null")
"""Needs no operator, with everything else external."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An API server that knows the operators' kinds."""
    with running(tmp_path_factory.mktemp("apiserver")) as found:
        found.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        for definition in definitions():
            found.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        end = time.monotonic() + 60
        for definition in definitions():
            group, version = definition["spec"]["group"], definition["spec"]["versions"][0]["name"]
            path = f"/apis/{group}/{version}/namespaces/{NAMESPACE}/{definition['spec']['names']['plural']}"
            while found.http.get(path).is_error and time.monotonic() < end:
                time.sleep(0.2)
        yield found


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_object_is_admitted(server: Server, example: str) -> None:
    refused = []
    for one in objects(template(values_of(example))):
        try:
            server.dry_run(NAMESPACE, one)
        except RuntimeError as error:
            refused.append(str(error))
    assert refused == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_helm_installs_it(server: Server, example: str) -> None:
    assert "STATUS: pending-install" in install(server.for_helm, values_of(example))


def test_helm_installs_it_where_no_operator_is(tmp_path: Path) -> None:
    """A kind that is not installed cannot even be looked up."""
    with running(tmp_path) as bare:
        found = install(bare.for_helm, values_of("external"), *SESSION)
    assert "STATUS: pending-install" in found


def test_what_is_wrong_is_refused(server: Server) -> None:
    [job] = [one for one in objects(template(values_of("small"))) if one["kind"] == "Job"]
    wrong = {**job, "spec": {**job["spec"], "backofLimit": 3}}
    with pytest.raises(RuntimeError, match="backofLimit"):
        server.dry_run(NAMESPACE, wrong)
