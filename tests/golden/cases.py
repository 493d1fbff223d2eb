"""Golden cases: `<format>/<case>/{input*, context.yaml, expected.jsonl, rejects.jsonl}`.

`<format>/context.yaml` is the context of every case of the format: `zone`, and where they matter `system`, `date_order`
and `complete`. A case that differs has a `context.yaml` with its differences; null takes a value away. A case without
`expected.jsonl` expects no records, one without `rejects.jsonl` no rejects.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import orjson
import yaml

from counterflow.collectors.formats import formats
from counterflow.collectors.reading import beside
from counterflow.collectors.records import Context, Record, Reject

FOLDER = Path(__file__).parent


class Case(NamedTuple):
    """One folder."""

    folder: Path

    @property
    def name(self) -> str:
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def given(self) -> dict[str, Any]:
        given = {**_context(self.folder.parent), **_context(self.folder)}
        return {name: value for name, value in given.items() if value is not None}

    def expected(self, name: str) -> str:
        """Return what the file `name` holds, nothing where there is none."""
        file = self.folder / name
        return file.read_text(encoding="utf-8") if file.exists() else ""

    @property
    def input(self) -> Path:
        (path,) = self.folder.glob(self.given.get("input", "input*"))
        return path

    def results(self) -> dict[str, str]:
        """Parse the input; return the content of the files that hold what came out."""
        given = self.given
        context = Context(
            file=self.input.name,
            zone=ZoneInfo(given["zone"]),
            system=given.get("system"),
            complete=given.get("complete", True),
            date_order=given.get("date_order"),
            columns=given.get("columns", {}),
            beside=beside(self.input),
        )
        records, rejects = [], []
        with self.input.open("rb") as stream:
            for item in formats()[self.folder.parent.name].parse(stream, context):
                if isinstance(item, Record):
                    records.append({"dataset": item.dataset, "fields": item.fields})  # manifest has a column `dataset`
                elif isinstance(item, Reject):
                    rejects.append(_reject(item))
        return {"expected.jsonl": _lines(records), "rejects.jsonl": _lines(rejects)}


def cases() -> list[Case]:
    """All cases of all formats."""
    return [Case(path) for path in sorted(FOLDER.glob("*/*/")) if path.name != "__pycache__"]


def _context(folder: Path) -> dict[str, Any]:
    file = folder / "context.yaml"
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def _reject(reject: Reject) -> dict[str, Any]:
    fields = {name: getattr(reject, name) for name in reject.__dataclass_fields__}
    fields["raw"] = reject.raw.decode("latin-1")  # every byte is one character
    return {name: value for name, value in fields.items() if value not in (None, "")}


def _lines(rows: list[dict[str, Any]]) -> str:
    return "".join(orjson.dumps(row).decode() + "\n" for row in rows)
