"""The agent's configuration: one YAML file, every mistake in it named with its line and the way out, all at once."""

from __future__ import annotations

import os
import re
import zoneinfo
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast

import yaml
from confluent_kafka import KafkaException, Producer
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from counterflow.collectors.formats import formats
from counterflow.errors import CounterflowError

AGENT_ID = r"^[A-Za-z0-9._-]{1,120}$"

# What the guarantees rest on, so not to be set from outside.
_OWN = re.compile(
    r"^(metadata\.broker\.list|bootstrap\.servers|transactional\.id|transaction\.timeout\.ms|enable\.idempotence|acks"
    r"|request\.required\.acks|isolation\.level|group\.id|enable\.auto\.commit|max\.in\.flight.*|retries|.*_cb)$"
)
_SECRET = re.compile(r"(password|secret|\.pem$|oauthbearer\.config)")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _raise_all(mistakes: Mapping[Any, str]) -> None:
    """Raise mistakes of the entries of a mapping or list in one error; `check` takes them apart."""
    if mistakes:
        raise PydanticCustomError("entries", "{entries}", {"entries": dict(mistakes)})


def _one_of(kind: str, value: str, known: Iterator[str] | list[str], otherwise: str) -> str:
    names = list(known)
    if value not in names:
        near = get_close_matches(value, names, 1, 0.6)
        raise PydanticCustomError("unknown", "{text}", {"text": f"`{value}` is not {kind}; " + _near(near, otherwise)})
    return value


def _near(near: list[str], otherwise: str) -> str:
    return f"did you mean `{near[0]}`?" if near else otherwise


def _zone(value: str) -> str:
    return _one_of("an IANA time zone", value, sorted(zoneinfo.available_timezones()), "for example `Europe/Berlin`")


def _format(value: str) -> str:
    known = sorted(formats())
    return _one_of("a format", value, known, f"known are {', '.join(known)}; without `format` it is recognised")


class Secret(_Strict):
    """Where a secret is kept: a file, or a variable of the environment. Never the secret itself."""

    file: Path | None = None
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
        CounterflowError : the file is not readable or the variable is not set.
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
                f"{path}: the secret cannot be read: {what}",
                hint="give the user of the agent the right to read it",
                exit_code=2,
            ) from None


class Kafka(_Strict):
    """The broker, and how to prove who we are.

    `settings` are properties of librdkafka handed through as they are; those that hold secrets stand in `secrets`.
    """

    bootstrap: str = Field(min_length=1)
    settings: dict[str, str | int | float | bool] = {}
    secrets: dict[str, Secret] = {}

    @field_validator("settings")
    @classmethod
    def _properties_exist(cls, settings: dict[str, Any]) -> dict[str, Any]:
        _raise_all({name: text for name, value in settings.items() if (text := _property_mistake(name, value))})
        return settings

    @property
    def client(self) -> dict[str, Any]:
        """Connection settings of librdkafka, secrets read.

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
        return f"this is a secret; name its place instead, `secrets: {{{name}: {{file: PATH}}}}` or `{{env: NAME}}`"
    if _OWN.search(name):
        return "is set by the agent, whose guarantees rest on it; remove the line"
    if name.startswith(("ssl.", "sasl.")) and name != "sasl.mechanism":
        return None  # librdkafka judges these together, when it connects
    try:
        Producer({name: value, "log_level": 0})
    except KafkaException as error:
        return f"{error.args[0].str()}; see CONFIGURATION.md of librdkafka"
    return None


class Commit(_Strict):
    """When a transaction is committed: whichever comes first."""

    interval_s: float = Field(default=1.0, gt=0, le=10)
    records: int = Field(default=50_000, ge=1, le=1_000_000)


class Source(_Strict):
    """Files that are read the same way.

    `follow` says that files may grow: their newest snapshot is then taken as whole when nothing was appended for
    `settle_s`. Without it the end of a file is the end of its data.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9._-]+$")
    paths: tuple[Path, ...] = Field(min_length=1)
    format: Annotated[str, AfterValidator(_format)] | None = None
    zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    date_order: Literal["ymd", "mdy", "dmy"] | None = None
    system: str | None = Field(None, min_length=1)
    run: str | None = Field(None, min_length=1)
    follow: bool = True
    settle_s: float = Field(2.0, ge=0, le=3600)


class Config(_Strict):
    """The whole file."""

    agent_id: str = Field(pattern=AGENT_ID)
    kafka: Kafka
    sources: tuple[Source, ...] = Field(min_length=1)
    metrics_port: int | None = Field(None, ge=1, le=65535)
    poll_s: float = Field(0.5, gt=0, le=60)
    commit: Commit = Commit()

    @field_validator("sources")
    @classmethod
    def _names_differ(cls, sources: tuple[Source, ...]) -> tuple[Source, ...]:
        names = [source.name for source in sources]
        text = "another source has this name; it tells sources apart in metrics and logs"
        _raise_all({i: text for i, name in enumerate(names) if name in names[:i]})
        return sources


