"""The pages that people read, with their generated parts, and the code in them."""

from __future__ import annotations

import re
import shlex
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from docs.generators.hooks import filled

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = (
    *sorted(REPOSITORY.glob("docs/**/*.md")),
    *sorted(REPOSITORY.glob("collectors/formats/*/*.md")),
    *sorted(REPOSITORY.glob("pipelines/jobs/*/*.md")),
    *sorted(REPOSITORY.glob("dashboards/alerts/*/*.md")),
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
)


class Block(NamedTuple):
    """A fenced block, or a piece of code within a line (`language` is then empty)."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(*languages: str) -> list[Block]:
    """Return the fenced blocks of all pages in one of the languages, in their order."""
    return [block for block in _code() if block.language in languages]


def commands() -> list[tuple[Block, str]]:
    """Return every `counterflow …` that a page names, in blocks and within lines."""
    found = []
    for block in _code():
        lines = block.text.replace("\\\n", " ").splitlines() if block.language in ("", "sh", "console") else []
        for line in lines:
            words = line.removeprefix("$ ").removeprefix(".venv/bin/")
            if re.match("counterflow [a-z]", words) and (block.language != "console" or line.startswith("$ ")):
                found.append((block, words))
    return found


def words(command: str) -> list[str]:
    """Split a command as the shell does, up to a pipe, a redirection or a comment."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    found = []
    for word in lexer:
        if set(word) <= set("|&;<>()"):
            break
        found.append(word)
    return found


def sessions() -> list[tuple[Block, str, str]]:
    """Return every command of the blocks `console` with its output."""
    return [
        (block, command, output)
        for block in blocks("console")
        for part in ("\n" + block.text).split("\n$ ")[1:]
        for command, _, output in [part.partition("\n")]
    ]


def agrees(printed: str, got: str) -> bool:
    """Return whether a page shows what was printed; `…` stands for anything."""
    return OutputChecker().check_output(printed.replace("…", "..."), got, ELLIPSIS | NORMALIZE_WHITESPACE)


@cache
def _code() -> list[Block]:
    found = []
    for path in PAGES:
        page = str(path.relative_to(REPOSITORY))
        for token in MarkdownIt().enable("table").parse(filled(path.read_text(encoding="utf-8"))):
            line = token.map[0] + 1 if token.map else 0
            if token.type == "fence":
                found.append(Block(page, line, token.info or "none", token.content))
            for child in token.children or ():
                if child.type == "code_inline":
                    found.append(Block(page, line, "", child.content))
    return found
