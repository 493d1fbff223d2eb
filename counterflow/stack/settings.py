"""Settings of the one-machine stack: how they are read, and the places and connections that follow from them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Kafka, Secret
from counterflow.base.loopback import is_loopback
from counterflow.stack.runtimes import java_environment

HOST = "127.0.0.1"
Port = Annotated[int, Field(ge=1, le=65535)]
_PREFIX = "COUNTERFLOW_"


class StackSettings(BaseModel):
    """Settings of a stack; `COUNTERFLOW_<FIELD>` in the environment overrides each field.

    A started stack writes its settings to `stack.json` in its home, so that other commands find it whatever its ports.
    """

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

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None, **overrides: Any) -> Self:
        """Read the settings from the environment (default: the process's own); `overrides` other than None win.

        Raises `CounterflowError` naming the variable when a value is invalid.
        """
        environment = os.environ if environment is None else environment
        values: dict[str, Any] = {
            name: environment[_PREFIX + name.upper()]
            for name in cls.model_fields
            if environment.get(_PREFIX + name.upper())
        }
        values |= {name: value for name, value in overrides.items() if value is not None}
        for name in ("home", "parts", "secrets", "tls_certificate", "tls_ca", "counters", "remote_write_token"):
            if name in values:
                values[name] = Path(values[name]).expanduser().absolute()
        if "grafana" in values:
            values["grafana"] = _program(str(values["grafana"]))
        try:
            return cls(**values)
        except ValidationError as error:
            first = error.errors()[0]
            if not first["loc"]:
                hint = "docs/security.md describes how to enable TLS"
                raise CounterflowError(str(first["ctx"]["error"]), hint=hint, exit_code=2) from None
            name = str(first["loc"][0])
            raise CounterflowError(
                f"{_PREFIX}{name.upper()} is {values[name]!r}: {first['msg']}",
                hint=f"set {_PREFIX}{name.upper()}",
                exit_code=2,
            ) from None

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, *, home: Path | None = None) -> Self:
        """Return the settings of the stack running in this home, else those of the environment.

        Raises `CounterflowError` where a stack runs here but the environment names servers elsewhere.
        """
        settings = cls.from_environment(environment, home=home)
        try:
            stack = cls.model_validate_json(settings.stack_file.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return settings
        except ValidationError as error:
            raise CounterflowError(
                f"{settings.stack_file} is not a valid record of a stack: {error.errors()[0]['msg']}",
                hint=f"rm {settings.stack_file}",
                exit_code=2,
            ) from None
        other = {
            _PREFIX + name.upper(): getattr(settings, name)
            for name in settings.elsewhere
            if getattr(settings, name) != getattr(stack, name)
        }
        if other:
            named = " and ".join(f"{variable} names {server}" for variable, server in other.items())
            raise CounterflowError(
                f"{named}, but the stack of {settings.home} runs here",
                hint=f"unset {' '.join(other)} for this stack, or set {_PREFIX}HOME to another folder",
                exit_code=2,
            )
        return stack

    @classmethod
    def running(cls) -> Self:
        """Return the settings of the stack running in this home, or of servers elsewhere.

        Raises `CounterflowError` where neither exists, before any request to a server.
        """
        settings = cls.load()
        if settings.stack_file.exists() or settings.elsewhere:
            return settings
        raise CounterflowError(
            f"no stack is running in {settings.home}",
            hint="counterflow up starts one; counterflow look FILE needs none",
            exit_code=2,
        )

    @classmethod
    def of_a_part(cls) -> Self:
        """Return the settings for a part, which may begin once passwords exist, before the stack counts as running.

        Without passwords, raises `CounterflowError` as `running` does.
        """
        settings = cls.load()
        return settings if settings.secrets.is_dir() else cls.running()

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
        return f"https://{HOST}:{self.flink_port}"

    @property
    def flink_certificate(self) -> Path:
        """PEM file with the key and the certificate of Flink and of its clients (`certificate`)."""
        return self.home / "secrets/flink.pem"

    @property
    def kafka_home(self) -> Path:
        return self.home / "kafka"

    @property
    def clickhouse_home(self) -> Path:
        return self.home / "clickhouse"

    @property
    def grafana_url(self) -> str:
        return f"http://{HOST}:{self.grafana_port}"

    def board_url(
        self,
        uid: str,
        begin: datetime,
        end: datetime | None,
        chosen: Mapping[str, str | Sequence[str]] | None = None,
    ) -> str:
        """Return the address of a board from `begin` to `end`, in whole minutes; without an end, to now.

        `chosen` has the values of its variables.
        """
        since = begin.replace(second=0, microsecond=0)
        until = "now" if end is None else f"{-(-int(end.timestamp()) // 60) * 60 * 1000}"
        shown = {"from": f"{int(since.timestamp()) * 1000}", "to": until}
        values = {f"var-{name}": value for name, value in (chosen or {}).items()}
        return f"{self.grafana_url}/d/{uid}?{urlencode(shown | values, doseq=True)}"

    @property
    def grafana_home(self) -> Path:
        return self.home / "grafana"

    @property
    def flink_home(self) -> Path:
        """Configuration, checkpoints and scratch files of Flink."""
        return self.home / "flink"

    @property
    def flink_checkpoints(self) -> Path:
        """Checkpoints, one folder per job id."""
        return self.flink_home / "checkpoints"

    @property
    def flink_python(self) -> Path:
        """The interpreter that has PyFlink."""
        return self.parts / "flink-venv/bin/python"

    @property
    def flink_distribution(self) -> Path:
        """`FLINK_HOME`, inside the PyFlink package. Raises `CounterflowError` where Flink is not installed."""
        found = sorted((self.parts / "flink-venv/lib").glob("python3*/site-packages/pyflink"))
        if not found:
            raise CounterflowError(f"Flink is not installed in {self.parts}", hint="counterflow up installs it")
        return found[0]

    @property
    def flink_environment(self) -> dict[str, str]:
        """Additional environment variables of Flink's scripts and a driver."""
        return {
            "FLINK_HOME": str(self.flink_distribution),
            "FLINK_CONF_DIR": str(self.flink_home / "conf"),
            "FLINK_LIB_DIR": str(self.parts / "flink-library"),
            **java_environment(self.parts),
        }

    @property
    def elsewhere(self) -> list[str]:
        """The settings that point to servers outside this stack."""
        own = type(self)(**self.model_dump(exclude={"kafka_bootstrap", "clickhouse_url"}))
        return [name for name in ("kafka_bootstrap", "clickhouse_url") if getattr(self, name) != getattr(own, name)]

    @property
    def environment(self) -> dict[str, str]:
        """The environment with which another process can `load` these settings."""
        return {f"{_PREFIX}HOME": str(self.home), f"{_PREFIX}PARTS": str(self.parts)}

    def kafka(self, user: str) -> Kafka:
        """Return the connection of one of Kafka's users (`kafka_users`): SCRAM, over TLS where there is a `tls_ca`."""
        tls = {"ssl.ca.location": str(self.tls_ca)} if self.tls_ca else {}
        return Kafka(
            bootstrap=self.kafka_bootstrap,
            settings={
                "security.protocol": "SASL_SSL" if self.tls_ca else "SASL_PLAINTEXT",
                "sasl.mechanism": "SCRAM-SHA-512",
                "sasl.username": user,
                **tls,
            },
            secrets={"sasl.password": Secret(file=self.secrets / f"kafka-{user}")},
        )

    def clickhouse(self, user: str, *, timeout_s: float = 60.0) -> ClickHouse:
        """Connect to ClickHouse as one of its users (`admin`, `migrator`, `lander`, `reader`).

        Raises `CounterflowError` when its password file is missing.
        """
        return ClickHouse(
            self.clickhouse_url, user, self.clickhouse_password(user), timeout_s=timeout_s, ca=self.tls_ca
        )

    def clickhouse_password(self, user: str) -> str:
        """Return the password of a ClickHouse user, generated at the first start."""
        path = self.secrets / f"clickhouse-{user}"
        try:
            return path.read_text().rstrip("\n")
        except FileNotFoundError:
            raise CounterflowError(f"{path} does not exist", hint="counterflow up generates the passwords") from None


def _program(named: str) -> Path | None:
    """Return the program in COUNTERFLOW_GRAFANA; None for `none`."""
    if named.lower() == "none":
        return None
    if found := shutil.which(Path(named).expanduser()):
        return Path(found).absolute()
    raise CounterflowError(
        f"COUNTERFLOW_GRAFANA is {named!r}, which is not an executable program",
        hint="set it to grafana or grafana-server, or to none to run without Grafana",
        exit_code=2,
    )


def _on_path(*names: str) -> Path | None:
    """Return the first of the programs that is on PATH."""
    return next((Path(found) for name in names if (found := shutil.which(name))), None)
