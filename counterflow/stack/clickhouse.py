"""The ClickHouse engine as an HTTP server: its configuration, its users and their passwords."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from xml.sax.saxutils import escape

import httpx

from counterflow.clickhouse import ClickHouse, ClickHouseError
from counterflow.stack.part import Part
from counterflow.stack.secret import secret
from counterflow.stack.settings import HOST, StackSettings

USERS = ("admin", "lander", "reader")
"""`admin` migrates, `lander` inserts, `reader` only reads, within limits."""

_MERGED = 12
"""Parts of a size that are merged at once, where the server's own 5 rewrites a row oftener: a quarter of an insert's
processor time on two cores, for a third more parts to read."""


def engine(settings: StackSettings) -> Part:
    """Describe the engine."""
    return Part(
        name="clickhouse",
        command=(sys.executable, "-m", "counterflow.stack.clickhouse_server"),
        ready=lambda _: _ready(settings),
        ports=(settings.clickhouse_port,),
        prepare=lambda: _prepare(settings),
    )


def library(settings: StackSettings) -> Path:
    """Where the engine was unpacked."""
    return settings.parts / "clickhouse/node_modules/@chdb/lib-linux-x64-gnu/libchdb.so"


def _ready(settings: StackSettings) -> str | None:
    password = settings.clickhouse_password("reader")
    try:
        with ClickHouse(settings.clickhouse_url, "reader", password, timeout_s=5) as client:
            return f"ClickHouse {client.rows('SELECT version() AS version')[0]['version']}"
    except (ClickHouseError, httpx.TransportError):
        return None


def _prepare(settings: StackSettings) -> None:
    home = settings.clickhouse_home
    (home / "data").mkdir(parents=True, exist_ok=True)
    passwords = {user: secret(settings, f"clickhouse-{user}").read_text() for user in USERS}
    digests = {user: hashlib.sha256(password.encode()).hexdigest() for user, password in passwords.items()}
    (home / "config.xml").write_text(_config(settings))
    (home / "users.xml").write_text(_users(digests))


def _config(settings: StackSettings) -> str:
    home = escape(str(settings.clickhouse_home))
    return f"""\
<clickhouse>
  <path>{home}/data/</path>
  <http_port>{settings.clickhouse_port}</http_port>
  <listen_host>{HOST}</listen_host>
  <users_config>users.xml</users_config>
  <log-level>warning</log-level>
  <logger><log>{escape(str(settings.logs))}/clickhouse-engine.log</log><size>10M</size><count>3</count></logger>
  <background_schedule_pool_size>16</background_schedule_pool_size>
  <background_pool_size>2</background_pool_size>
  <merge_tree><merge_selector_base>{_MERGED}</merge_selector_base></merge_tree>
  <mark_cache_size>268435456</mark_cache_size>
  <max_server_memory_usage>4000000000</max_server_memory_usage>
</clickhouse>
"""


def _users(digests: dict[str, str]) -> str:
    def user(name: str, profile: str, rights: str) -> str:
        return f"""
    <{name}><password_sha256_hex>{digests[name]}</password_sha256_hex><networks><ip>{HOST}</ip></networks>
      <profile>{profile}</profile><quota>default</quota>{rights}</{name}>"""

    return f"""\
<clickhouse>
  <profiles>
    <default/>
    <lander><async_insert>0</async_insert><max_memory_usage>2000000000</max_memory_usage></lander>
    <reader><readonly>2</readonly><max_execution_time>30</max_execution_time>
      <max_memory_usage>1000000000</max_memory_usage><max_result_rows>1000000</max_result_rows>
      <constraints><max_execution_time><max>60</max></max_execution_time>
        <max_memory_usage><max>1000000000</max></max_memory_usage></constraints></reader>
  </profiles>
  <quotas><default/></quotas>
  <users>
    <!-- The engine's start-up statements run as `default` without a password: it keeps two harmless rights. -->
    <default><no_password/><networks><ip>{HOST}</ip></networks><profile>default</profile><quota>default</quota>
      <grants><query>GRANT SYSTEM LISTEN ON *.*</query><query>GRANT SELECT ON system.numbers</query></grants></default>\
{user("admin", "default", "<access_management>1</access_management>")}\
{user("lander", "lander", "<grants><query>GRANT INSERT, SELECT ON counterflow.*</query></grants>")}\
{user("reader", "reader", "<grants><query>GRANT SELECT ON counterflow.*</query></grants>")}
  </users>
</clickhouse>
"""
