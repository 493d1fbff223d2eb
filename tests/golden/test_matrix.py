"""Each format is read in each encoding and notation of tables, or answered with advice: docs/formats/index.md."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner

from counterflow.cli import cli
from counterflow.collectors.formats import formats
from counterflow.collectors.records import Record, Reject
from docs.generators.formats import examples
from tests.golden.cases import Case, golden
from tests.support.packed import zipped
from tests.support.reading import read_file


def cell(format: str, dress: Callable[[bytes], bytes]) -> str:
    """Return `read` where a dress yields the records of the case, `advice` where a reject with advice alone."""
    case = golden(f"{format}/{examples()[format].example}")
    plain, dressed = _items(case, bytes), _items(case, dress)
    records = [item for item in dressed if isinstance(item, Record)]
    if records == [item for item in plain if isinstance(item, Record)]:
        return "read"
    assert not records, f"{records[:3]} instead of {plain[:3]}"
    assert any(isinstance(item, Reject) and len(item.detail) > 20 for item in dressed), dressed
    return "advice"


def _items(case: Case, dress: Callable[[bytes], bytes]) -> list[Record | Reject]:
    given = case.given
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, case.input_name)
        file.write_bytes(dress(case.input))
        items = read_file(file, ZoneInfo(given["zone"]), given.get("system"), given.get("date_order"))
        return [item for item in items if isinstance(item, Record | Reject)]


def _text(content: bytes) -> str:
    return content.decode("utf-8-sig").replace("\r\n", "\n")


def _rows(content: bytes) -> list[list[str]]:
    text = _text(content)
    between = max(",;\t", key=text.split("\n", 1)[0].count)
    return [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text), delimiter=between) if row]


def _typed(value: str) -> Any:
    """Return a value as exports type it: a number, unless the number would print as another text."""
    return float(value) if re.fullmatch(r"-?(?:0|[1-9]\d{0,14})\.\d*[1-9]|0|-?[1-9]\d{0,14}", value) else value


def _separated(content: bytes, between: str, comma: bool = False) -> bytes:
    rows = _rows(content)
    if comma:
        rows = [[re.sub(r"^(-?\d+)\.(\d+)$", r"\1,\2", value) for value in row] for row in rows]
    return "".join(between.join(row) + "\r\n" for row in rows).encode()


def _objects(content: bytes) -> list[dict[str, Any]]:
    names, *rows = _rows(content)
    return [{name: None if v == "" else _typed(v) for name, v in zip(names, row, strict=True)} for row in rows]


def _xlsx(content: bytes) -> bytes:
    """Return an Office Open XML workbook with one sheet."""

    def cell(value: str) -> str:
        typed = _typed(value)
        if isinstance(typed, float):
            return f"<c><v>{typed!r}</v></c>"
        return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'

    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    rows = "".join("<row>" + "".join(map(cell, row)) + "</row>" for row in _rows(content))
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sheet.xml" ContentType="{kinds}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="a" Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relations}"><sheets>'
        '<sheet name="Sheet1" sheetId="1" r:id="a"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="a" Type="{relations}/worksheet" Target="sheet.xml"/></Relationships>',
        "xl/sheet.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>',
    }
    return zipped(*parts.items())


_ANY: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "UTF-8 with mark": lambda content: _text(content).encode("utf-8-sig"),
    "UTF-16": lambda content: _text(content).encode("utf-16"),
    "UTF-16 without mark": lambda content: _text(content).encode("utf-16-le"),
    "UTF-32": lambda content: _text(content).encode("utf-32"),
    "CRLF": lambda content: _text(content).replace("\n", "\r\n").encode(),
    "EBCDIC 37": lambda content: _text(content).encode("cp037", "replace"),
    "EBCDIC 273": lambda content: _text(content).encode("cp273", "replace"),
}
_TABLE: dict[str, Callable[[bytes], bytes]] = {
    "; and decimal comma": lambda content: _separated(content, ";", comma=True),
    "tab": lambda content: _separated(content, "\t"),
    "JSON array": lambda content: json.dumps(_objects(content), indent=1).encode(),
    "JSON lines": lambda content: "".join(json.dumps(row) + "\n" for row in _objects(content)).encode(),
    "XLSX": _xlsx,
}


def test_every_format_has_an_example() -> None:
    assert examples().keys() == formats().keys()


def test_every_format_is_listed_with_what_it_reads() -> None:
    listed = CliRunner().invoke(cli, ["look", "--formats"], catch_exceptions=False).output.splitlines()
    named = dict(line.split(maxsplit=1) for line in listed if not line.startswith(" "))
    assert named.keys() == formats().keys()
    assert named["nmon"].strip() == "nmon recordings of AIX, VIOS and Linux."
    assert "docs/" not in "".join(listed)


@pytest.mark.parametrize("format", formats())
def test_each_dress_is_read_or_answered_with_advice(format: str) -> None:
    dresses = _ANY | (_TABLE if examples()[format].table else {})
    found = {name: cell(format, dress) for name, dress in dresses.items()}
    assert found == {name: "advice" if name in ("UTF-16 without mark", "UTF-32") else "read" for name in found}
