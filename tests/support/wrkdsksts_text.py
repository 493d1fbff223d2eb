"""Text in the layout of WRKDSKSTS, made here: no verbatim print is public (format `wrkdsksts`).

The order of records and columns is that of IBM's JTOpenLite; the widths are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Unit(NamedTuple):
    """One disk unit; rates are per second since the reset."""

    number: int
    io: float
    size_kb: float
    reads: float
    writes: float
    read_kb: float
    written_kb: float
    busy: int
    type: str = "4327"
    size: int = 70564
    used: float = 52.3
    asp: int = 1
    protection: str = "MRR"
    state: str = "ACTIVE"


ENGLISH = ("Disk Status", "Elapsed time . . . . . . :", "System name . . . . :", "Page")
GERMAN = ("Plattenstatus", "Abgelaufene Zeit . . . . :", "Systemname . . . . . :", "Seite")


def number(value: float, comma: bool = False) -> str:
    """Return a number as green screens print it: one decimal, no zero before the point."""
    written = f"{value:.1f}"
    written = written[1:] if written.startswith("0.") else written
    return written.replace(".", ",") if comma else written


def row(unit: Unit, *, comma: bool = False) -> str:
    """Return the line of a unit, as it is printed."""
    means = (unit.used, unit.io, unit.size_kb, unit.reads, unit.writes, unit.read_kb, unit.written_kb)
    widths = (7, 7, 8, 8, 7, 7, 7)
    figures = "".join(f"{number(value, comma):>{width}}" for value, width in zip(means, widths, strict=True))
    line = f" {unit.number:>4}{unit.type:>6}{unit.size:>8}{figures}{unit.busy:>6}"
    return f"{line}{unit.asp:>5}   {unit.protection:<6}{unit.state:<11}"


def elapsed(seconds: int) -> str:
    """Return hh:mm:ss."""
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def printed(
    units: Sequence[Unit],
    seconds: int,
    *,
    date: str = "26/325",
    time: str = "18:50:00",
    system: str = "PROD01",
    words: tuple[str, str, str, str] = ENGLISH,
    comma: bool = False,
    page_length: int = 50,
    control: bool = False,
) -> str:
    """Return a print, with its headings on every page; `control` puts carriage control before each line."""
    title, label, name, page_word = words
    lines: list[str] = []
    for page, start in enumerate(range(0, max(len(units), 1), page_length), 1):
        lines += [
            f"1 5770SS1 V7R5M0 220415 {title:^60}{system:>9}  {date} {time}     {page_word} {page:>4}",
            f"  {label}   {elapsed(seconds)}{'':40}{name}   {system}",
            "                 Size      %    I/O  Request    Read  Write   Read  Write     %       -Protection-",
            "  Unit  Type      (M)   Used    Rqs Size (K)    Rqs    Rqs    (K)    (K)  Busy  ASP   Type  Status",
            *(" " + row(unit, comma=comma) for unit in units[start : start + page_length]),
        ]
    lines.append("                          * * * * *  E N D  O F  L I S T I N G  * * * * *")
    return "".join((line if control else " " + line[1:]).rstrip() + "\n" for line in lines)
