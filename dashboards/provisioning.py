"""The files that Grafana reads when it starts: addresses of ClickHouse and Prometheus, and the folders of the boards.

Grafana expands variables of its environment and `$__file{path}` in every value (grafana/grafana,
pkg/services/provisioning/values). The files for a site leave all that differs to variables; those of the stack have
the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml

from counterflow.dashboards.definition import Board

CLICKHOUSE, PROMETHEUS = "Counterflow ClickHouse", "Counterflow Prometheus"
UIDS = {CLICKHOUSE: "counterflow-ch", PROMETHEUS: "counterflow-prometheus"}
"""Uids of the data sources, by name."""

GRAFANA, PLUGIN = "12.3.0", "grafana-clickhouse-datasource@4.14.1"
"""The pair that compose.yaml and the images have, too: docs/dashboards.md states which pairs were opened."""

READER = "reader"
QUERY_TIMEOUT_S = 30
"""The driver adds five seconds; the sum must be within what the user `reader` may set."""

SCRAPE_INTERVAL = "15s"
"""As in the example configuration; `$__rate_interval` is at least four of them."""

_HEAD = (
    "# Made by `counterflow dev dashboards build`. A `$` begins a variable of the environment: docs/dashboards.md.\n"
)


class BoardFolder(NamedTuple):
    """Boards of some steps of work.

    Parameters
    ----------
    name : of the directory, and the tag of its boards.
    title : of the folder in Grafana.
    steps : of its boards.
    """

    name: str
    title: str
    steps: tuple[str, ...]

    @property
    def heading(self) -> str:
        """The folder's title in Grafana, which lists folders by name: the number keeps their order."""
        return f"Counterflow {1 + FOLDERS.index(self)} {self.title}"


FOLDERS = (
    BoardFolder("fleet", "Fleet", ("fleet",)),
    BoardFolder("system", "Systems", ("system",)),
    BoardFolder("detail", "Detail", ("interval", "rank", "job")),
    BoardFolder("more", "More", ("study", "line")),
)


def folder_of(board: Board) -> BoardFolder:
    return next(folder for folder in FOLDERS if board.step in folder.steps)


def datasources(
    host: str = "$COUNTERFLOW_CLICKHOUSE_HOST",
    port: str = "$COUNTERFLOW_CLICKHOUSE_PORT",
    password: str = "$COUNTERFLOW_CLICKHOUSE_PASSWORD",  # noqa: S107 # where it is, not what it is
    prometheus: str = "$COUNTERFLOW_PROMETHEUS_URL",
    ca: str | None = None,
) -> str:
    """Return the file of the data sources: ClickHouse, over HTTP as the user who may only read, and Prometheus.

    With `ca`, the certificates that sign the server's (in PEM, or where they are), Grafana queries ClickHouse over TLS.
    """
    clickhouse: dict[str, Any] = {
        "name": CLICKHOUSE,
        "uid": UIDS[CLICKHOUSE],
        "type": "grafana-clickhouse-datasource",
        "access": "proxy",
        "isDefault": False,
        "editable": False,
        "jsonData": {
            "host": host,
            "port": port,
            "protocol": "http",
            "secure": ca is not None,
            "username": READER,
            "defaultDatabase": "counterflow",
            "tlsSkipVerify": False,
            "dialTimeout": "10",
            "queryTimeout": str(QUERY_TIMEOUT_S),
        },
        "secureJsonData": {"password": password},
    }
    if ca is not None:
        clickhouse["jsonData"]["tlsAuthWithCACert"] = True
        clickhouse["secureJsonData"]["tlsCACert"] = ca
    metrics = {
        "name": PROMETHEUS,
        "uid": UIDS[PROMETHEUS],
        "type": "prometheus",
        "access": "proxy",
        "isDefault": False,
        "editable": False,
        "url": prometheus,
        "jsonData": {"httpMethod": "POST", "timeInterval": SCRAPE_INTERVAL},
    }
    return _text({"datasources": [clickhouse, metrics]})


def providers(path: str = "$COUNTERFLOW_DASHBOARDS") -> str:
    """Return the file that makes Grafana load the directories below `path`, each into a folder of its own.

    Grafana looks for changes twice a minute.
    """
    shared = {
        "orgId": 1,
        "type": "file",
        "disableDeletion": False,
        "allowUiUpdates": False,
        "updateIntervalSeconds": 30,
    }
    found = [
        {
            "name": f"counterflow-{folder.name}",
            "folder": folder.heading,
            "folderUid": f"counterflow-{folder.name}",
            **shared,
            "options": {"path": f"{path}/{folder.name}"},
        }
        for folder in FOLDERS
    ]
    return _text({"providers": found})


def _text(content: Mapping[str, object]) -> str:
    return _HEAD + yaml.safe_dump({"apiVersion": 1, **content}, sort_keys=False)
