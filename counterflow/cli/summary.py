"""`counterflow summary`: what each recording says, in one screen, no service needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from counterflow.base.inert import inert
from counterflow.cli._files import each, file_options, read_all, recordings
from counterflow.cli._table import console
from counterflow.collectors.summary import Summary


@click.command()
@file_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file and line; MB are 1,048,576 bytes.")
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[Path, ...],
    zone: ZoneInfo,
    date_order: str | None,
    system: str | None,
    as_json: bool,
) -> None:
    """Summarise each FILE: CPU, memory, disks, network, top commands, and how good the data is.

    Exit status 1 says that a file was not read at all; the others were.
    """
    out = console()
    unread = 0
    for path in each(recordings(files)):
        summary = Summary(str(path))
        unread += read_all([path], zone, system, lambda _, item, to=summary: to.add(item), date_order)  # type: ignore[misc]
        if as_json and (summary.records or summary.quality):
            click.echo(orjson.dumps(summary.as_dict()))
        elif summary.records:
            _print(out, summary.as_dict())
    ctx.exit(1 if unread else 0)


def _print(out: Console, s: dict[str, Any]) -> None:
    begin, end = (str(s[name]).replace("T", " ").removesuffix("Z") for name in ("start", "end"))
    base = {"logical": "of all logical processors", "floating": "floating base"}.get(s["cpu_base"] or "", "no base")
    peak = "" if s["cpu_max_to_avg"] is None else f", max:avg {s['cpu_max_to_avg']:.1f}"
    moved = [link for link in s["network"] if link["in_mb"] or link["out_mb"]]
    rows = {
        "time (UTC)": f"{begin} to {end}, {s['snapshots']:,} snapshots",
        "CPU": f"avg {_n(s['cpu_pct_avg'], '%')}, max {_n(s['cpu_pct_max'], '%')} {base}{peak}",
        "physical CPU": f"avg {_n(s['physical_cpu_avg'])}, max {_n(s['physical_cpu_max'])} processors",
        "capacity used": f"avg {_n(s['entitled_pct_avg'], '%')} of entitlement, "
        f"{_n(s['virtual_pct_avg'], '%')} of virtual processors",
        "memory in use": f"avg {_n(s['memory_used_mb_avg'])}, max {_n(s['memory_used_mb_max'])} "
        f"of {_n(s['memory_mb'])} MB",
        "disks": f"read {_n(s['disk_read_mb'])} MB, written {_n(s['disk_written_mb'])} MB, "
        f"read/written {_n(s['disk_rw_ratio'])}",
        "network": "; ".join(f"{x['link']} in {_n(x['in_mb'])}, out {_n(x['out_mb'])} MB" for x in moved)
        or "no traffic",
        "top CPU": ", ".join(f"{c['command']} {_n(c['cpu_s'])} s" for c in s["top_commands"][:5]) or "not recorded",
        "data quality": ", ".join(f"{reason} {n}" for reason, n in s["quality"].items()) or "nothing to report",
    }
    if s["entitled_pct_avg"] is None:
        del rows["capacity used"]
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, text in rows.items():
        table.add_row(Text(name, "dim"), Text(inert(text)))
    of = inert(f"{s['system']}, {s['os'] or 'unknown operating system'}")
    out.print(Text.assemble((inert(s["file"]), "bold"), f"  {of}"))
    out.print(table)
    for warning in s["warnings"]:
        out.print(Text(inert(f"warning: {warning}"), "yellow"))
    out.print()


def _n(value: float | None, unit: str = "") -> str:
    if value is None:
        return "unknown"
    digits = 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}{unit and ' '}{unit}"
