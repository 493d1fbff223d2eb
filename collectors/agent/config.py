"""The agent's configuration: one YAML file; all mistakes in it are reported at once, each with line and way out."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    Discriminator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Kafka, Rooted, Secret, raise_all
from counterflow.base.loopback import is_loopback
from counterflow.base.strict import Strict
from counterflow.collectors.formats import formats
from counterflow.collectors.formats.ibmi_tables.description import description, tables
from counterflow.collectors.sources.http.reports import REPORTS
from counterflow.collectors.sources.http.session import HttpTarget
from counterflow.collectors.sources.sql.drivers import DRIVERS, SqlTarget
from counterflow.collectors.sources.sql.packs import SYSTEM_NAME, PackError, is_path, names
from counterflow.collectors.sources.sql.packs import load as load_pack
from counterflow.collectors.yaml_lines import did_you_mean, dotted, line_of, not_known, repeated
from counterflow.schemas.definition import datasets

AGENT_ID = r"^[A-Za-z0-9._-]{1,120}$"
NAME = r"^[A-Za-z0-9._-]+$"
TOPIC = r"^[A-Za-z0-9._-]{1,249}$"

_CREDENTIAL = re.compile(r"^(pwd|uid|user( id)?|system|host)$|passw", re.IGNORECASE)


def _one_of(kind: str, value: str, known: Iterator[str] | list[str], otherwise: str) -> str:
    names = list(known)
    if value not in names:
        near = get_close_matches(value, names, 1, 0.6)
        raise PydanticCustomError(
            "unknown", "{text}", {"text": f"`{value}` is not {kind}; " + did_you_mean(near, otherwise)}
        )
    return value


def _zone(value: str) -> str:
    with suppress(ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):  # listing all zones takes 50 ms
        zoneinfo.ZoneInfo(value)
        return value
    return _one_of("an IANA time zone", value, sorted(zoneinfo.available_timezones()), "for example `Europe/Berlin`")


def _format(value: str) -> str:
    known = sorted(formats())
    return _one_of("a format", value, known, f"known are {', '.join(known)}; without `format` it is recognised")


def _driver(value: str) -> str:
    return _one_of("a driver", value, sorted(DRIVERS), f"known are {', '.join(sorted(DRIVERS))}")


def _url(value: str) -> str:
    import httpx

    try:
        url = httpx.URL(value)
        extra = url.userinfo or url.query or url.fragment
        is_plain = url.scheme in ("http", "https") and bool(url.host) and not extra
    except httpx.InvalidURL:
        is_plain = False
    if not is_plain:
        text = "expected `https://HOST:PORT`; user and password have keys of their own"
        raise PydanticCustomError("unknown", "{text}", {"text": text})
    return value


def _columns(columns: dict[str, str]) -> dict[str, str]:
    known = {name for d in datasets().values() if d.role == "counter" for name in d.columns}
    text = "is a column of no dataset; docs/data-dictionary.md has them all"
    raise_all({name: text for name in columns if name not in known})
    return columns


class Commit(Strict):
    """When a transaction is committed: whichever comes first."""

    interval_s: float = Field(default=1.0, gt=0, le=10)
    records: int = Field(default=200_000, ge=1, le=1_000_000)


class _OfSeveral(Strict):
    """A source whose data may come from several systems; the data name them."""

    name: str = Field(pattern=NAME)
    zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    system: str | None = Field(default=None, min_length=1)
    run: str | None = Field(default=None, min_length=1)


class Source(_OfSeveral):
    """Files that are read the same way.

    With `follow`, files may grow: the newest snapshot counts as complete once nothing was appended for `settle_s`.
    Without it the end of a file is the end of its data. `columns` maps columns of datasets to those of a table, where
    neither a publication nor the file itself names them.
    """

    kind: Literal["files"] = "files"
    paths: tuple[Rooted, ...] = Field(min_length=1)
    format: Annotated[str, AfterValidator(_format)] | None = None
    date_order: Literal["ymd", "mdy", "dmy"] | None = None
    at: datetime | None = None
    columns: Annotated[dict[str, str], AfterValidator(_columns)] = Field(default={})
    follow: bool = True
    settle_s: float = Field(2.0, ge=0, le=3600)


class SqlConnection(SqlTarget):
    """A system to connect to, the driver to use, and where the password is kept."""

    driver: Annotated[str, AfterValidator(_driver)]
    password: Secret

    @field_validator("properties")
    @classmethod
    def _no_secrets(cls, properties: dict[str, Any]) -> dict[str, Any]:
        text = "is not a property; the connection has keys of its own for host, user and password"
        raise_all({name: text for name in properties if _CREDENTIAL.search(name)})
        return properties

    @model_validator(mode="after")
    def _of_the_driver(self) -> SqlConnection:
        if self.driver == "odbc":
            text = "is for mapepire; the ODBC driver keeps ports and trust in its own configuration"
            raise_all({name: text for name in ("port", "ca", "verify") if name in self.model_fields_set})
        return self


class _Polled(Strict):
    """A system that is queried over one open connection; `labels` become `config` records of it."""

    name: str = Field(pattern=NAME)
    system: str = Field(min_length=1)
    zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    run: str | None = Field(default=None, min_length=1)
    labels: dict[str, str] = Field(default={})


class SqlSource(_Polled):
    """A system that is queried over SQL.

    `packs` are names of built-in packs or files; `intervals` override theirs, by pack or table. `library` is the one
    whose collections are read (default: that of the active collection). `columns` maps columns of datasets to those of
    its tables, where no publication names them. `verdicts` is the address of the metrics of `counterflow dev
    verdicts`: a pack that waits for a verdict, such as `culprit`, is queried only while these show one on the system.
    """

    kind: Literal["sql"]
    connection: SqlConnection
    packs: Annotated[tuple[str, ...], Field(min_length=1)]
    intervals: dict[str, Annotated[float, Field(gt=0, le=86_400)]] = Field(default={})
    library: str | None = Field(default=None, pattern=SYSTEM_NAME)
    columns: Annotated[dict[str, str], AfterValidator(_columns)] = Field(default={})
    verdicts: Annotated[str, AfterValidator(_url)] | None = None

    @field_validator("packs")
    @classmethod
    def _are_packs(cls, chosen: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        folder = (info.context or {}).get("folder", Path())
        chosen = tuple(str(folder / name) if is_path(name) else name for name in chosen)
        mistakes, queried_by = {}, dict[str, str]()
        for place, name in enumerate(chosen):
            try:
                if not is_path(name):
                    _one_of(
                        "a pack", name, names(), f"known are {', '.join(names())}, or a file with a slash in its name"
                    )
                for table in load_pack(name).tables:
                    if is_path(name) and description(table) is None:
                        mistakes[place] = f"{name}: {table} is not described; known are {', '.join(tables())}"
                    if queried_by.setdefault(table, name) != name or name in chosen[:place]:
                        mistakes[place] = f"queries {table}, as `{queried_by[table]}` does; each table is queried once"
            except (PackError, PydanticCustomError) as error:
                mistakes[place] = str(error)
        if not mistakes:
            mistakes = {
                place: "needs a source of its own, since its queries would delay those of the other packs"
                for place, name in enumerate(chosen)
                if len(chosen) > 1 and load_pack(name).alone
            }
        raise_all(mistakes)
        return chosen

    @field_validator("intervals")
    @classmethod
    def _are_polled(cls, intervals: dict[str, float], info: ValidationInfo) -> dict[str, float]:
        packs = [load_pack(name) for name in info.data.get("packs", ())]
        known = sorted({pack.pack for pack in packs} | {query.table for pack in packs for query in pack.queries})
        text = f"is no pack of this source and no table that it queries; known are {', '.join(known)}"
        raise_all({name: text for name in intervals if known and name not in known})
        return intervals

    @model_validator(mode="after")
    def _knows_verdicts(self) -> SqlSource:
        waiting = [pack.pack for pack in map(load_pack, self.packs) if pack.when]
        text = f"is needed by {', '.join(waiting)}: for example `verdicts: http://127.0.0.1:19096/metrics`"
        raise_all({"verdicts": text} if waiting and self.verdicts is None else {})
        return self


def _again(values: tuple[str, ...]) -> dict[int, str]:
    return {place: "is listed already" for place, value in enumerate(values) if value in values[:place]}


def _not_ours(topics: tuple[str, ...]) -> tuple[str, ...]:
    ours = "is a topic of counterflow itself, which holds what was read already"
    raise_all({i: ours for i, topic in enumerate(topics) if topic.startswith("counterflow.")} | _again(topics))
    return topics


class KafkaSource(_OfSeveral):
    """Topics of other products, with lines that `format` reads.

    `connection` is their cluster; default: that of the agent. `columns` maps columns of datasets to fields of the
    lines, where the format leaves this to the site.
    """

    kind: Literal["kafka"]
    connection: Kafka | None = None
    topics: Annotated[tuple[Annotated[str, Field(pattern=TOPIC)], ...], Field(min_length=1), AfterValidator(_not_ours)]
    format: Annotated[str, AfterValidator(_format)] = "omegamon_jsonl"
    columns: Annotated[dict[str, str], AfterValidator(_columns)] = Field(default={})


class ListenSource(_OfSeveral):
    """Recorders that send by themselves: njmon and nimon, to an address that the agent listens on.

    They encrypt nothing, so this is an address of this machine, behind a relay that terminates TLS; `in_clear` accepts
    senders of other machines as they are.
    """

    kind: Literal["listen"]
    address: Annotated[str, Field(pattern=r"^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\]):\d{1,5}$")] = "127.0.0.1:8181"
    in_clear: bool = False

    @property
    def at(self) -> tuple[str, int]:
        """Host and port."""
        host, _, port = self.address.rpartition(":")
        return host.strip("[]"), int(port)

    @model_validator(mode="after")
    def _is_of_this_machine(self) -> ListenSource:
        text = "others could read and send along: use 127.0.0.1 behind a relay that terminates TLS, or `in_clear: true`"
        raise_all({} if self.in_clear or is_loopback(self.at[0]) else {"address": text})
        raise_all({} if 0 < self.at[1] < 65536 else {"address": "expected a port from 1 to 65535"})
        return self


class HttpConnection(HttpTarget):
    """A server, such as RMF's Distributed Data Server (DDS), and where the password is kept."""

    url: Annotated[str, AfterValidator(_url)]
    password: Secret | None = None

    @model_validator(mode="after")
    def _keeps_the_password(self) -> HttpConnection:
        if (self.user is None) != (self.password is None):
            there, missing = ("password", "user") if self.user is None else ("user", "password")
            raise_all({there: f"needs `{missing}` beside it"})
        if self.user is not None and not self.url.startswith("https:"):
            raise_all({"url": "would send the password for everybody to read; use https:, or leave the user out"})
        raise_all({"key": "needs `certificate` beside it"} if self.key and not self.certificate else {})
        return self


