"""The one shape of an answer to "what is wrong?", whether inputs, published rules or changes were examined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Status = Literal["pass", "warn", "fail", "unknown"]
STATUSES: tuple[Status, ...] = ("pass", "unknown", "warn", "fail")
"""In the order in which a reader gets them: what calls for action comes last, where a terminal stops."""


@dataclass(frozen=True)
class Need:
    """A missing input: a fact that a person knows, or a counter that was not collected; `text` is what provides it."""

    kind: Literal["fact", "counter"]
    text: str


class Answer(NamedTuple):
    """What was found about one subject of one system.

    Parameters
    ----------
    kind : `part` of the stack; input of a `verdict`, `kpi`, `alert` or `board`; published `rule`; `change` of a rate.
    system : None for a part of the stack.
    subject, entity : what was examined, and the thing within the system; None for the system as a whole.
    status : `unknown` where an input is missing.
    raises : whether somebody must act; input that was never collected is unknown, but does not raise.
    figure : what was measured, with its limit and units; None where nothing was.
    why : the rule, or the reason of the status.
    source : where figure and rule come from.
    remedy : what to do; None where nothing is to be done.
    needs : each missing input by name.
    details : the numbers behind the figure, for programs.
    """

    kind: str
    system: str | None
    subject: str
    entity: str | None
    status: Status
    raises: bool
    figure: str | None
    why: str | None
    source: str | None
    remedy: str | None
    needs: Mapping[str, Need] = {}
    details: Mapping[str, Any] = {}

    @property
    def about(self) -> str:
        """The subject and its entity, in words."""
        return f"{self.subject}, {self.entity}" if self.entity else self.subject
