"""The contracts: one definition per dataset, and everything that is generated from it or checked against it."""

from __future__ import annotations

from counterflow.schemas.definition import Column, Dataset, datasets, topics

__all__ = ["Column", "Dataset", "datasets", "topics"]
