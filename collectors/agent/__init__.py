"""The agent: reads sources, publishes their records and commits checkpoints with them."""
