"""What every room stands on: errors, logs, health, and the clients of Kafka and ClickHouse."""
