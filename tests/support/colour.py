"""Whether colours can be seen and distinguished: contrast, and distance for eyes with and without colour blindness.

Sources: contrast, WCAG 2.2 (1.4.11, 3:1 for graphics); distance, OKLab (Ottosson, 2020); colour blindness, the matrices
of severity 1.0 of Machado, Oliveira and Fernandes (2009).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import dist

PANELS = {"dark": "#181B1F", "light": "#FFFFFF"}
"""The colour of Grafana's panels in each theme."""
LEAST_CONTRAST = 3.0
LEAST_DISTANCE = 0.05
"""In OKLab, whose lightness goes from 0 to 1; eyes can just see a quarter of it between large areas."""

_Three = tuple[float, float, float]
_Matrix = tuple[_Three, _Three, _Three]

_EYES: dict[str, _Matrix] = {
    "with full colour vision": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "with protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "with deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "with tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
_CONES: _Matrix = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_OKLAB: _Matrix = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, written as `#RRGGBB`: 1 between equal ones, 21 between black and white."""
    darker, lighter = sorted(map(_luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


def distance(one: str, other: str) -> tuple[float, str]:
    """Return the distance of two colours in OKLab for the eyes that see them closest, and which eyes these are."""
    return min((dist(_seen(one, eye), _seen(other, eye)), who) for who, eye in _EYES.items())


def faint(colours: Iterable[str]) -> list[str]:
    """Return a problem for each colour that is hard to see against a panel."""
    return [
        f"{colour} has a contrast of {found:.1f}:1 on {theme} panels, and needs {LEAST_CONTRAST:g}:1"
        for colour in dict.fromkeys(colours)
        for theme, panel in PANELS.items()
        if (found := contrast(colour, panel)) < LEAST_CONTRAST
    ]


def alike(colours: Iterable[str]) -> list[str]:
    """Return the pairs of colours, all different in meaning, that some eyes cannot distinguish."""
    return [
        f"{one} and {other} are {found:.3f} apart {who}, and need {LEAST_DISTANCE:g}"
        for one, other in combinations(colours, 2)
        for found, who in (distance(one, other),)
        if found < LEAST_DISTANCE
    ]


def _linear(colour: str) -> _Three:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return _gamma(red), _gamma(green), _gamma(blue)


def _gamma(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _luminance(colour: str) -> float:
    red, green, blue = _linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _seen(colour: str, eye: _Matrix) -> _Three:
    red, green, blue = (min(1.0, max(0.0, part)) for part in _times(eye, _linear(colour)))
    long, middle, short = (part ** (1 / 3) for part in _times(_CONES, (red, green, blue)))
    return _times(_OKLAB, (long, middle, short))


def _times(matrix: _Matrix, vector: _Three) -> _Three:
    first, second, third = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return first, second, third
