"""The validator of the JSON Schemas: a check of published rows that is not the product's own."""

from __future__ import annotations

import jsonschema_rs

from counterflow.schemas.definition import Dataset
from counterflow.schemas.json_schema import json_schema


def validator(dataset: Dataset) -> jsonschema_rs.Draft202012Validator:
    """Return a compiled validator of the dataset's records, which also rejects impossible dates."""
    return jsonschema_rs.Draft202012Validator(json_schema(dataset), validate_formats=True)
