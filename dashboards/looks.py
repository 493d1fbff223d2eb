"""Colours by their meaning, units, and the words of states: `looks.yaml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import AfterValidator

from counterflow.base.strict import Strict
from counterflow.pipelines.rules import words


class UnitLook(Strict):
    """A unit: `grafana` is Grafana's name for it, `text` its label on the axis of a printed chart.

    `chars` is the number of characters that a value has in a table, `axis` the usual label of an axis.
    """

    grafana: str
    text: str
    chars: int = 9
    axis: str = ""


class StateLook(Strict):
    """How a state of a verdict is shown: the meaning that gives its colour, and words for people."""

    colour: str
    text: str


class Looks(Strict):
    """Colours by meaning, those of series that a report does not know in advance and of verdict states, and units.

    Parameters
    ----------
    hues : colours of series, by the name of the hue.
    shades : further colours for a report's open series, two of each of `palette`, for where there are more.
    sequence : colours for a report's open series that have an order.
    documented : meanings whose colours a document prescribes, whatever their contrast.
    themed : meanings that Grafana draws in a colour of the theme, by its name for that.
    state_colours : the meaning that gives the colour of each state of a verdict, the gravest last.
    """

    hues: dict[str, str]
    documented: frozenset[str]
    colours: dict[str, str]
    palette: tuple[str, ...]
    shades: tuple[str, ...]
    sequence: tuple[str, ...]
    themed: dict[str, str]
    state_colours: dict[str, str]
    units: dict[str, UnitLook]

    @property
    def states(self) -> dict[str, StateLook]:
        """How each state of a verdict is shown, the gravest last."""
        return {state: self.state(state) for state in self.state_colours}

    def grafana(self, colour: str) -> str:
        """Return the colour in which Grafana draws a meaning."""
        return self.themed.get(colour, self.colours[colour])

    def state(self, state: str) -> StateLook:
        """Return how a state is shown; one that is not known, as it is written."""
        return StateLook(colour=self.state_colours.get(state, "unknown"), text=words().get(state, state))


@cache
def looks() -> Looks:
    return Looks.model_validate(yaml.safe_load((Path(__file__).parent / "looks.yaml").read_text(encoding="utf-8")))


def _unit(name: str) -> str:
    if name not in looks().units:
        raise ValueError(f"`{name}` is no unit of looks.yaml; known are {', '.join(looks().units)}")
    return name


def _colour(name: str) -> str:
    if name not in looks().colours:
        raise ValueError(f"`{name}` is no colour of looks.yaml; known are {', '.join(looks().colours)}")
    return name


UnitName = Annotated[str, AfterValidator(_unit)]
ColourName = Annotated[str, AfterValidator(_colour)]