class ScrapeConnection(HttpConnection):
    """An endpoint that exposes metrics, `url` with its path, and where the password or the token is kept."""

    token: Secret | None = None

    @model_validator(mode="after")
    def _has_one_secret(self) -> ScrapeConnection:
        raise_all({"token": "is sent instead of `user` and `password`"} if self.token and self.user else {})
        if self.token is not None and not self.url.startswith("https:"):
            raise_all({"url": "would send the token for everybody to read; use https:"})
        return self

    @property
    def secret(self) -> Secret | None:
        return self.token or self.password

    def headers(self, secret: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {secret}"} if self.token else super().headers(secret)


class OpenMetricsSource(_Polled):
    """A target that is scraped: an endpoint with metrics of the system `system`; `name` is the section of its rows.

    `parameters` are those of the request. A scrape takes no longer than `timeout_s`.
    """

    kind: Literal["openmetrics"]
    connection: ScrapeConnection
    parameters: dict[str, str] = Field(default={})
    interval_s: float = Field(default=15.0, ge=1, le=3600)
    timeout_s: float = Field(default=10.0, gt=0, le=300)

    @model_validator(mode="after")
    def _ends_within_the_interval(self) -> OpenMetricsSource:
        raise_all({"timeout_s": "is longer than `interval_s`"} if self.timeout_s > self.interval_s else {})
        return self


class HttpSource(_Polled):
    """A z/OS system whose RMF reports are requested; `system` is its name in the sysplex.

    `interval_s` is the Monitor III interval (default: the DDS's own).
    """

    kind: Literal["http"]
    connection: HttpConnection
    reports: Annotated[tuple[str, ...], Field(min_length=1)] = ("SYSINFO", "PROCU")
    interval_s: float | None = Field(default=None, gt=0, le=3600)

    @field_validator("reports")
    @classmethod
    def _are_reports(cls, chosen: tuple[str, ...]) -> tuple[str, ...]:
        text = f"is not a report that is read; known are {', '.join(REPORTS)}"
        raise_all({place: text for place, name in enumerate(chosen) if name not in REPORTS} | _again(chosen))
        return chosen


System = SqlSource | HttpSource | OpenMetricsSource | KafkaSource | ListenSource
"""A source that is queried or sends by itself, of any kind."""

_KINDS: dict[str, type[BaseModel]] = {
    get_args(model.model_fields["kind"].annotation)[0]: model for model in (Source, *get_args(System))
}

AnySource = Annotated[Source | System, Discriminator("kind")]


class SpoolFolder(Strict):
    """Where answers of systems wait until they are committed; those of one source take at most `max_mb`."""

    path: Rooted
    max_mb: float = Field(256, gt=0)


class Config(Strict):
    """The whole file."""

    agent_id: str = Field(pattern=AGENT_ID)
    kafka: Kafka
    sources: tuple[AnySource, ...] = Field(min_length=1)
    metrics_port: int | None = Field(default=None, ge=1, le=65535)
    poll_s: float = Field(0.5, gt=0, le=60)
    commit: Commit = Commit()
    spool: SpoolFolder | None = None

    @field_validator("sources", mode="before")
    @classmethod
    def _are_files_by_default(cls, sources: Any) -> Any:
        if not isinstance(sources, list):
            return sources
        return [{"kind": "files", **source} if isinstance(source, dict) else source for source in sources]

    @field_validator("sources")
    @classmethod
    def _names_differ(cls, sources: tuple[AnySource, ...]) -> tuple[AnySource, ...]:
        names = [source.name for source in sources]
        text = "another source has this name; names distinguish sources in metrics and logs"
        raise_all({i: text for i, name in enumerate(names) if name in names[:i]})
        return sources

    @field_validator("sources")
    @classmethod
    def _read_of_own_broker(cls, sources: tuple[AnySource, ...], info: ValidationInfo) -> tuple[AnySource, ...]:
        """A source of topics without a connection reads those of the agent's own broker."""
        own = {"connection": info.data.get("kafka")}
        is_own = [isinstance(source, KafkaSource) and source.connection is None for source in sources]
        return tuple(s.model_copy(update=own) if own_one else s for s, own_one in zip(sources, is_own, strict=True))

    @property
    def files(self) -> tuple[Source, ...]:
        return tuple(source for source in self.sources if isinstance(source, Source))

    @property
    def systems(self) -> tuple[System, ...]:
        return tuple(source for source in self.sources if isinstance(source, System))


class Mistake(NamedTuple):
    """One mistake: its line from 1, its place in the structure, what is wrong and the way out."""

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
        hint = "collectors/agent.example.yaml is one to begin with; `up` writes one for its stack"
        raise CounterflowError(f"{path}: {error.strerror}", hint=hint, exit_code=2) from None
    folder = path.absolute().parent
    found = check(text, folder)
    if isinstance(found, Config):
        return found
    lines = "\n".join(f"{path}:{m.line}: {m.where + ': ' if m.where else ''}{m.what}" for m in sorted(found))
    raise CounterflowError(lines, hint="collectors/agent.example.yaml explains every key", exit_code=2)


def check(text: str, folder: Path = Path()) -> Config | list[Mistake]:
    """Return the configuration in `text`, or every mistake in it; paths are relative to `folder`."""
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
    mistakes = [Mistake(key.start_mark.line + 1, str(key.value), what) for key, what in repeated(tree)]
    try:
        config = Config.model_validate(content, context={"folder": folder})
    except ValidationError as error:
        return mistakes + [m for e in error.errors() for m in _mistakes(tree, e)]
    return mistakes or config


def _mistakes(tree: yaml.Node, error: Any) -> Iterator[Mistake]:
    place, kind, what = error["loc"], error["type"], error["msg"]
    keys = _keys(place[:-1])
    if place[0] == "sources":
        place = (*place[:2], *place[3:])  # without the tag of the kind
    if kind == "entries":
        for entry, text in error["ctx"]["entries"].items():
            yield _mistake(tree, (*place, entry), text)
    elif kind == "extra_forbidden":
        yield _mistake(tree, place, not_known(str(place[-1]), keys))
    elif kind == "missing":
        yield _mistake(tree, place, "is missing")
    elif kind == "string_pattern_mismatch":
        is_library = place[-1] == "library"
        what = (
            "expected up to 10 of A-Z, 0-9, _, $, #, @"
            if is_library
            else "may hold letters, digits, dot, dash and underscore"
        )
        yield _mistake(tree, place, what)
    elif kind == "tuple_type":
        yield _mistake(tree, place, "expected a list: `- ` before each entry")
    elif kind == "union_tag_invalid":
        yield _mistake(tree, (*place, "kind"), f"expected one of {', '.join(_KINDS)}")
    elif kind in ("unknown", "secret"):
        yield _mistake(tree, place, what)
    elif not (kind == "too_short" and error["input"]):  # a list whose entries are wrong counts as too short
        found = (
            "" if place[0] == "kafka" or "connection" in place else f", found {error['input']!r:.60}"
        )  # may be a secret
        yield _mistake(tree, place, f"{what[0].lower()}{what[1:]}{found}")


def _mistake(tree: yaml.Node, place: tuple[str | int, ...], what: str) -> Mistake:
    return Mistake(line_of(tree, place), dotted(place), what)


def _keys(place: tuple[str | int, ...]) -> list[str]:
    """Return the keys that are known at a place in the structure."""
    model: type[BaseModel] = Config
    for step in place:
        if model is Source:  # the first of the kinds of sources
            model = _KINDS.get(str(step), model)
        elif step in model.model_fields:
            model = _model_in(model.model_fields[str(step)].annotation) or model
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the first model in the type of a field."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := _model_in(part))), None)
