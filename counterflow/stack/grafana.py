"""An installed Grafana, if any: dashboards over the stack's ClickHouse, on loopback, with a separate database."""

from __future__ import annotations

import shutil
from pathlib import Path

import httpx

from counterflow.dashboards import build
from counterflow.dashboards.alerting import Site
from counterflow.dashboards.provisioning import GRAFANA, PLUGIN, READER, datasources, providers
from counterflow.stack.part import Part
from counterflow.stack.secret import secret
from counterflow.stack.settings import StackSettings

_SYSTEM_PLUGINS = Path("/var/lib/grafana/plugins")


def server(settings: StackSettings, program: Path) -> Part:
    """Describe Grafana, started by `program`: either `grafana` or `grafana-server`."""
    words = ["server"] if program.name == "grafana" else []
    found = _distribution(program)
    home = ["--homepath", str(found)] if found else []
    return Part(
        name="grafana",
        command=(str(program), *words, "--config", str(settings.grafana_home / "grafana.ini"), *home),
        ready=lambda _: _ready(settings),
        ports=(settings.grafana_port,),
        prepare=lambda: _prepare(settings),
    )


def _distribution(program: Path) -> Path | None:
    """Return the folder with Grafana's defaults; without `--homepath` Grafana expects it in its working directory."""
    candidates = (program.resolve().parent.parent, Path("/usr/share/grafana"))
    return next((folder for folder in candidates if (folder / "conf/defaults.ini").exists()), None)


def _ready(settings: StackSettings) -> str | None:
    try:
        health = httpx.get(f"{settings.grafana_url}/api/health", timeout=5, trust_env=False).raise_for_status().json()
    except (httpx.HTTPError, ValueError):
        return None
    return f"Grafana {health.get('version', '')}" if health.get("database") == "ok" else None


def provision(settings: StackSettings) -> None:
    """Write dashboards and alerts, and the data sources with the path of the password file."""
    for written in (_dashboards(settings), settings.grafana_home / "provisioning"):
        shutil.rmtree(written, ignore_errors=True)
    build.write(settings.home, below="grafana/", site=Site(settings.grafana_url))
    password = secret(settings.secrets, f"clickhouse-{READER}")
    ca = f"$__file{{{settings.tls_ca}}}" if settings.tls_ca else None
    port, prometheus = str(settings.clickhouse_port), settings.prometheus_url
    source = datasources(settings.address, port, f"$__file{{{password}}}", prometheus, ca)
    (settings.home / build.DATASOURCES).write_text(source)
    (settings.home / build.PROVIDER).write_text(providers(str(_dashboards(settings))))
    (settings.grafana_home / "provisioning/plugins").mkdir(exist_ok=True)  # Grafana reports a missing one as an error


def container(settings: StackSettings) -> str:
    """Return the command that runs a Grafana in a container over the stack, with what `provision` writes.

    The container has this machine's network and sees the home of the stack, which has passwords, read-only.
    """
    paths = f"-e GF_PATHS_PROVISIONING={settings.grafana_home / 'provisioning'} -e GF_PLUGINS_PREINSTALL={PLUGIN}"
    password = f"-e GF_SECURITY_ADMIN_PASSWORD__FILE={secret(settings.secrets, 'grafana-admin')}"
    where = f"-e GF_SERVER_HTTP_ADDR=127.0.0.1 -e GF_SERVER_HTTP_PORT={settings.grafana_port}"
    mounted = f'--network host --user "$(id -u)" -v {settings.home}:{settings.home}:ro'
    return f"docker run --rm {mounted} {paths} {password} {where} grafana/grafana:{GRAFANA}"


def _dashboards(settings: StackSettings) -> Path:
    return settings.home / build.DASHBOARDS


def _prepare(settings: StackSettings) -> None:
    """Write the configuration; it refers to passwords by their files."""
    provision(settings)
    (settings.grafana_home / "grafana.ini").write_text(_config(settings))


def _config(settings: StackSettings) -> str:
    home = settings.grafana_home
    installed = (_SYSTEM_PLUGINS / PLUGIN.partition("@")[0]).exists()
    # Grafana downloads it at its first start; where it is installed, a start calls nobody
    preinstall = "preinstall_disabled = true" if installed else f"preinstall = {PLUGIN}"
    return f"""\
[paths]
data = {home / "data"}
logs = {home / "logs"}
plugins = {_SYSTEM_PLUGINS if installed else home / "plugins"}
provisioning = {home / "provisioning"}

[server]
protocol = http
http_addr = {settings.grafana_address}
http_port = {settings.grafana_port}
root_url = {settings.grafana_url}/

[security]
admin_user = admin
admin_password = $__file{{{secret(settings.secrets, "grafana-admin")}}}
disable_gravatar = true

[plugins]
{preinstall}

[analytics]
reporting_enabled = false
check_for_updates = false
check_for_plugin_updates = false

[news]
news_feed_enabled = false

[dashboards]
default_home_dashboard_path = {settings.home / build.path_of("cf-fleet")}

[log]
mode = console
level = warn
"""
