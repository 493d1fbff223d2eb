"""Labels of a metric as one text: the instance of its rows in the dataset `counter`."""

from __future__ import annotations

from collections.abc import Mapping


def joined(labels: Mapping[str, str]) -> str:
    """Return labels in the order of their names, escaped as an exposition of Prometheus writes them."""
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in sorted(labels.items()))


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
