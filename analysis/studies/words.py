"""Figures of a comparison in words (`words.yaml`), and whether a picture shows them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from counterflow.schemas.definition import load_yaml


class Words(NamedTuple):
    """The name of a figure without its unit, and whether it is drawn."""

    text: str
    drawn: bool = False


def words(name: str) -> Words:
    """Return the words of a figure; without any, its name, which is not drawn."""
    return _all().get(name) or Words(name.replace("_", " ").capitalize())


@cache
def _all() -> dict[str, Words]:
    stated = load_yaml(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
    return {name: Words(**fields) for name, fields in stated.items()}
