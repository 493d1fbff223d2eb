"""`counterflow doctor`: what cannot be judged, why, and what to do."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from counterflow.base.inert import inert
from counterflow.cli._reader import FIRST, kept, on_option, reader, require
from counterflow.cli._times import TIME

if TYPE_CHECKING:
    from counterflow.analysis.doctor import Finding
    from counterflow.stack.examination import Trouble


@click.command()
@on_option
@click.option(
    "--system", "systems", multiple=True, help="Only this system, including input it never had; may be repeated."
)
@click.option("--at", type=TIME, help="Judge what has stopped as of this time. [default: now; with --on, never]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a part and a finding, one a line.")
@click.pass_context
def command(ctx: click.Context, systems: tuple[str, ...], at: datetime | None, as_json: bool) -> None:
    """Examine the parts, and whether the input of every verdict, KPI, alert and board arrives.

    Exit status 0: all parts work, and all that is collected can be judged; 1: something cannot be judged or has
    stopped; 2: a part does not work.
    """
    from counterflow.analysis.doctor import examine
    from counterflow.stack.examination import parts
    from counterflow.stack.settings import StackSettings

    troubles = [] if kept() else list(parts(StackSettings.running()))
    findings: list[Finding] = []
    if not any(trouble.part == "clickhouse" for trouble in troubles):
        with reader() as client:
            require(client, systems)
            findings = examine(client, systems, at or (FIRST if kept() else None))  # nothing arrives in a folder
    if as_json:
        _as_json(troubles, findings)
    else:
        _print(troubles, findings, named=bool(systems))
    ctx.exit(2 if troubles else 1 if any(finding.raises for finding in findings) else 0)


def _as_json(troubles: Sequence[Trouble], findings: Sequence[Finding]) -> None:
    import orjson

    for trouble in troubles:
        sys.stdout.buffer.write(orjson.dumps(trouble._asdict(), option=orjson.OPT_APPEND_NEWLINE))
    for finding in findings:
        sys.stdout.buffer.write(orjson.dumps(finding._asdict(), option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z))


def _print(troubles: Sequence[Trouble], findings: Sequence[Finding], *, named: bool) -> None:
    from counterflow.cli._table import console

    out = console(soft_wrap=True)
    for trouble in troubles:
        out.print(inert(f"{trouble.part}: {trouble.why}\n  to do: {trouble.advice}", keep="\n"), markup=False)
    if not troubles and not kept():
        out.print("All parts work.")
    direct = sorted((one for one in findings if one.kind in ("verdict", "kpi")), key=lambda one: one.system)
    for finding in direct:
        if (finding.raises and finding.status != "stopped") or (named and finding.status == "absent"):
            out.print(_text(finding), markup=False)
    for system, stopped in groupby((one for one in direct if one.status == "stopped"), key=lambda one: one.system):
        found = list(stopped)
        newest = max(one.newest for one in found if one.newest)
        subjects = ", ".join(dict.fromkeys(one.subject for one in found))
        what = f"{system}: nothing has arrived since {newest:%F %T} for {subjects}"
        out.print(_lines(what, f"  to do: {found[0].advice}"), markup=False)
    counted: Counter[tuple[str, str]] = Counter((finding.kind, finding.status) for finding in findings)
    out.print(_totals(counted, len({finding.system for finding in findings})))


def _text(finding: Finding) -> str:
    about = f"{finding.system} {finding.entity}" if finding.entity else finding.system
    what = {
        "unknown": "cannot be judged",
        "late": "is late",
        "missing": "is not computed",
        "absent": "is not collected",
    }[finding.status]
    affected = (f"  affects: {', '.join(finding.affects)}",) if finding.affects else ()
    return _lines(f"{finding.subject} {what} on {about}: {finding.why}", f"  to do: {finding.advice}", *affected)


def _lines(*lines: str) -> str:
    return "\n".join(map(inert, lines))


def _totals(counted: Counter[tuple[str, str]], systems: int) -> str:
    names: dict[str, Any] = {"verdict": "verdicts", "kpi": "KPIs", "alert": "alerts", "board": "boards"}
    parts = []
    for kind, name in names.items():
        total = sum(number for (of, status), number in counted.items() if of == kind and status != "absent")
        parts.append(f"{counted[kind, 'ok']} of {total} {name}")
    return f"{systems} system{'s' * (systems != 1)}. Input is there for {', '.join(parts)}."
