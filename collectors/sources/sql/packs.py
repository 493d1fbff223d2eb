"""Query packs: the queries that a system is sent, and how often, as files that a site can read, copy and change.

`collectors/packs/<pack>.yaml` are built in; a configuration may name files of its own beside them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field, ValidationError, field_validator

from counterflow.base.strict import Strict

FOLDER = Path(__file__).parents[2] / "packs"

SYSTEM_NAME = r"^[A-Z$#@][A-Z0-9_$#@]{0,9}$"
"""A name on the system: of a library, a file or a member."""

# No statement of a pack may change a system; what is made in QTEMP, the session's own library, comes from no pack.
_QUERY = re.compile(r"\s*(SELECT|WITH|VALUES)\b", re.IGNORECASE)


class PackError(Exception):
    """A pack that cannot be used; the text names the pack, the place and the reason."""


def _all_queries(statements: tuple[str, ...]) -> tuple[str, ...]:
    for sql in statements:
        if not _QUERY.match(sql) or ";" in sql:
            raise ValueError("expected one query, SELECT, WITH or VALUES, without a semicolon")
    return statements


class PackQuery(Strict):
    """A query sent every `interval_s` (left out: that of the pack).

    `table` names the description by which its rows are read. `sql` lists statements: the first that this release knows
    is used. `required` means that every system with the pack's subject has this table: where it is missing, it is
    queried again at every interval, else once an hour. `baseline` means that its figures are since the preceding call
    of the connection: the first answer only sets the baseline and is not read. A query that takes longer than
    `timeout_s` (left out: that of the pack) is cancelled. `needs` are the authorities that the user must have.
    """

    table: str = Field(pattern=r"^[A-Z][A-Z0-9_]*$")
    sql: tuple[str, ...] = Field(min_length=1)
    interval_s: float | None = Field(None, gt=0)
    required: bool = False
    baseline: bool = False
    timeout_s: float | None = Field(None, gt=0)
    needs: str = ""

    @field_validator("sql")
    @classmethod
    def _sql(cls, sql: tuple[str, ...]) -> tuple[str, ...]:
        return _all_queries(sql)


class PhysicalFile(Strict):
    """One file, or the files in `join` put side by side where the columns `by` agree; `table` describes the rows.

    Where a system lacks all but one file of a join, that one is read by its own name.
    """

    table: str = Field(pattern=SYSTEM_NAME)
    join: tuple[Annotated[str, Field(pattern=SYSTEM_NAME)], ...] = ()
    by: tuple[Annotated[str, Field(pattern=SYSTEM_NAME)], ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The files that rows are read from."""
        return self.join or (self.table,)


class Discovered(Strict):
    """A column that no publication names: the one in these files whose name, text or heading has all of these words.

    `fills` is the column of the dataset that it is read into.
    """

    fills: str
    files: tuple[str, ...] = Field(min_length=1)
    words: tuple[str, ...] = Field(min_length=1)


class Members(Strict):
    """Files with one member per collection, read member by member, interval by interval.

    `active` returns library and name of the collection that is written now. `listings` return member names, or file and
    member: one may know what another does not; parameter marks stand for the library. `columns` returns the columns of
    a file; its parameter marks stand for library and file. `files` are read in this order.
    """

    active: tuple[str, ...] = Field(min_length=1)
    listings: tuple[str, ...] = Field(min_length=1)
    columns: str
    library: str = Field(pattern=SYSTEM_NAME)
    discover: tuple[Discovered, ...] = ()
    files: tuple[PhysicalFile, ...] = Field(min_length=1)

    @field_validator("active", "listings")
    @classmethod
    def _sql(cls, sql: tuple[str, ...]) -> tuple[str, ...]:
        return _all_queries(sql)

    @field_validator("files", mode="before")
    @classmethod
    def _by_name(cls, files: object) -> object:
        return [{"table": f} if isinstance(f, str) else f for f in files] if isinstance(files, list) else files


class Pack(Strict):
    """One file: queries that belong together.

    `when: verdict` means that `queries` are sent only while a rule has raised a verdict on the system. `alone` means
    that a source has no pack beside it: a source is a connection and a thread, so its queries delay no others.
    """

    pack: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    text: str
    interval_s: float = Field(gt=0)
    when: Literal["verdict"] | None = None
    alone: bool = False
    timeout_s: float | None = Field(None, gt=0)
    queries: tuple[PackQuery, ...] = ()
    members: Members | None = None

    @property
    def tables(self) -> list[str]:
        """Every table that it queries."""
        files = self.members.files if self.members else ()
        return [query.table for query in self.queries] + [part for file in files for part in file.parts]


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def is_path(name: str) -> bool:
    """Return whether a name in a configuration is that of a file."""
    return "/" in name or name.endswith((".yaml", ".yml"))


def load(name: str) -> Pack:
    """Return the pack of that name, or in that file.

    Raises
    ------
    PackError : the file cannot be read, or is no pack.
    """
    path = Path(name) if is_path(name) else FOLDER / f"{name}.yaml"
    try:
        return Pack.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise PackError(f"{path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PackError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        found = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise PackError(f"{path}: {found}") from None
