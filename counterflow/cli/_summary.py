"""`look --summary` and `look --records`: the figures of each recording on one screen, its records as JSON lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from counterflow.base.inert import inert
from counterflow.cli._files import called, with_progress
from counterflow.cli._json import write_json
from counterflow.cli._table import console
from counterflow.collectors.records import Item, Record, Reject, singly
from counterflow.collectors.sources.files import unicode
from counterflow.collectors.summary import Summaries
from counterflow.recordings.given import size_of

_SMALL = 8_000_000
"""Bytes that one process reads sooner than another starts."""


def summarise(files: list[Path], read: Callable[..., int], *, as_json: bool) -> int:
    """Print CPU, memory, disks, network, top commands, records and data quality of each file and system.

    `read` is `read_all` with the user's options. Returns the number of files without figures.
    """
    out = console()
    unread = 0
    with _read_each(files, read) as found:
        for (summaries, without), _ in zip(found, with_progress(files, len(files)), strict=True):
            unread += without
            for summary in summaries:
                if as_json:
                    write_json([summary])
                elif summary["records"]:
                    _print(out, summary)
    return unread


_Found = tuple[list[dict[str, Any]], int]
"""The summaries of a file by system, and how many files in it have no figures."""


@contextmanager
def _read_each(files: list[Path], read: Callable[..., int]) -> Iterator[Iterable[_Found]]:
    """Yield what each file holds, in order; many files are read on all cores."""
    of_file = partial(_of_file, read=read)
    cores = min(os.cpu_count() or 1, len(files))
    if sum(map(size_of, files)) < _SMALL or cores < 2 or any(called(path) != str(path) for path in files):
        yield map(of_file, files)
        return
    from counterflow.recordings.reading import processes

    with processes(cores) as pool:
        yield pool.map(partial(_alone, of_file), files)


def _of_file(path: Path, read: Callable[..., int]) -> _Found:
    found = Summaries(unicode(called(path)))
    unread = read([path], take=lambda _, item: found.add(item))
    return [summary.as_dict() for summary in found.of], unread


def _alone(of_file: Callable[[Path], _Found], path: Path) -> _Found:
    """Read a file in a process without a command."""
    with click.Context(click.Command("look")):
        return of_file(path)


def _print(out: Console, s: dict[str, Any]) -> None:
    records = {dataset: n for dataset, n in s["records"].items() if dataset != "manifest"}
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, text in {"time (UTC)": _time(s), **_figures(s), "records": _counts(records)}.items():
        table.add_row(Text(name, "dim"), Text(inert(text)))
    table.add_row(Text("data quality", "dim"), Text(inert(_counts(s["quality"]) or "nothing to report")))
    of = ", ".join(filter(None, (s["system"], s["os"])))
    out.print(Text.assemble((inert(s["file"]), "bold"), f"  {inert(of)}"))
    out.print(table)
    for warning in s["warnings"]:
        out.print(Text(inert(f"warning: {warning}"), "yellow"))
    out.print()


def _time(s: dict[str, Any]) -> str:
    if not s["snapshots"]:
        return "no snapshot: the file holds no interval"
    begin, end = (s[name].replace("T", " ").removesuffix("Z") for name in ("start", "end"))
    return f"{begin} to {end}, {s['snapshots']:,} snapshots" if s["snapshots"] > 1 else f"{end}, 1 snapshot"


def _figures(s: dict[str, Any]) -> dict[str, str]:
    """Return the rows of the datasets that the file has."""
    rows, has = {}, s["records"].keys()
    if "system_cpu" in has:
        base = {"logical": " of all logical processors", "floating": " floating base"}.get(s["cpu_base"] or "", "")
        peak = "" if s["cpu_max_to_avg"] is None else f", max:avg {s['cpu_max_to_avg']:.1f}"
        without = "; first snapshot left out" if s["cpu_left_out"] else ""
        rows["CPU"] = f"avg {_n(s['cpu_pct_avg'], '%')}, max {_n(s['cpu_pct_max'], '%')}{base}{peak}{without}"
        rows["physical CPU"] = f"avg {_n(s['physical_cpu_avg'])}, max {_n(s['physical_cpu_max'])} processors"
    if s["entitled_pct_avg"] is not None:
        entitled, virtual = _n(s["entitled_pct_avg"], "%"), _n(s["virtual_pct_avg"], "%")
        rows["capacity used"] = f"avg {entitled} of entitlement, {virtual} of virtual processors"
    if s["memory_mb"] is not None:
        average, maximum = _n(s["memory_used_mb_avg"]), _n(s["memory_used_mb_max"])
        rows["memory in use"] = f"avg {average}, max {maximum} of {_n(s['memory_mb'])} MB"
    if "disk" in has:
        read, written = _n(s["disk_read_mb"]), _n(s["disk_written_mb"])
        rows["disks"] = f"read {read} MB, written {written} MB, read/written {_n(s['disk_rw_ratio'])}"
    if s["network"]:
        moved = [link for link in s["network"] if link["in_mb"] or link["out_mb"]]
        traffic = [f"{x['link']} in {_n(x['in_mb'])}, out {_n(x['out_mb'])} MB" for x in moved]
        rows["network"] = "; ".join(traffic) or "no traffic"
    if s["top_commands"] or "system_cpu" in has:
        top = (f"{c['command']} {_n(c['cpu_s'])} s" for c in s["top_commands"][:5])
        rows["top CPU"] = ", ".join(top) or "not recorded"
    return rows


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in counts.items())


def _n(value: float | None, unit: str = "") -> str:
    if value is None:
        return "unknown"
    digits = 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}{unit and ' '}{unit}"


def write_records(files: list[Path], read: Callable[..., int]) -> int:
    """Write every record with its `dataset` and every anomaly with its `reject` as a line of JSON; see `summarise`."""

    def take(path: Path, item: Item) -> None:
        for one in singly([item]):
            if isinstance(one, Record):
                shown = {"dataset": one.dataset, **one.fields}
            elif isinstance(one, Reject):
                shown = _reject(path, one)
            else:
                continue
            sys.stdout.buffer.write(orjson.dumps(shown, option=orjson.OPT_APPEND_NEWLINE))

    unread = read(files, take=take)
    sys.stdout.flush()
    return unread


def _reject(path: Path, item: Reject) -> dict[str, object]:
    place = {"file": str(path), "line": item.line, "byte_offset": item.byte_offset}
    found = {"section": item.section, "snapshot": item.snapshot, "detail": item.detail, "kept": item.kept}
    raw = item.raw[:65536].decode("utf-8", "backslashreplace")
    return {"reject": item.reason.value, **place, **{k: v for k, v in found.items() if v is not None}, "raw": raw}
