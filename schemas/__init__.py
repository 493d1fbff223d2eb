"""The contracts: one definition a dataset, and what is generated from it or checked against it."""

from __future__ import annotations

from counterflow.schemas.definition import Column, Dataset, datasets, topics

__all__ = ["Column", "Dataset", "datasets", "topics"]
