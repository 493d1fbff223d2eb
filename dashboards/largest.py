"""An open chart's things with the most over the range: every other is left out of lines, and summed up in a stack."""

from __future__ import annotations

OTHERS = "others"
"""The name of the series that sums up the rest; it has a colour of its own."""


def largest(figures: str, most: int, stacked: bool, across: bool) -> str:
    """Return the SQL of `time`, `series` and `Value` for the `most` things: those of a stack with the highest sum of
    figures, those of lines with the highest figure, which a line that is left out would hide.

    Parameters
    ----------
    figures : SQL of `time`, `system`, `thing` and `figure`, a row for each thing and bucket.
    stacked : the rest is summed up, so that the stack is the total.
    across : things of one name are added over systems, and `figures` has no `system`; otherwise the name contains the
        system, where several are chosen.
    """
    apart = "if(length([${system:singlequote}]) = 1, toString(thing), concat(system, ' / ', toString(thing)))"
    series = f"if(place <= {most}, name, '{OTHERS}')" if stacked else "name"
    return f"""\
SELECT time, {series} AS series, sum(figure) AS Value
FROM
(
  SELECT *, dense_rank() OVER (ORDER BY rank_by DESC, name) AS place
  FROM
  (
    SELECT
      time, {"toString(thing)" if across else apart} AS name, figure,
      {"sum" if stacked else "max"}(figure) OVER (PARTITION BY name) AS rank_by
    FROM
    (
{figures.strip()}
    )
    WHERE figure IS NOT NULL
  )
){"" if stacked else f" WHERE place <= {most}"}
GROUP BY time, series
ORDER BY time, series"""
