"""Text in the layout of WRKDSKSTS, made here: no verbatim print or screen is public (format `wrkdsksts`).

The order of records and columns is that of IBM's JTOpenLite; the widths are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    compression: str = ""


ENGLISH = ("Disk Status", "Elapsed time . . . . . . :", "System name . . . . :", "Page")
GERMAN = ("Plattenstatus", "Abgelaufene Zeit . . . . :", "Systemname . . . . . :", "Seite")


def number(value: float, comma: bool = False) -> str:
    """Return a number as green screens print it: one decimal, no zero before the point."""
    written = f"{value:.1f}"
    written = written[1:] if written.startswith("0.") else written
    return written.replace(".", ",") if comma else written


def row(unit: Unit, *, comma: bool = False, states: bool = True) -> str:
    """Return the line of a unit, as it is printed."""
    means = (unit.used, unit.io, unit.size_kb, unit.reads, unit.writes, unit.read_kb, unit.written_kb)
    widths = (7, 7, 8, 8, 7, 7, 7)
    figures = "".join(f"{number(value, comma):>{width}}" for value, width in zip(means, widths, strict=True))
    line = f" {unit.number:>4}{unit.type:>6}{unit.size:>8}{figures}{unit.busy:>6}"
    return line + (f"{unit.asp:>5}   {unit.protection:<6}{unit.state:<11}{unit.compression}" if states else "")


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


def screen(
    lines: Iterable[str], seconds: int, *, date: str = "11/21/26", time: str = "18:50:00", system: str = "PROD01"
) -> str:
    """Return a screen with `lines` in its middle."""
    return "\n".join(
        [
            f"{'Work with Disk Status':>50}{system:>25}",
            f"{date:>69}  {time}",
            f"Elapsed time:   {elapsed(seconds)}",
            "",
            *lines,
            f"{'Bottom':>79}",
            "F3=Exit   F5=Refresh   F10=Restart   F11=Display disk statistics   F12=Cancel",
            "",
        ]
    )


FIRST_VIEW = (
    "                 Size      %    I/O  Request    Read  Write   Read  Write     %",
    "  Unit  Type      (M)   Used    Rqs Size (K)    Rqs    Rqs    (K)    (K)  Busy",
)
SECOND_VIEW = ("                  --Protection--", "  Unit  Type  ASP  Type  Status    Compression")


def states(unit: Unit) -> str:
    """Return the line of a unit in the second view."""
    return (
        f" {unit.number:>4}{unit.type:>6}{unit.asp:>5}  {unit.protection:<6}{unit.state:<11}{unit.compression}".rstrip()
    )
