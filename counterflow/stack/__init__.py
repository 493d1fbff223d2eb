"""The one-machine stack: Kafka, Flink and the ClickHouse engine, installed, started and watched by `counterflow up`."""
