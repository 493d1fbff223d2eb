"""The ClickHouse engine as an HTTP server: its configuration, its users and their passwords."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import httpx

from counterflow.base.clickhouse import ClickHouseError
from counterflow.stack.part import Part
from counterflow.stack.secret import private, secret
from counterflow.stack.settings import HOST, StackSettings

USERS = ("admin", "migrator", "lander", "reader")
"""`admin` is for people, `migrator` creates and alters tables, `lander` inserts, `reader` only reads, within limits."""

PROFILES: dict[str, dict[str, Any]] = {
    "default": {"http_max_field_value_size": 64 * 2**20},  # bytes of a parameter, read before the user is known
    "lander": {"async_insert": 0},
    "reader": {
        "readonly": 2,
        "session_timezone": "UTC",
        "max_execution_time": 30,
        "max_memory_usage": 1_000_000_000,
        "max_result_rows": 1_000_000,
        # groups beyond this go to disk: a long range is answered slowly instead of refused for its memory
        "max_bytes_before_external_group_by": 300_000_000,
        "max_concurrent_queries_for_user": 50,
        "constraints": {  # 0 means no limit, so there is a minimum as well
            "max_execution_time": {"min": 1, "max": 60},
            "max_memory_usage": {"min": 1, "max": 1_000_000_000},
            "max_result_rows": {"min": 1, "max": 10_000_000},
            "max_concurrent_queries_for_user": {"readonly": 1},
        },
    },
}
"""Settings of the users; the chart takes them from here. A user without a profile has the default."""

GRANTS = {
    "migrator": (
        "CREATE DATABASE, CREATE TABLE, CREATE VIEW ON counterflow.*",
        "ALTER, DROP TABLE, DROP VIEW, TRUNCATE, OPTIMIZE, INSERT, SELECT ON counterflow.*",
        *(f"TABLE ENGINE ON {kind}MergeTree" for kind in ("", "Replacing", "Summing", "Aggregating")),
    ),
    "lander": ("INSERT, SELECT ON counterflow.*",),
    "reader": ("SELECT ON counterflow.*",),
}

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
  <!-- the library has 2 threads, and warns of each task that leaves one for others, many times a second -->
  <background_schedule_pool_size>16</background_schedule_pool_size>
  <background_streaming_schedule_pool_size>16</background_streaming_schedule_pool_size>
  <mark_cache_size>268435456</mark_cache_size>
  <uncompressed_cache_size>{_UNPACKED}</uncompressed_cache_size>
  <max_server_memory_usage>4000000000</max_server_memory_usage>
  <backups><allowed_path>{home}/backups/</allowed_path></backups>
</clickhouse>
"""


def _users(digests: dict[str, str]) -> str:
    here: dict[str, dict[str, Any]] = {
        "lander": {"max_memory_usage": 2_000_000_000},
        "reader": {"use_uncompressed_cache": 1, "merge_tree_max_rows_to_use_cache": _OF_A_PANEL},
    }
    # twice what this machine's processors can do in an hour, so no client can overload it for long
    execution_time = 3600 * (os.cpu_count() or 1) * 2
    hour = {"duration": 3600, "queries": 200_000, "errors": 20_000, "execution_time": execution_time}
    quotas: dict[str, dict[str, Any]] = {"default": {}, "reader": {"interval": hour}}
    # the engine's start-up statements run as `default` without a password: it keeps two harmless rights
    harmless = ("SYSTEM LISTEN ON *.*", "SELECT ON system.numbers")
    users = {}
    for user, rights in {"default": harmless, "admin": (), **GRANTS}.items():
        users[user] = {
            **({"password_sha256_hex": digests[user]} if user in digests else {"no_password": ""}),
            "networks": {"ip": HOST},
            "profile": user if user in PROFILES else "default",
            "quota": user if user in quotas else "default",
            **({"grants": {"query": [f"GRANT {right}" for right in rights]}} if rights else {"access_management": 1}),
        }
    profiles = {name: {**settings, **here.get(name, {})} for name, settings in PROFILES.items()}
    return _xml({"clickhouse": {"profiles": profiles, "quotas": quotas, "users": users}})


def _xml(content: Mapping[str, Any]) -> str:
    """Return elements by name; a list is an element each."""
    each = ((name, one) for name, value in content.items() for one in (value if isinstance(value, list) else [value]))
    return "".join(f"<{name}>{_xml(one) if isinstance(one, dict) else one}</{name}>\n" for name, one in each)
