"""The agent: sources read, records published, checkpoints committed with them."""
