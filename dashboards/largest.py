"""An open chart's things with the most over the range: every other is left out of lines, and summed up in a stack."""

from __future__ import annotations

OTHERS = "others"
"""The name of the series that sums up the rest; it has a colour of its own."""


def largest(figures: str, most: int, stacked: bool, across: bool) -> str:
    """Return the SQL of `time`, `series` and `Value` for the `most` things with the highest sum of figures.

    Parameters
    ----------
    figures : SQL of `time`, `system`, `thing` and `figure`, a row for each thing and bucket.
    stacked : the rest is summed up, so that the stack is the total.
    across : things of one name are added over systems, and `figures` has no `system`; otherwise the name contains the
        system, where several are chosen.
    """
    apart = "if(length([${system:singlequote}]) = 1, toString(thing), concat(system, ' / ', toString(thing)))"
    series = f"if(name IN (SELECT name FROM most), name, '{OTHERS}')" if stacked else "name"
    return f"""\
WITH
  each AS
  (
    SELECT time, {"toString(thing)" if across else apart} AS name, figure
    FROM
    (
{figures.strip()}
    )
    WHERE figure IS NOT NULL
  ),
  most AS (SELECT name FROM each GROUP BY name ORDER BY sum(figure) DESC, name LIMIT {most})
SELECT time, {series} AS series, sum(figure) AS Value
FROM each{"" if stacked else " WHERE name IN (SELECT name FROM most)"}
GROUP BY time, series
ORDER BY time, series"""
