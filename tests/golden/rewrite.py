"""`make golden`: write what the formats give now into the golden cases, and report each case that is new or differs.

Read the difference before you commit it: an expected value comes from a document or a calculation of its own.
"""

from __future__ import annotations

from tests.golden.cases import Case, cases


def main() -> None:
    for case in cases():
        found = case.results()
        if changed := [name for name, content in found.items() if content != case.expected(name)]:
            _write(case, found)
            counts = ", ".join(f"{content.count(chr(10))} in {name}" for name, content in found.items())
            print(f"{case.folder}: {counts}; differs: {', '.join(changed)}")


def _write(case: Case, found: dict[str, str]) -> None:
    for name, content in found.items():
        file = case.folder / name
        if content:
            file.write_text(content, encoding="utf-8")
        else:
            file.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
