"""Sources: how bytes arrive. Nothing here parses records or publishes them."""
