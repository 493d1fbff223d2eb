"""The connection to a Kafka cluster, shared by agent, lander, jobs and commands."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from counterflow.base.errors import CounterflowError
from counterflow.base.strict import Strict

# The guarantees depend on these, so a configuration may not set them.
_OWN = re.compile(
    r"^(metadata\.broker\.list|bootstrap\.servers|transactional\.id|transaction\.timeout\.ms|enable\.idempotence|acks"
    r"|request\.required\.acks|isolation\.level|group\.id|enable\.auto\.commit|max\.in\.flight.*|retries|.*_cb)$"
)
_SECRET = re.compile(r"(password|secret|\.pem$|oauthbearer\.config)")
# Without these librdkafka rejects a valid security.protocol.
_BESIDE: dict[str, dict[str, Any]] = {
    "security.protocol": {"sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "p"}
}


def raise_all(mistakes: Mapping[Any, str]) -> None:
    """Raise all mistakes in the entries of a mapping or list as one error, if there are any."""
    if mistakes:
        raise PydanticCustomError("entries", "{entries}", {"entries": dict(mistakes)})


def _rooted(path: Path, info: ValidationInfo) -> Path:
    folder: Path = (info.context or {}).get("folder", Path())
    return folder / path


Rooted = Annotated[Path, AfterValidator(_rooted)]
"""A path that is relative to the folder of its configuration, which is `folder` of the validation's context."""


class Secret(Strict):
    """Where a secret is kept: a file or an environment variable. Never the secret itself."""

    file: Rooted | None = None
    env: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Secret:
        if (self.file is None) == (self.env is None):
            raise PydanticCustomError("secret", "give either `file: PATH` or `env: NAME`")
        return self

    def read(self) -> str:
        """Return the secret.

        Raises
        ------
        CounterflowError : the file is unreadable or the variable is not set.
        """
        if self.env is not None:
            if (value := os.environ.get(self.env)) is None:
                raise CounterflowError(f"the variable {self.env} is not set", hint=f"export {self.env}=…", exit_code=2)
            return value
        path = cast(Path, self.file)
        try:
            return path.read_text().rstrip("\n")
        except (OSError, UnicodeDecodeError) as error:
            what = getattr(error, "strerror", None) or "not text"
            raise CounterflowError(
                f"{path}: cannot read the secret: {what}",
                hint="give the agent's user read permission",
                exit_code=2,
            ) from None


class Kafka(Strict):
    """The broker, and how to authenticate to it.

    `settings` are properties of librdkafka, passed through unchanged; those that are secrets belong in `secrets`.
    """

    bootstrap: str = Field(min_length=1)
    settings: dict[str, str | int | float | bool] = {}
    secrets: dict[str, Secret] = {}

    @field_validator("settings")
    @classmethod
    def _properties_exist(cls, settings: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        raise_all({name: text for name, value in settings.items() if (text := _property_mistake(name, value))})
        files = {name: str(_rooted(Path(str(v)), info)) for name, v in settings.items() if name.endswith(".location")}
        return settings | files

    @model_validator(mode="after")
    def _can_log_in(self) -> Kafka:
        given = {name for name in (*self.settings, *self.secrets) if name.startswith("sasl.")}
        missing = {"settings": "sasl.username", "secrets": "sasl.password"}
        if not str(self.settings.get("security.protocol", "")).upper().startswith("SASL_"):
            text = "sasl.… has no effect without security.protocol: SASL_PLAINTEXT, or SASL_SSL with TLS"
            raise_all({"settings": text} if given else {})
        elif str(self.settings.get("sasl.mechanism", "")).upper().startswith(("PLAIN", "SCRAM")):
            raise_all({place: f"{name} is missing" for place, name in missing.items() if name not in given})
        return self

    @property
    def described(self) -> dict[str, Any]:
        """The connection as in a configuration file: with the places of secrets, without the secrets."""
        return self.model_dump(mode="json", exclude_none=True)

    @property
    def client(self) -> dict[str, Any]:
        """Connection settings of librdkafka, with the secrets.

        Raises
        ------
        CounterflowError : a secret cannot be read.
        """
        return {
            "bootstrap.servers": self.bootstrap,
            **self.settings,
            **{name: secret.read() for name, secret in self.secrets.items()},
        }


def _property_mistake(name: str, value: Any) -> str | None:
    if _SECRET.search(name):
        return f"this is a secret; give its place instead: `secrets: {{{name}: {{file: PATH}}}}` or `{{env: NAME}}`"
    if _OWN.search(name):
        return "counterflow sets this, its guarantees depend on it; remove the line"
    if name.startswith(("ssl.", "sasl.")) and name != "sasl.mechanism":
        return None  # librdkafka validates these together, when it connects
    from confluent_kafka import KafkaException, Producer

    try:
        Producer({name: value, "log_level": 0, **_BESIDE.get(name, {})})
    except KafkaException as error:
        return f"{error.args[0].str()}; see CONFIGURATION.md of librdkafka"
    return None
