"""The contracts: one definition per dataset, and everything that is generated from it or checked against it."""

from __future__ import annotations

if __name__ == "schemas":  # the folder of a checkout: its modules would be loaded a second time
    raise ImportError("import counterflow.schemas instead of schemas")

from counterflow.schemas.definition import Column, Dataset, datasets, topics

__all__ = ["Column", "Dataset", "datasets", "topics"]
