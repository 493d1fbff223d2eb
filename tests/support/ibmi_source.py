"""A source of SQL over the database of tests: its configuration, and its session."""

from __future__ import annotations

from collections.abc import Callable

from counterflow.collectors.sources.sql.drivers import SqlTarget
from counterflow.collectors.sources.sql.session import SqlSession
from tests.support import ibmi_database
from tests.support.ibmi_database import PASSWORD, System


def configured(pack: str) -> str:
    """Return the configuration of an agent with one source, which has this pack alone."""
    return f"""\
agent_id: a
kafka: {{bootstrap: b}}
sources:
  - kind: sql
    name: prod
    system: PROD01
    connection: {{driver: mapepire, host: prod01, user: FLOW, password: {{file: password}}}}
    packs: [{pack}]
"""


def session_of(system: System, password: Callable[[], str] = lambda: PASSWORD) -> SqlSession:
    target = SqlTarget(host="prod01", user="FLOW", properties={"folder": str(system.folder)})
    return SqlSession(ibmi_database, target, password)
