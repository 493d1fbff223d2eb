"""The ClickHouse engine as an HTTP server: its configuration, its users and their passwords."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import httpx

from counterflow.base.clickhouse import ClickHouseError
from counterflow.stack.part import Part
from counterflow.stack.secret import private, secret
from counterflow.stack.settings import HOST, StackSettings

USERS = ("admin", "migrator", "lander", "reader")
"""`admin` is for people, `migrator` creates and alters tables, `lander` inserts, `reader` only reads, within limits."""

_MIGRATES = (
    "CREATE DATABASE, CREATE TABLE, CREATE VIEW ON counterflow.*",
    "ALTER, DROP TABLE, DROP VIEW, TRUNCATE, OPTIMIZE, INSERT, SELECT ON counterflow.*",
    *(f"TABLE ENGINE ON {kind}MergeTree" for kind in ("", "Replacing", "Summing", "Aggregating")),
)

_FIELD = 64 * 2**20
"""Bytes of a statement, or of a value in it: such as the names of all systems."""

_UNPACKED, _OF_A_PANEL = 512 * 2**20, 4 * 2**20
"""Bytes of uncompressed blocks cached for `reader`, about a board over thirty days, which reads them again each minute:
decompression is half of the time. A statement that reads more rows than a panel does is not cached."""


def engine(settings: StackSettings) -> Part:
    return Part(
        name="clickhouse",
        command=(sys.executable, "-m", "counterflow.stack.clickhouse_server"),
        ready=lambda _: _ready(settings),
        ports=(settings.clickhouse_port,),
        prepare=lambda: configure(settings),
    )


def library(settings: StackSettings) -> Path:
    return settings.parts / "clickhouse/node_modules/@chdb/lib-linux-x64-gnu/libchdb.so"


def _ready(settings: StackSettings) -> str | None:
    try:
        with settings.clickhouse("reader", timeout_s=5) as client:
            return f"ClickHouse {client.rows('SELECT version() AS version')[0]['version']}"
    except (ClickHouseError, httpx.TransportError):
        return None


def configure(settings: StackSettings) -> None:
    """Write the engine's configuration, its users and their passwords."""
    home = settings.clickhouse_home
    (home / "data").mkdir(parents=True, exist_ok=True)
    passwords = {user: secret(settings.secrets, f"clickhouse-{user}").read_text() for user in USERS}
    digests = {user: hashlib.sha256(password.encode()).hexdigest() for user, password in passwords.items()}
    private(home / "config.xml", _config(settings))
    private(home / "users.xml", _users(digests))


def _config(settings: StackSettings) -> str:
    home = escape(str(settings.clickhouse_home))
    return f"""\
<clickhouse>
  <path>{home}/data/</path>
  <http_port>{settings.clickhouse_engine_port}</http_port>
  <listen_host>{HOST}</listen_host>
  <users_config>users.xml</users_config>
  <log-level>warning</log-level>
  <logger><log>{escape(str(settings.logs))}/clickhouse-engine.log</log><size>10M</size><count>3</count></logger>
  <mark_cache_size>268435456</mark_cache_size>
  <uncompressed_cache_size>{_UNPACKED}</uncompressed_cache_size>
  <max_server_memory_usage>4000000000</max_server_memory_usage>
  <backups><allowed_path>{home}/backups/</allowed_path></backups>
</clickhouse>
"""


def _users(digests: dict[str, str]) -> str:
    networks = f"<ip>{HOST}</ip>"

    def user(name: str, profile: str, rights: Sequence[str], *, quota: str = "default", more: str = "") -> str:
        granted = "".join(f"<query>GRANT {right}</query>" for right in rights)
        return f"""
    <{name}><password_sha256_hex>{digests[name]}</password_sha256_hex><networks>{networks}</networks>
      <profile>{profile}</profile><quota>{quota}</quota>{f"<grants>{granted}</grants>" * bool(rights)}{more}</{name}>"""

    return f"""\
<clickhouse>
  <profiles>
    <!-- The length of a statement's parameter, read before the user is known. -->
    <default><http_max_field_value_size>{_FIELD}</http_max_field_value_size></default>
    <lander><async_insert>0</async_insert><max_memory_usage>2000000000</max_memory_usage></lander>
    <reader><readonly>2</readonly><session_timezone>UTC</session_timezone><max_execution_time>30</max_execution_time>
      <max_memory_usage>1000000000</max_memory_usage><max_result_rows>1000000</max_result_rows>
      <!-- Groups beyond this go to disk: a long range is answered slowly instead of refused for its memory. -->
      <max_bytes_before_external_group_by>300000000</max_bytes_before_external_group_by>
      <use_uncompressed_cache>1</use_uncompressed_cache>
      <merge_tree_max_rows_to_use_cache>{_OF_A_PANEL}</merge_tree_max_rows_to_use_cache>
      <max_concurrent_queries_for_user>50</max_concurrent_queries_for_user>
      <constraints><!-- 0 means no limit, so there is a minimum as well -->
        <max_execution_time><min>1</min><max>60</max></max_execution_time>
        <max_memory_usage><min>1</min><max>1000000000</max></max_memory_usage>
        <max_result_rows><min>1</min><max>10000000</max></max_result_rows>
        <max_concurrent_queries_for_user><readonly/></max_concurrent_queries_for_user></constraints></reader>
  </profiles>
  <quotas><default/>
    <!-- Twice what this machine's processors can do in an hour, so no client can overload it for long. -->
    <reader><interval><duration>3600</duration><queries>200000</queries><errors>20000</errors>
      <execution_time>{3600 * (os.cpu_count() or 1) * 2}</execution_time></interval></reader>
  </quotas>
  <users>
    <!-- The engine's start-up statements run as `default` without a password: it keeps two harmless rights. -->
    <default><no_password/><networks><ip>{HOST}</ip></networks><profile>default</profile><quota>default</quota>
      <grants><query>GRANT SYSTEM LISTEN ON *.*</query><query>GRANT SELECT ON system.numbers</query></grants></default>\
{user("admin", "default", (), more="<access_management>1</access_management>")}\
{user("migrator", "default", _MIGRATES)}\
{user("lander", "lander", ["INSERT, SELECT ON counterflow.*"])}\
{user("reader", "reader", ["SELECT ON counterflow.*"], quota="reader")}
  </users>
</clickhouse>
"""
