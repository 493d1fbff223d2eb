"""Sources: how bytes arrive. Nothing here knows a format or Kafka."""
