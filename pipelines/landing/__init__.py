"""Kafka → ClickHouse, exactly once.

A batch is a range of offsets of one topic-partition. Before it is inserted the range is written into the metadata of
the committed offset; afterwards the offset is committed. Whoever continues, after a failed insert or a killed process,
reads that range again and inserts the same rows under the same token, which ClickHouse inserts once.
"""
