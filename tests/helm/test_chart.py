"""The chart, by the tools that its users have: rendered, linted, validated against the schemas of its objects."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import certifi
import pytest
import yaml
from click.testing import CliRunner

from counterflow.cli import cli
from counterflow.dashboards import alerting
from counterflow.pipelines.jobs import all_jobs
from counterflow.schemas import topics
from helm import files
from tests.support.chart import CHART, EXAMPLES, KUBERNETES, TRIAL, objects, run, template, validate, values_of
from tests.support.command_line import parse

Json = dict[str, Any]

APPLICATION = ("flink.mode=application", "flink.storage=s3://bucket/flink")
CLAIMS = {"data", "home"}
"""Volumes from the claim templates of the pods' owner."""


@pytest.fixture(scope="session", autouse=True)
def chart_files() -> None:
    """The files that the charts carry from the rest of the repository, as they are now."""
    files.write()


def test_files_of_the_chart_are_replaced_and_unused_ones_removed(tmp_path: Path) -> None:
    folder = tmp_path / "counterflow/files"
    (folder / "dashboards").mkdir(parents=True)
    (folder / "dashboards/gone.json").write_text("{}")
    (folder / "jobs.yaml").write_text("jobs: []")
    files.write(tmp_path)
    found = {path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert found == dict(files.files())


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_chart_without_its_files_names_the_command_that_makes_them(example: str, tmp_path: Path) -> None:
    chart = shutil.copytree(CHART, tmp_path / "counterflow", ignore=shutil.ignore_patterns("files"))
    with pytest.raises(RuntimeError, match=r"the chart has no files/.*: run `make chart`"):
        run("helm", "template", ".", "--kube-version", KUBERNETES, "--values", values_of(example), chart=chart)


@pytest.mark.parametrize("example", EXAMPLES)
class TestExample:
    def test_helm_has_no_warning(self, example: str) -> None:
        output = run("helm", "lint", "--strict", ".", "--kube-version", KUBERNETES, "--values", values_of(example))
        assert "1 chart(s) linted, 0 chart(s) failed" in output
        assert not re.search(r"^\[(WARNING|ERROR)\]", output, re.MULTILINE), output

    def test_every_object_is_valid_by_the_schema_of_its_kind(self, example: str) -> None:
        for one in objects(template(values_of(example))):
            validate(one)

    def test_fits_into_the_secret_that_helm_keeps_a_release_in(self, example: str) -> None:
        carried = [path.read_bytes() for path in CHART.rglob("*") if path.is_file() and "examples" not in path.parts]
        kept = gzip.compress(b"".join(carried) + template(values_of(example)).encode())
        assert len(kept) * 4 / 3 < 0.7 * 1_048_576

    def test_what_containers_run_exists(self, example: str) -> None:
        ours = [container for container in containers(example) if "args" in container]
        assert ours
        for container in ours:
            parse([str(word) for word in container["args"]])

    def test_no_variable_is_set_twice(self, example: str) -> None:
        for container in containers(example):
            names = [one["name"] for one in container.get("env", [])]
            assert len(names) == len(set(names)), container["name"]

    def test_agents_have_configurations_that_the_agent_takes(self, example: str, tmp_path: Path) -> None:
        maps = [one for one in objects(template(values_of(example))) if "agent.yaml" in one.get("data", {})]
        assert maps
        (tmp_path / "secrets").mkdir()
        (tmp_path / "secrets/kafka-agent").write_text("secret")
        for one in maps:
            file = tmp_path / "agent.yaml"
            text = one["data"]["agent.yaml"]
            for path in re.findall(r"/run/counterflow/(sources/\S+)", text):
                (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(certifi.where(), tmp_path / path)  # good for a certificate, and for a password too
            file.write_text(text.replace("/run/counterflow", str(tmp_path)))
            result = CliRunner().invoke(cli, ["agent", "check", str(file)])
            assert result.exit_code == 0, result.output or result.exception

    def test_no_secret_is_in_it(self, example: str) -> None:
        found = objects(template(values_of(example)))
        assert "Secret" not in {one["kind"] for one in found}
        for container in containers(example):
            for variable in container.get("env", []):
                is_secret = re.search("PASSWORD|SECRET_|KEY", variable["name"])
                assert not is_secret or "secretKeyRef" in variable["valueFrom"], variable

    def test_every_container_is_confined(self, example: str) -> None:
        for container in containers(example):
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True, container
            assert context["allowPrivilegeEscalation"] is False, container
            assert context["capabilities"] == {"drop": ["ALL"]}, container
        for pod in pods(example):
            assert pod["securityContext"]["runAsNonRoot"] is True
            assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}

    def test_what_is_mounted_is_there(self, example: str) -> None:
        for pod in pods(example):
            volumes = {volume["name"] for volume in pod.get("volumes", [])} | CLAIMS
            mounted = {
                mount["name"]
                for container in [*pod["containers"], *pod.get("initContainers", [])]
                for mount in container.get("volumeMounts", [])
            }
            assert mounted <= volumes
            assert volumes - CLAIMS <= mounted | {"certificates"}


@pytest.mark.parametrize("kind", ["Deployment", "KafkaTopic"])
def test_an_unknown_field_is_refused(kind: str) -> None:
    one = next(one for one in objects(template(values_of("small"))) if one["kind"] == kind)
    with pytest.raises(Exception, match="'partions' was unexpected"):
        validate({**one, "spec": {**one["spec"], "partions": 1}})


def test_every_job_is_a_deployment_and_every_topic_a_topic() -> None:
    found = objects(template(values_of("small"), *APPLICATION))
    deployments = {
        one["metadata"]["labels"]["counterflow/job"]: one for one in found if one["kind"] == "FlinkDeployment"
    }
    assert deployments.keys() == all_jobs().keys()
    made = {one["spec"]["topicName"]: one["spec"] for one in found if one["kind"] == "KafkaTopic"}
    for topic in topics():
        assert made[topic.name]["partitions"] == topic.partitions
        assert topic.config.items() <= made[topic.name]["config"].items()
    assert made.keys() == {topic.name for topic in topics()}


def test_an_agent_restarts_when_its_sources_change() -> None:
    def checksum(source: str) -> str:
        found = objects(template(values_of("small"), f"agents.nodes.sources[0].name={source}"))
        [agent] = [one for one in found if one["kind"] == "DaemonSet"]
        return str(agent["spec"]["template"]["metadata"]["annotations"]["checksum/config"])

    assert checksum("nmon") != checksum("other")


def test_a_longer_release_still_has_names_that_flink_takes() -> None:
    found = objects(template(values_of("small"), "fullnameOverride=counterflow-products", *APPLICATION))
    names = [one["metadata"]["name"] for one in found if one["kind"] == "FlinkDeployment"]
    assert max(map(len, names)) <= 45


def test_a_flink_without_jobs_is_refused() -> None:
    disabled = [f"flink.jobs.{name}.enabled=false" for name in all_jobs()]
    with pytest.raises(RuntimeError, match=r"flink\.jobs disables every job: set flink\.enabled=false"):
        template(values_of("small"), *disabled)


def test_alerts_are_those_of_prometheus_and_lead_to_the_site() -> None:
    [found] = [one for one in objects(template(values_of("production"))) if one["kind"] == "PrometheusRule"]
    site = alerting.Site("https://grafana.example.com", "https://docs.example.com/counterflow/runbooks/{alert}/")
    stated = alerting.prometheus(site)
    for rule in (rule for group in stated["groups"] for rule in group["rules"]):
        rule["labels"] = {**rule["labels"], "namespace": "counterflow"}
    assert found["spec"] == stated


def test_a_session_runs_every_job() -> None:
    manifests = template(values_of("small"))
    [session] = [one for one in objects(manifests) if one["kind"] == "StatefulSet" and one["spec"]["replicas"]]
    [jobs] = [one for one in session["spec"]["template"]["spec"]["containers"] if one["name"] == "jobs"]
    assert jobs["args"] == ["jobs", "submit", "--watch", *sorted(all_jobs())]
    assert "FlinkDeployment" not in {one["kind"] for one in objects(manifests)}


@pytest.mark.parametrize("chart", [CHART, TRIAL])
def test_helm_unittest(chart: Path) -> None:
    run("helm-unittest", "--strict", "--file", "tests/*_test.yaml", ".", chart=chart)


def test_the_trial_needs_nothing_in_advance() -> None:
    output = run("helm", "lint", "--strict", ".", "--kube-version", KUBERNETES, chart=TRIAL)
    assert "1 chart(s) linted, 0 chart(s) failed" in output
    text = run("helm", "template", "try", ".", "--kube-version", KUBERNETES, chart=TRIAL)
    for one in objects(text):
        validate(one)
    assert {one["kind"] for one in objects(text)} == {"StatefulSet", "NetworkPolicy"}  # no operator's kind, no secret
    [pod] = [pod for one in objects(text) for pod in _pods(one)]
    [line] = pod["containers"]
    assert line["securityContext"]["readOnlyRootFilesystem"] is True
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert not [source for volume in pod["volumes"] for source in volume if source in ("secret", "projected")]


def test_both_charts_are_of_the_release() -> None:
    found = {yaml.safe_load((chart / "Chart.yaml").read_text())["appVersion"] for chart in (CHART, TRIAL)}
    assert found == {version("counterflow")}


@cache
def pods(example: str) -> list[Json]:
    """Return every pod that Kubernetes or an operator makes from the rendered objects."""
    return [pod for one in objects(template(values_of(example))) for pod in _pods(one)]


def _pods(node: Any) -> Iterator[Json]:
    if isinstance(node, dict):
        if "containers" in node:
            yield node
        else:
            for value in node.values():
                yield from _pods(value)
    elif isinstance(node, list):
        for value in node:
            yield from _pods(value)


def containers(example: str) -> list[Json]:
    return [one for pod in pods(example) for one in [*pod["containers"], *pod.get("initContainers", [])]]
