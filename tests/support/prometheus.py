"""Prometheus' own programs: those of the machine, else those that `make prometheus` unpacked or built."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.support.waiting import PATIENCE_S, until

REPOSITORY = Path(__file__).resolve().parents[2]


def program(name: str) -> str:
    """Return the path of `prometheus`, `promtool`, `alertmanager` or `amtool`."""
    made = (str(REPOSITORY / ".counterflow" / folder) for folder in ("prometheus/usr/bin", "tools"))
    found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(made))
    assert found, f"there is no {name}: make prometheus"
    return found


def run(name: str, *arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run one of the programs, in the root of the repository."""
    command = [program(name), *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, text=True, timeout=PATIENCE_S, cwd=REPOSITORY, env={**os.environ}
    )


@contextmanager
def running(log: Path, *command: str, **environment: str) -> Iterator[None]:
    """Run a program until the block ends; its output goes to a file."""
    with log.open("ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, cwd=REPOSITORY, env={**os.environ, **environment})
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(PATIENCE_S)


def get(url: str) -> str | None:
    """Return what a server answers; None while it does not."""
    try:
        return httpx.get(url, timeout=5, trust_env=False).raise_for_status().text
    except httpx.HTTPError:
        return None


@contextmanager
def prometheus(place: Path, address: str, config: Mapping[str, Any], *options: str) -> Iterator[None]:
    """Run Prometheus once it is ready, with its files in a folder."""
    with _server("prometheus", place, address, config, f"--storage.tsdb.path={place / 'series'}", *options):
        yield


@contextmanager
def alertmanager(place: Path, address: str, config: Mapping[str, Any]) -> Iterator[None]:
    """Run an Alertmanager once it is ready, alone, with its files in a folder."""
    alone = ("--cluster.listen-address=", f"--storage.path={place / 'alerts'}")
    with _server("alertmanager", place, address, config, *alone):
        yield


def routed(url: str, **more: str) -> dict[str, Any]:
    """Return the configuration of an Alertmanager that posts each alert to a hook at once."""
    route = {"receiver": "hook", "group_by": ["..."], "group_wait": "0s", "group_interval": "1s", **more}
    return {"route": route, "receivers": [{"name": "hook", "webhook_configs": [{"url": url}]}]}


def scraping(exporter: str, alertmanager: str) -> dict[str, Any]:
    """Return the configuration of a Prometheus that scrapes an exporter, and judges `rules.yml`, each second."""
    return {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": ["rules.yml"],
        "scrape_configs": [{"job_name": "counterflow-verdicts", "static_configs": [{"targets": [exporter]}]}],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
    }


@contextmanager
def _server(name: str, place: Path, address: str, config: Mapping[str, Any], *options: str) -> Iterator[None]:
    file, log = place / f"{name}.yml", place / f"{name}.log"
    file.write_text(yaml.safe_dump(config))
    command = (program(name), f"--config.file={file}", f"--web.listen-address={address}", *options)
    with running(log, *command):
        until(lambda: get(f"http://{address}/-/ready"), log)
        yield