class Mistake(NamedTuple):
    """One mistake: its line from 1, where it stands in the structure, what is wrong and the way out."""

    line: int
    where: str
    what: str


def load(path: Path) -> Config:
    """Read a configuration; relative paths in it are relative to its folder.

    Raises
    ------
    CounterflowError : names file, line and way out of every mistake; exit code 2.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CounterflowError(
            f"{path}: not UTF-8 at byte {error.start}", hint="save it as UTF-8", exit_code=2
        ) from None
    except OSError as error:
        raise CounterflowError(f"{path}: {error.strerror}", hint="--config names the file", exit_code=2) from None
    found = check(text)
    if isinstance(found, Config):
        return _rooted(found, path.absolute().parent)
    lines = "\n".join(f"{path}:{m.line}: {m.where + ': ' if m.where else ''}{m.what}" for m in sorted(found))
    raise CounterflowError(lines, hint="collectors/agent.example.yaml explains every key", exit_code=2)


def check(text: str) -> Config | list[Mistake]:
    """Return the configuration in `text`, or every mistake in it."""
    try:
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        content = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return [Mistake(mark.line + 1 if mark else 1, "", f"not YAML: {error.problem or error}")]
    except yaml.YAMLError as error:
        return [Mistake(1, "", f"not YAML: {error}")]
    if not isinstance(tree, yaml.MappingNode):
        return [Mistake(1, "", "expected a mapping with `agent_id`, `kafka` and `sources`")]
    mistakes = list(_repeated(tree))
    try:
        config = Config.model_validate(content)
    except ValidationError as error:
        return mistakes + [m for e in error.errors() for m in _mistakes(tree, e)]
    return mistakes or config


def _rooted(config: Config, folder: Path) -> Config:
    sources = tuple(s.model_copy(update={"paths": tuple(folder / p for p in s.paths)}) for s in config.sources)
    secrets = {
        name: s.model_copy(update={"file": folder / s.file}) if s.file else s
        for name, s in config.kafka.secrets.items()
    }
    return config.model_copy(update={"sources": sources, "kafka": config.kafka.model_copy(update={"secrets": secrets})})


def _repeated(node: yaml.Node) -> Iterator[Mistake]:
    if isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for k, v in node.value:
            line = k.start_mark.line + 1
            if k.value in seen:
                yield Mistake(
                    line, str(k.value), f"this key stands already in line {seen[k.value]}; remove one of them"
                )
            seen[k.value] = line
            yield from _repeated(v)
    elif isinstance(node, yaml.SequenceNode):
        for v in node.value:
            yield from _repeated(v)


def _mistakes(tree: yaml.Node, error: Any) -> Iterator[Mistake]:
    place, kind, what = error["loc"], error["type"], error["msg"]
    if kind == "entries":
        for entry, text in error["ctx"]["entries"].items():
            yield _mistake(tree, (*place, entry), text)
    elif kind == "extra_forbidden":
        keys = _keys(place[:-1])
        near = get_close_matches(str(place[-1]), keys, 1, 0.6)
        yield _mistake(tree, place, "unknown key; " + _near(near, f"known are {', '.join(keys)}"))
    elif kind == "missing":
        yield _mistake(tree, place, "is missing")
    elif kind == "string_pattern_mismatch":
        yield _mistake(tree, place, "may hold letters, digits, dot, dash and underscore")
    elif kind == "tuple_type":
        yield _mistake(tree, place, "expected a list: `- ` before each entry")
    elif kind in ("unknown", "secret"):
        yield _mistake(tree, place, what)
    elif not (kind == "too_short" and error["input"]):  # said of a list whose entries are wrong
        found = "" if place[0] == "kafka" else f", found {error['input']!r:.60}"  # may be a secret
        yield _mistake(tree, place, f"{what[0].lower()}{what[1:]}{found}")


def _mistake(tree: yaml.Node, place: tuple[str | int, ...], what: str) -> Mistake:
    return Mistake(_line(tree, place), _dotted(place), what)


def _keys(place: tuple[str | int, ...]) -> list[str]:
    """Return the keys that are known at a place in the structure."""
    match [p for p in place if isinstance(p, str)]:
        case ["kafka"]:
            return list(Kafka.model_fields)
        case ["kafka", "secrets", _]:
            return list(Secret.model_fields)
        case ["sources"]:
            return list(Source.model_fields)
        case ["commit"]:
            return list(Commit.model_fields)
        case _:
            return list(Config.model_fields)


def _line(node: yaml.Node, place: tuple[str | int, ...]) -> int:
    """Return the line of the deepest node along `place` that the text has."""
    line = node.start_mark.line + 1
    for step in place:
        if isinstance(node, yaml.MappingNode):
            pair = next(((k, v) for k, v in node.value if k.value == str(step)), None)
            if pair is None:
                return line
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
    return line


def _dotted(place: tuple[str | int, ...]) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")
