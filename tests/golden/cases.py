"""Golden cases: `<format>/<case>/{input*, expected.jsonl}`, and `<format>/context.yaml`.

`expected.jsonl` has a line for each item of the input: a record as `dataset` and `fields`, a reject by its `reason`.
The rows of one frame are in order, and so are the rejects. A case that yields nothing has no such file.

`context.yaml` is the context of every case of the format: `zone`, and where they matter `system`, `date_order`,
`at`, `complete`, `columns`, and `input`, the file to read where there are several. `cases` has the differences
of single cases by their names; null removes a value.

Cases of `unrecognised` are files that no format reads: each yields a reject with the advice.
"""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import orjson
import yaml

from counterflow.collectors.formats import formats
from counterflow.collectors.reading import HEAD_BYTES, beside, read_file
from counterflow.collectors.records import Context, Item, Record, Reject, singly
from counterflow.collectors.sources.wrapped import contents, wrapping

FOLDER = Path(__file__).parent
UNRECOGNISED = "unrecognised"


class Case(NamedTuple):
    """One folder."""

    folder: Path

    @property
    def name(self) -> str:
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def given(self) -> dict[str, Any]:
        given = yaml.safe_load((self.folder.parent / "context.yaml").read_text(encoding="utf-8"))
        given |= given.pop("cases", {}).get(self.folder.name, {})
        return {name: value for name, value in given.items() if value is not None}

    @property
    def file(self) -> Path:
        return self.folder / "expected.jsonl"

    @property
    def expected(self) -> str:
        """Return what is expected; empty when there is no file."""
        return self.file.read_text(encoding="utf-8") if self.file.exists() else ""

    @property
    def input(self) -> Path:
        (path,) = self.folder.glob(self.given.get("input", "input*"))
        return path

    def found(self) -> str:
        """Parse the input; return the records and rejects, a line each."""
        if self.folder.parent.name == UNRECOGNISED:
            return _lines([item for item in read_file(self.input, UTC) if isinstance(item, Record | Reject)])
        given = self.given
        context = Context(
            file=self.input.name,
            zone=ZoneInfo(given["zone"]),
            system=given.get("system"),
            complete=given.get("complete", True),
            date_order=given.get("date_order"),
            at=given.get("at"),
            columns=given.get("columns", {}),
            beside=beside(self.input),
        )
        form = formats()[self.folder.parent.name]
        items: list[Item] = []
        with self.input.open("rb") as raw:
            wrapped = wrapping(raw.read(HEAD_BYTES)) is not None
            for _, stream, fault in contents(raw) if wrapped else [("", raw, None)]:
                items += [fault] if fault else []
                if stream is not None:
                    with stream:
                        items += form.parse(stream, context)
        return _lines([item for item in singly(items) if isinstance(item, Record | Reject)])


def cases() -> list[Case]:
    """Return all cases of all formats."""
    return [Case(path) for path in sorted(FOLDER.glob("*/*/")) if path.name != "__pycache__"]


def frames(lines: str) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Group rows, in order, by what the rows of one frame share; rejects are under the empty key."""
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for line in lines.split("\n")[:-1]:
        row = orjson.loads(line)
        fields = row.get("fields")
        key = fields and (row["dataset"], *map(fields.get, ("system", "source", "boot_id", "ts", "interval_s")))
        found.setdefault(key or (), []).append(row)
    return found


def _lines(items: list[Record | Reject]) -> str:
    return "".join(orjson.dumps(_row(item)).decode() + "\n" for item in items)


def _row(item: Record | Reject) -> dict[str, Any]:
    if isinstance(item, Record):
        return {"dataset": item.dataset, "fields": item.fields}  # manifest has a column `dataset`
    fields = {name: getattr(item, name) for name in item.__dataclass_fields__}
    fields["raw"] = item.raw.decode("latin-1")  # every byte is one character
    return {name: value for name, value in fields.items() if value not in (None, "")}
