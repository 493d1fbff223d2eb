"""Where a stack is: its folders, its ports, and the addresses of its servers."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from counterflow.base.loopback import is_loopback
from counterflow.stack.flink_files import FlinkFiles

HOST = "127.0.0.1"
Port = Annotated[int, Field(ge=1, le=65535)]


class Places(BaseModel):
    """The values that a site may set, and the folders, ports and addresses that follow from them."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    home: Path = Field(default_factory=lambda: Path.cwd() / ".counterflow")
    """Everything the stack writes: data, logs, secrets, configuration; default: `.counterflow` in this folder."""
    parts: Path = Field(default_factory=lambda data: data["home"] / "parts")
    """Downloaded software, which several homes may share; default: `parts` in the home."""
    secrets: Path = Field(default_factory=lambda data: data["home"] / "secrets")
    """Passwords, one file each, `kafka-<user>` and `clickhouse-<user>`, readable only by the owner; default: `secrets`
    in the home."""
    address: str = HOST
    """Where Kafka and ClickHouse listen: loopback, or, with `tls_certificate`, a name or address of this machine."""
    tls_certificate: Path | None = None
    """PEM file for Kafka and ClickHouse: the private key, the certificate of `address`, and its CA chain."""
    tls_ca: Path | None = None
    """PEM file with the CAs that clients trust: they then connect only over TLS."""
    kafka_port: Port = 19092
    """The broker."""
    kafka_controller_port: Port = 19093
    """The broker's internal controller."""
    clickhouse_port: Port = 18123
    """HTTP, or HTTPS with `tls_certificate`; the engine's native listener is never started."""
    clickhouse_plain_port: Port = 18124
    """The engine on loopback behind the TLS relay, since it has no TLS itself; unused without `tls_certificate`."""
    flink_port: Port = 18081
    """REST and web interface."""
    flink_rpc_port: Port = 16123
    """Flink's internal RPC."""
    flink_blob_port: Port = 16124
    """Flink's internal file server for jobs."""
    lander_most_refused: Annotated[float, Field(ge=0, le=100)] = 50
    """Landing of a topic is paused when more percent of its last 10,000 rows were rejected; 100: never."""
    lander_metrics_port: Port = 19095
    """`/metrics` of the lander."""
    verdicts_metrics_port: Port = 19096
    """`/metrics` of the exporter of verdicts."""
    health_port: Port = 19098
    """`/metrics` and `/healthz` of all parts together."""
    grafana: Path | None = Field(default_factory=lambda: _on_path("grafana", "grafana-server"))
    """The program of an installed Grafana; default: the one on PATH; `none` for no Grafana."""
    grafana_port: Port = 13000
    """HTTP, if there is a Grafana."""
    grafana_address: str = HOST
    """Where Grafana listens: loopback, except within a container, whose published port reaches no loopback."""
    prometheus_url: str = "http://127.0.0.1:9090"
    """A Prometheus of your own, from which Grafana reads the state of the parts."""
    counters: Path | None = None
    """File with a list of raw counters that the exporter publishes, too: SECTION/COUNTER, one a line."""
    remote_write: str | None = None
    """A metrics store of your own, to which the exporter sends verdicts and figures: Prometheus remote write."""
    remote_write_token: Path | None = None
    """File with the bearer token of that store."""
    flink_slots: Annotated[int, Field(ge=1)] = 16
    """Task slots of the one TaskManager: a job with parallelism 1 takes one."""
    flink_heap_mb: Annotated[int, Field(ge=500)] = 800
    """Heap of the one TaskManager, MB, for all jobs: more helps where large systems are back-filled (docs/scale.md)."""
    maven_repository: str | None = None
    """A site's own Maven repository, from which `up` fetches jars; default: the central one."""
    kafka_bootstrap: str = Field(default_factory=lambda data: f"{data.get('address')}:{data.get('kafka_port')}")
    """`bootstrap.servers` of Kafka clients; default: the stack's broker."""
    clickhouse_url: str = Field(
        default_factory=lambda data: (
            f"{'https' if data.get('tls_ca') else 'http'}://{data.get('address')}:{data.get('clickhouse_port')}"
        )
    )
    """ClickHouse's HTTP interface; default: the stack's engine."""

    @model_validator(mode="after")
    def _nothing_in_the_clear(self) -> Self:
        if not is_loopback(self.address) and self.tls_certificate is None:
            raise ValueError(f"{self.address} is not a loopback address; it needs COUNTERFLOW_TLS_CERTIFICATE")
        if self.tls_certificate and self.tls_ca is None:
            raise ValueError("COUNTERFLOW_TLS_CERTIFICATE needs COUNTERFLOW_TLS_CA, so that clients can verify it")
        hosts = [server.strip().rpartition(":")[0] for server in self.kafka_bootstrap.split(",")]
        if self.tls_ca is None and (open_to := [host for host in hosts if not is_loopback(host)]):
            raise ValueError(f"Kafka at {open_to[0]} is not on loopback and requires TLS; set COUNTERFLOW_TLS_CA")
        return self

    @property
    def stack_file(self) -> Path:
        """The record of the running stack: these settings as JSON."""
        return self.home / "stack.json"

    @property
    def ports(self) -> dict[str, int]:
        """Every port that this stack uses, by field name."""
        spared = {"grafana_port": not self.grafana, "clickhouse_plain_port": not self.tls_certificate}
        names = [name for name in type(self).model_fields if name.endswith("_port") and not spared.get(name)]
        return {name: getattr(self, name) for name in names}

    @property
    def clickhouse_engine_port(self) -> int:
        """The loopback port of the ClickHouse engine itself."""
        return self.clickhouse_plain_port if self.tls_certificate else self.clickhouse_port

    @property
    def logs(self) -> Path:
        """The folder with one log file per part, rotated."""
        return self.home / "logs"

    @property
    def flink_url(self) -> str:
        """Base URL of Flink's REST interface."""
        return f"https://{HOST}:{self.flink_port}"

    @property
    def flink_certificate(self) -> Path:
        """PEM file with the key and the certificate of Flink and of its clients (`certificate`)."""
        return self.home / "secrets/flink.pem"

    @property
    def kafka_home(self) -> Path:
        """Configuration and data of the broker."""
        return self.home / "kafka"

    @property
    def clickhouse_home(self) -> Path:
        """Configuration and data of the ClickHouse engine."""
        return self.home / "clickhouse"

    @property
    def grafana_url(self) -> str:
        """Base URL of Grafana, if there is one."""
        return f"http://{HOST}:{self.grafana_port}"

    @property
    def grafana_home(self) -> Path:
        """Configuration and data of Grafana."""
        return self.home / "grafana"

    @property
    def flink(self) -> FlinkFiles:
        return FlinkFiles(self.home / "flink", self.parts)


def _on_path(*names: str) -> Path | None:
    """Return the first of the programs that is on PATH."""
    return next((Path(found) for name in names if (found := shutil.which(name))), None)
