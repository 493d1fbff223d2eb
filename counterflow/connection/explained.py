"""What ClickHouse refuses in a statement, as a sentence with the way out."""

from __future__ import annotations

import re
from difflib import get_close_matches

from counterflow.base.clickhouse import ClickHouse, ClickHouseError
from counterflow.base.errors import CounterflowError

_COLUMNS = "system.columns WHERE database = 'counterflow' AND position({statement:String}, table) > 0"
_NAMES = {46: "system.functions", 47: _COLUMNS, 60: "system.tables", 73: "system.formats"}
"""Where to find the valid names, by the code of an error about an unknown name."""
_NOISE = re.compile(
    r"[.:]? [Ii]n scope |: while executing |\. Expected one of|\. Stack trace:|\. \([A-Z_]+\) \(version"
)


def explained(client: ClickHouse, statement: str, error: ClickHouseError) -> CounterflowError:
    """Return the error as a sentence, with the known name that is nearest to an unknown one."""
    text, _, meant = re.sub(r"\ACode: \d+\. DB::Exception: ", "", str(error)).partition(" Maybe you meant")
    text = re.sub(r"(failed at position .*?\)): .*", r"\1", _NOISE.split(text)[0], flags=re.DOTALL)
    text = " ".join(text.split()).rstrip(".:")
    names = re.findall(r"[\w.]*\w", re.split(r"[](?]", meant)[0])
    cutoff = 0 if names else 0.6
    # The engine suggests no aggregate function, and no name that differs by more than two letters.
    if error.code in _NAMES and (error.code == 46 or not names):
        known = client.rows(f"SELECT DISTINCT name FROM {_NAMES[error.code]}", {"param_statement": statement})
        names += [row["name"] for row in known]
    unknown = re.search(r"[`'](.+?)[`']|(\w+)$", text)
    near = get_close_matches(unknown[1] or unknown[2], names, 1, cutoff) if unknown else []
    return CounterflowError(text, hint=f"did you mean {near[0]}?" if near else None, exit_code=2)
