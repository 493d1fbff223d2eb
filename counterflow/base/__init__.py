"""The shared base: errors, logs, health, and the clients of Kafka and ClickHouse."""
