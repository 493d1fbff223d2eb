"""Kafka → ClickHouse, at least once: every write can be repeated.

The lander reads, checks and inserts messages, then commits their offsets. After a failed insert or a killed process,
they are read and inserted again: the tables keep one row of each natural key, and the ledger is a set of `seq`.
"""
