"""What `counterflow demo` shows beside its recordings: a node_exporter of this machine, scraped by an agent."""

from __future__ import annotations

import platform
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.cli._live import running, running_agent
from counterflow.pipelines.audit.records import Account

PROGRAM = "prometheus-node-exporter"
"""Its name in Debian's package, which `make node_exporter` unpacks."""
_INTERVALS = 3
_PATIENCE_S = 120
_SHARED = """
SELECT count() AS n FROM counterflow.system_cpu FINAL
WHERE agent_id = {agent:String} AND engine = 'all' AND user_pct IS NOT NULL
"""


class Scraped(NamedTuple):
    """The account of the agent that scraped, and the answer about the processors of this machine."""

    address: str
    account: Account
    rows: list[dict[str, Any]]


def scrape(settings: Any, client: ClickHouse, agent_id: str) -> Scraped | None:
    """Run node_exporter and an agent until a few intervals have landed; None where this machine has no node_exporter.

    Raises
    ------
    CounterflowError : what was scraped does not land; the hint names the log of the agent.
    """
    from counterflow.analysis.queries import queries, run_stored
    from counterflow.collectors.agent.checkpoint import recall
    from counterflow.stack.account import wait_landed

    if (program := shutil.which(PROGRAM)) is None:
        return None
    folder = settings.home / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "scrape.log"
    began = datetime.now(UTC)
    with _node_exporter(program, folder / "node_exporter.log") as address:
        target = {
            "kind": "openmetrics",
            "name": "node",
            "system": platform.node(),
            "connection": {"url": f"http://{address}/metrics"},
            "interval_s": 1,
            "timeout_s": 1,
        }
        with running_agent(settings, agent_id, target, folder / "scrape.yaml", log):
            _wait_shared(client, agent_id, log)
    account = wait_landed(client, agent_id, recall(settings.kafka("agent").client, agent_id).seq)
    since = f"{began - timedelta(seconds=1):%F %T}"
    return Scraped(address, account, run_stored(client, queries()["cpu"], [platform.node()], since))


@contextmanager
def _node_exporter(program: str, log: Path) -> Iterator[str]:
    """Run node_exporter on a free port of 127.0.0.1 until the block ends; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with running([program, f"--web.listen-address={address}"], log):
        yield address


def _wait_shared(client: ClickHouse, agent_id: str, log: Path) -> None:
    end = time.monotonic() + _PATIENCE_S
    while int(client.rows(_SHARED, {"param_agent": agent_id})[0]["n"]) < _INTERVALS:
        if time.monotonic() > end:
            raise CounterflowError(f"nothing that was scraped landed within {_PATIENCE_S} s", hint=f"see {log}")
        time.sleep(0.3)
