"""Topics of Kafka that others fill: their lines, partition by partition, behind what is committed.

Positions are the agent's own, committed with the records; no consumer group holds any.
"""
