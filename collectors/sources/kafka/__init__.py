"""Topics of Kafka that other products fill: their lines, partition by partition, behind the committed positions.

Positions are the agent's own, committed with the records; no consumer group holds any.
"""
