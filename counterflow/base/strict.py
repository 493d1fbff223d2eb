"""The kind of model that files and configurations are read into."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A model that rejects unknown keys and never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)
