"""Figures of a sample that are not kept: one reject for each reason names them."""

from __future__ import annotations

from collections.abc import Iterator

from counterflow.collectors.records import Reason, Reject

_SHOWN = 20


class RefusedFigures:
    """The refused figures of a sample, by reason: each its name and what was found."""

    def __init__(self) -> None:
        self._found: dict[Reason, list[str]] = {}

    def add(self, reason: Reason, figure: str) -> None:
        self._found.setdefault(reason, []).append(figure)

    def rejects(self) -> Iterator[Reject]:
        for reason, figures in self._found.items():
            yield Reject(reason, f"{len(figures)} figures: {'; '.join(figures[:_SHOWN])}", "part")
