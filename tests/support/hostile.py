"""Names of systems, jobs, files or agents with which somebody might attempt an injection."""

from __future__ import annotations

NAMES = (
    "'; DROP TABLE counterflow.disk; --",
    "\\' OR 1 = 1 --",
    "ends in a backslash \\",
    "{x:String} $__timeFilter(ts) ${system:raw} %(x)s %n {0} {{7*7}}",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    '=HYPERLINK("http://example.com";"x")',
    "+1+1",
    "@SUM(1)",
    "-2+3",
    "\x1b[2J\x1b]0;owned\x07",
    "\x9b31m",
    "txt.\u202egnp",
    "[red]markup[/red] [/]",
    "two\nlines",
    "tab\there",
    'a"}\n# HELP x\n{b="',
    "\\N",
    "`|*_#",
)
