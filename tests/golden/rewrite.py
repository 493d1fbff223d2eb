"""`make golden`: write what the formats yield now into the golden cases, and report each case that is new or differs.

`ARGS="nmon njmon/killed"` limits it to cases whose names begin so.

Read the difference before you commit it: an expected value comes from a document or a calculation of its own.
"""

from __future__ import annotations

import sys

from tests.golden.cases import cases, shown, write


def main(*begin: str) -> None:
    chosen = [case for case in cases() if case.name.startswith(begin or "")]
    if not chosen:
        raise SystemExit(f"error: no case begins with {' or '.join(begin)}; their names are <format>/<case>")
    for case in chosen:
        rows = case.found()
        if (lines := shown(rows, case.input)) != case.expected:
            write(case, lines)
            print(f"{case.file}: {case.name}: {len(rows)} records and rejects")


if __name__ == "__main__":
    main(*sys.argv[1:])
