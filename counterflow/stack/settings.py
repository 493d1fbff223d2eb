"""Settings of the one-machine stack: how they are read, and the connections that they give."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Kafka, Secret
from counterflow.stack.places import HOST, Places

__all__ = ["HOST", "StackSettings"]

_PREFIX = "COUNTERFLOW_"


class StackSettings(Places):
    """Settings of a stack; `COUNTERFLOW_<FIELD>` in the environment overrides each field.

    A started stack writes its settings to `stack.json` in its home, so that other commands find it whatever its ports.
    """

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
