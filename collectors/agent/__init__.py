"""The agent: sources read, records published, checkpoints committed with them."""

from __future__ import annotations

from counterflow.collectors.agent.publish import Published, publish_files

__all__ = ["Published", "publish_files"]
