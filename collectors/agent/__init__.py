"""The agent: sources read, records published, checkpoints committed with them."""

from __future__ import annotations

from counterflow.collectors.agent.config import Kafka
from counterflow.collectors.agent.publish import Published, publish_files

__all__ = ["Kafka", "Published", "publish_files"]
