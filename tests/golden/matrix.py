"""The example of each format in every dress (an encoding, or a notation of tables), and the exports of each trade.

A dress that yields the records of the case is `read`; one that yields only a reject with the reason is `advice`.
Anything else is a mistake, which the test reports.
"""

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

from counterflow.collectors.records import Record, Reject
from docs.generators.formats import examples
from tests.golden.cases import Case, golden
from tests.support.packed import zipped
from tests.support.reading import read_file

EXPORTS = {
    "AIX, Linux": {
        "nmon, `nmon -f` or topas_nmon": "nmon/aix_dedicated",
        "njmon": "njmon/one_sample_a_line",
        "sar of Linux, `sadf -j FILE -- -A`": "sysstat/all_activities",
        "sar of Linux, its data file": "advice/sar_data",
        "sar of Linux, as text": "advice/sar",
        "sar of AIX": "advice/sar_aix",
        "`sadf -d`": "advice/sadf_table",
        "vmstat": "advice/vmstat",
        "iostat of AIX": "advice/iostat_aix",
        "`lparstat 5`, `lparstat -i`": "advice/lparstat",
        "topasout": "advice/topasout",
        "ps, top": "advice/ps",
    },
    "IBM i": {
        "members of Collection Services, saved in ACS": "ibmi_tables/qapmdisk_san_units",
        "the same by CPYTOIMPF, without column names": "ibmi_tables/bad_headerless_of_unknown_width",
        "SQL services, `SELECT *` saved in ACS": "ibmi_tables/active_job_info_without_time",
        "the same with `--at`": "ibmi_tables/active_job_info_at",
        "WRKDSKSTS": "wrkdsksts/print",
        "WRKSYSSTS": "advice/wrksyssts",
        "WRKACTJOB": "advice/wrkactjob",
        "DSPLOG, job logs": "advice/history_log",
        "PRTSYSRPT and other reports of Performance Tools": "advice/performance_tools_report",
        "a chart of Performance Data Investigator": "advice/pdi_chart",
    },
    "Db2 for z/OS": {
        "statistics report of OMEGAMON, with LOG ACTIVITY": "omegamon_log_activity/two_intervals_of_a_report",
        "its accounting report or record trace": "advice/omegamon_accounting",
        "-DISPLAY LOG": "db2_display_log/hardcopy_log",
        "SMF 100 to 102, as dumped": "advice/smf_of_db2",
        "DSNJU004": "advice/db2_log_map",
        "counters of the log as CSV, with names of the site": "advice/db2_log_columns_unnamed",
        "RMF Monitor III over HTTP": "rmf_dds/procu",
        "RMF Monitor III, its screens and exports": "advice/rmf_monitor_3_screen",
        "RMF Postprocessor, printed": "advice/rmf_print",
        "RMF Postprocessor, XML": "advice/rmf_postprocessor",
        "RMF Spreadsheet Reporter": "advice/rmf_spreadsheet",
    },
    "replication": {
        "IBMQREP_APPLYMON": "qrep_monitor/applymon_luw",
        "IBMQREP_CAPMON": "qrep_monitor/capmon_luw",
        "EXPORT OF DEL, which names no columns": "qrep_monitor/export_of_del",
        "log of Q Capture or Q Apply": "advice/qrep_log",
        "`STATUS SHOW DETAILS`": "advice/qrep_status",
        "`DISPLAY QSTATUS` of MQ": "advice/mq_display",
    },
    "HMC": {
        "`lshwres -r sriov`": "hmc_lshwres/header",
        "`lssyscfg -r lpar`, `lshwres -r proc`, `-r mem`": "hmc_lshwres/partitions",
        "the same with `-F`, without `--header`": "advice/hmc_listing_without_names",
        "other listings": "advice/hmc_listing_of_pools",
        "`lslparutil -r lpar`": "hmc_lslparutil/newest_first",
        "`lslparutil` of pools, or without names": "advice/hmc_lslparutil",
        "processed metrics (PCM)": "hmc_pcm/partition",
        "raw or aggregated metrics": "hmc_pcm/raw_metrics",
        "the list of metrics": "advice/hmc_list_of_metrics",
        "feeds below `/rest/api/uom`": "hmc_feed/partitions_and_ports",
    },
}
"""The exports that people of each trade make most, and the golden case that shows what becomes of each."""


def dresses(format: str) -> dict[str, Callable[[bytes], bytes]]:
    """Return the dresses in which files of a format come, by the heading of the column."""
    found = dict(_ANY)
    if examples()[format].table:
        found |= _TABLE
    return found


def cell(format: str, dress: Callable[[bytes], bytes]) -> str:
    """Return `read` or `advice`.

    Raises
    ------
    AssertionError : it is neither.
    """
    case = golden(f"{format}/{examples()[format].example}")
    plain, dressed = _items(case, bytes), _items(case, dress)
    records = [item for item in dressed if isinstance(item, Record)]
    if records == [item for item in plain if isinstance(item, Record)]:
        return "read"
    assert not records, f"{records[:3]} instead of {plain[:3]}"
    assert any(isinstance(item, Reject) and len(item.detail) > 20 for item in dressed), dressed
    return "advice"


def answer(name: str) -> str:
    """Return what a golden case yields: its datasets, or the sentence of its reject when it yields none."""
    rows = golden(name).found()
    datasets = sorted({row["dataset"] for row in rows if "dataset" in row} - {"manifest", "quality"})
    if datasets:
        return f"read: {', '.join(f'`{dataset}`' for dataset in datasets)}"
    return str(rows[0]["detail"]).replace("not read, this is ", "").replace("|", "\\|")


def exports() -> str:
    """Return the exports of each trade as Markdown."""
    lines = ["| trade | export | answer |", "|---|---|---|"]
    lines += [
        f"| {trade} | {what} | {answer(case)} |" for trade, cases in EXPORTS.items() for what, case in cases.items()
    ]
    return "\n".join(lines) + "\n"


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
