"""`make golden`: write what the formats yield now into the golden cases, and report each case that is new or differs.

`ARGS="nmon njmon/killed"` limits it to cases whose names begin so.

Read the difference before you commit it: an expected value comes from a document or a calculation of its own.
"""

from __future__ import annotations

import sys

from tests.golden.cases import cases, frames, write


def main(*begin: str) -> None:
    for case in cases():
        if not case.name.startswith(begin or ""):
            continue
        found = case.found()
        write(case, found)
        if frames(found) != frames(case.expected):
            print(f"{case.file}: {case.name}: {len(found)} records and rejects")


if __name__ == "__main__":
    main(*sys.argv[1:])
