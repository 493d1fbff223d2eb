"""`counterflow whatif log-path`: what zHyperLink, a faster box or a newer processor would do to a batch window."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from counterflow.base.errors import CounterflowError
from counterflow.cli._json import write_json
from counterflow.cli._reader import command_line, on_option, period, period_options, reader, refuse_both
from counterflow.cli._table import console, table

if TYPE_CHECKING:
    from counterflow.analysis.whatif.log_path import LogRow, LogWindow


@click.command("log-path")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a log.")
@click.option("--input", "file", type=click.Path(path_type=Path), help="JSON lines with columns of `log_load`.")
@period_options
@on_option
def command(
    systems: tuple[str, ...], begin: datetime | None, end: datetime | None, file: Path | None, as_json: bool
) -> None:
    """What would zHyperLink, a faster box or a newer processor do to my batch window?

    The window is --from and --to. Each figure is low, likely and high, with its source and the errors of the same
    prediction on the printed runs. docs/whatif.md has the model.
    """
    from counterflow.analysis.whatif.log_path import windows

    found = windows(_rows(systems, begin, end, file))
    if as_json:
        write_json(map(_as_dict, found))
    else:
        _print(found)


def _rows(systems: tuple[str, ...], begin: datetime | None, end: datetime | None, file: Path | None) -> list[LogRow]:
    """Return the intervals of the window, of a file or as they landed; without one, the command ends."""
    from counterflow.analysis.studies.mixes import is_read, read_lines
    from counterflow.analysis.whatif import log_path

    refuse_both(file)
    if file is None:
        with reader() as client:
            rows = log_path.read_stored(client, period(systems, begin, end))
        hint = command_line("sql 'SELECT system, max(ts) FROM counterflow.log_load GROUP BY system'")
    else:
        found = read_lines(file, log_path.LogRow)
        rows = [row for row in found if is_read(row.system, row.ts, systems, begin, end)]
        hint = f"{file} needs one JSON object a line, with the columns of `log_load` that docs/whatif.md lists"
    if not rows:
        raise CounterflowError("no interval of Db2's log for these systems in that period", hint=hint, exit_code=2)
    return rows


def _as_dict(window: LogWindow) -> dict[str, Any]:
    from counterflow.analysis.whatif.log_path_backtest import errors_pct

    figures = [
        {**figure._asdict(), "backtest_error_pct": errors_pct(window.path, figure.change, figure.name)}
        for figure in window.figures
    ]
    return {**window._asdict(), "figures": figures}


def _print(found: list[LogWindow]) -> None:
    from counterflow.analysis.whatif.log_path_table import lines, remarks, sources, titled

    out = console()
    for window in found:
        out.print(titled(window), markup=False)
        for change, source in sources(window).items():
            out.print()
            out.print(table(lines(window, change), f"{change} [{source}]"))
        for remark in remarks(window):
            out.print(remark, markup=False)
        out.print()
    if any(window.figures for window in found):
        out.print("back-test: error of the same prediction on printed runs, docs/studies/log-path-backtest.md")
