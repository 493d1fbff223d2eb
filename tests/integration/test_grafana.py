"""Grafana as a part of the stack. No registry offers it, so a stand-in reads the configuration that it gets."""

from __future__ import annotations

import configparser
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import psutil
import pytest
import yaml

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.dashboards.definition import boards
from counterflow.dashboards.provisioning import GRAFANA, PLUGIN, QUERY_TIMEOUT_S
from counterflow.stack import lifecycle, supervision
from counterflow.stack.grafana import container, provision
from counterflow.stack.secret import secret
from counterflow.stack.settings import StackSettings

STAND_IN = f"""#!{sys.executable}
import configparser, http.server, json, sys

config = configparser.ConfigParser(interpolation=None)
config.read(sys.argv[sys.argv.index("--config") + 1])

class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({{"database": "ok", "version": "11.6.0"}}).encode()
        self.send_response(200 if self.path == "/api/health" else 404)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = config["server"]
http.server.HTTPServer((server["http_addr"], int(server["http_port"])), Health).serve_forever()
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "grafana" / "bin" / "grafana"
    path.parent.mkdir(parents=True)
    path.write_text(STAND_IN)
    path.chmod(0o755)
    (tmp_path / "grafana" / "conf").mkdir()
    (tmp_path / "grafana" / "conf" / "defaults.ini").touch()
    return path


def test_a_grafana_is_started_configured_and_stopped(new_stack: Callable[[], StackSettings], program: Path) -> None:
    settings = new_stack().model_copy(update={"grafana": program})
    lifecycle.start(settings, "grafana")
    part = next(part for part in lifecycle.status(settings) if part.name == "grafana")
    assert (part.state, part.detail, list(part.ports)) == ("running", "Grafana 11.6.0", [settings.grafana_port])
    ini = settings.grafana_home / "grafana.ini"
    words = psutil.Process(part.pid).cmdline()
    assert words[words.index(str(program)) :] == [
        *(str(program), "server", "--config", str(ini), "--homepath", str(program.parents[1]))
    ]

    config = configparser.ConfigParser(interpolation=None)
    config.read(ini)
    assert (config["server"]["http_addr"], config["server"]["http_port"]) == ("127.0.0.1", str(settings.grafana_port))
    assert config["security"]["admin_password"] == f"$__file{{{settings.secrets / 'grafana-admin'}}}"
    provisioning = Path(config["paths"]["provisioning"])
    source, metrics = yaml.safe_load((provisioning / "datasources/counterflow.yaml").read_text())["datasources"]
    assert (metrics["type"], metrics["url"]) == ("prometheus", "http://127.0.0.1:9090")
    assert source["jsonData"]["port"] == str(settings.clickhouse_port)
    assert source["jsonData"]["username"] == "reader"
    assert source["secureJsonData"]["password"] == f"$__file{{{settings.secrets / 'clickhouse-reader'}}}"
    providers = yaml.safe_load((provisioning / "dashboards/counterflow.yaml").read_text())["providers"]
    assert [one["folder"] for one in providers] == sorted(one["folder"] for one in providers)
    provided = [path for one in providers for path in Path(one["options"]["path"]).glob("*.json")]
    assert sorted(json.loads(path.read_text())["uid"] for path in provided) == sorted(boards())
    assert Path(config["dashboards"]["default_home_dashboard_path"]).is_file()

    for name in ("grafana-admin", "clickhouse-reader"):
        secret = settings.secrets / name
        assert secret.stat().st_mode & 0o777 == 0o600
        password = secret.read_text()
        others = [path for path in settings.home.rglob("*") if path.is_file() and path != secret]
        assert [path for path in others if password.encode() in path.read_bytes()] == []
        for process in supervision.processes(settings):
            assert password not in " ".join([*process.cmdline(), *process.environ().values()])

    lifecycle.down(settings)
    assert not psutil.pid_exists(part.pid) or psutil.Process(part.pid).status() == psutil.STATUS_ZOMBIE
    assert supervision.processes(settings) == []


def test_a_grafana_that_does_not_start_is_reported(new_stack: Callable[[], StackSettings], program: Path) -> None:
    program.write_text("#!/bin/sh\necho 'Error: no plugins today'\nexit 1\n")
    settings = new_stack().model_copy(update={"grafana": program})
    messages: list[str] = []
    lifecycle.show(settings, messages.append)
    assert messages[-1].startswith("grafana ended while it started: Error: no plugins today (its log: ")
    assert "COUNTERFLOW_GRAFANA=none" in messages[-1]
    lifecycle.down(settings)


def test_without_a_grafana_a_command_runs_one_over_what_was_written(new_stack: Callable[[], StackSettings]) -> None:
    settings = new_stack()
    secret(settings.secrets, "clickhouse-reader")
    provision(settings)
    words = shlex.split(container(settings))
    assert f"{settings.home}:{settings.home}:ro" in words
    given = dict(word.split("=", 1) for word in words if word.startswith("GF_"))
    assert given["GF_SERVER_HTTP_PORT"] == str(settings.grafana_port)
    assert Path(given["GF_SECURITY_ADMIN_PASSWORD__FILE"]).stat().st_mode & 0o777 == 0o600
    written = Path(given["GF_PATHS_PROVISIONING"])
    assert {path.name for path in written.iterdir()} == {"alerting", "dashboards", "datasources", "plugins"}


def test_one_version_of_grafana_and_of_its_plugin_is_pinned() -> None:
    compose = yaml.safe_load(Path("compose.yaml").read_text())["services"]["grafana"]
    assert compose["image"] == f"${{GRAFANA_IMAGE:-grafana/grafana:{GRAFANA}}}"
    assert compose["environment"]["GF_PLUGINS_PREINSTALL"] == PLUGIN
    assert f"ARG GRAFANA=grafana/grafana:{GRAFANA}-ubuntu\n" in Path("docker/Dockerfile").read_text()


def test_a_grafana_is_found_on_path_or_by_name(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert StackSettings.from_environment({}).grafana is None
    assert "grafana_port" not in StackSettings.from_environment({}).ports, "a port that nobody needs may be taken"
    monkeypatch.setenv("PATH", str(program.parent))
    found = StackSettings.from_environment({})
    assert found.grafana == program
    assert found.ports["grafana_port"] == 13000
    assert StackSettings.from_environment({"COUNTERFLOW_GRAFANA": "none"}).grafana is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert StackSettings.from_environment({"COUNTERFLOW_GRAFANA": str(program)}).grafana == program
    with pytest.raises(CounterflowError, match="COUNTERFLOW_GRAFANA is '/nowhere/grafana', which is not an executable"):
        StackSettings.from_environment({"COUNTERFLOW_GRAFANA": "/nowhere/grafana"})


def test_times_without_a_zone_are_utc_whatever_the_zone_of_the_server(clickhouse: StackSettings) -> None:
    """Grafana sends no zone, so its user has it; for other users the client sends it."""
    setting = "SELECT getSetting('session_timezone') AS zone"
    for user in ("migrator", "lander"):
        with clickhouse.clickhouse(user) as client:
            assert client.rows(setting) == [{"zone": "UTC"}], user
    reader = ("reader", clickhouse.clickhouse_password("reader"))
    sent = httpx.get(clickhouse.clickhouse_url, params={"query": setting}, auth=reader, trust_env=False)
    assert sent.text == "UTC\n"


def test_the_plugins_driver_may_query_as_the_reader(clickhouse: StackSettings) -> None:
    """Its first statement, and the limit of time that it sets on each: its time-out and five seconds."""
    url, password = clickhouse.clickhouse_url, clickhouse.clickhouse_password("reader")
    with ClickHouse(url, "reader", password) as reader:
        hello = "SELECT displayName(), version(), revision(), timezone()"
        wire = {"default_format": "Native", "max_execution_time": QUERY_TIMEOUT_S + 5}
        assert b"displayName" in reader.post(hello, settings=wire)
