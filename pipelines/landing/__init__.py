"""Kafka → ClickHouse, exactly once.

A batch is a range of offsets of one topic-partition. The lander commits the range as offset metadata, inserts the
batch, then commits the offset. After a failed insert or a killed process, it or its successor reads the same range
again and inserts the same rows under the same token, which ClickHouse deduplicates.
"""
