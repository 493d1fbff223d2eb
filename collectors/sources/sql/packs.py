"""Query packs: what is asked of a system and how often, as files that a site can read, copy and change.

`collectors/packs/<pack>.yaml` are ours; a configuration may name files of its own beside them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

FOLDER = Path(__file__).parents[2] / "packs"

SYSTEM_NAME = r"^[A-Z$#@][A-Z0-9_$#@]{0,9}$"
"""A name as the system has it: of a library, a file, a member."""

# Nothing in a pack may change a system; QTEMP is the session's own library and needs none of it.
_QUERY = re.compile(r"\s*(SELECT|WITH|VALUES)\b", re.IGNORECASE)


class PackError(Exception):
    """A pack that cannot be used; the text says which, where and why."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _all_queries(statements: tuple[str, ...]) -> tuple[str, ...]:
    for sql in statements:
        if not _QUERY.match(sql) or ";" in sql:
            raise ValueError("expected one query, SELECT, WITH or VALUES, without a semicolon")
    return statements


class Query(_Strict):
    """A question asked every `interval_s` (left out: that of the pack).

    `table` names the description that its rows are read by. `sql` lists statements: the first that this release knows
    is used. `required` means that a system that has the pack's subject has this: where it is missing, it is asked for
    again at every interval, else once an hour. `baseline` means that its figures are since the preceding call of the
    connection: the first answer only sets the baseline and is not read.
    """

    table: str = Field(pattern=r"^[A-Z][A-Z0-9_]*$")
    sql: tuple[str, ...] = Field(min_length=1)
    interval_s: float | None = Field(None, gt=0)
    required: bool = False
    baseline: bool = False

    @field_validator("sql")
    @classmethod
    def _sql(cls, sql: tuple[str, ...]) -> tuple[str, ...]:
        return _all_queries(sql)


class File(_Strict):
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


class Discovered(_Strict):
    """A column that no publication names: the one of these files whose name, text or heading has all of these words.

    `fills` is the column of the dataset that it is read into.
    """

    fills: str
    files: tuple[str, ...] = Field(min_length=1)
    words: tuple[str, ...] = Field(min_length=1)


class Members(_Strict):
    """Files with a member a collection, read member by member, interval by interval.

    `active` answers with library and name of the collection that is written now. `listings` answer with member names,
    or with file and member: what one does not know, another may; parameter marks stand for the library. `columns`
    answers with the columns of a file, parameter marks stand for library and file. `files` are read in this order.
    """

    active: tuple[str, ...] = Field(min_length=1)
    listings: tuple[str, ...] = Field(min_length=1)
    columns: str
    library: str = Field(pattern=SYSTEM_NAME)
    discover: tuple[Discovered, ...] = ()
    files: tuple[File, ...] = Field(min_length=1)

    @field_validator("active", "listings")
    @classmethod
    def _sql(cls, sql: tuple[str, ...]) -> tuple[str, ...]:
        return _all_queries(sql)

    @field_validator("files", mode="before")
    @classmethod
    def _by_name(cls, files: object) -> object:
        return [{"table": f} if isinstance(f, str) else f for f in files] if isinstance(files, list) else files


class Pack(_Strict):
    """One file: questions that belong together.

    `when: verdict` means that `queries` are asked only while a rule has raised a verdict on the system.
    """

    pack: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    text: str
    interval_s: float = Field(gt=0)
    when: Literal["verdict"] | None = None
    queries: tuple[Query, ...] = ()
    members: Members | None = None

    @property
    def tables(self) -> list[str]:
        """Every table that it asks for."""
        files = self.members.files if self.members else ()
        return [query.table for query in self.queries] + [part for file in files for part in file.parts]


def names() -> list[str]:
    """Return the names of our packs, sorted."""
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
