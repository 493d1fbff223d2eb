"""`make golden`: write what the formats give now into the golden cases. Read the difference before you commit it."""

from __future__ import annotations

from tests.golden.cases import cases


def main() -> None:
    for case in cases():
        for name, content in case.results().items():
            (case.folder / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
