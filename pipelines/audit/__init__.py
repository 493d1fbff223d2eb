"""The oracle: what was acknowledged against what is stored, and every result against a recomputation of its own.

It shares nothing with the path it judges but the definitions: records are counted by `seq`, results are computed again
by ClickHouse from the counters that landed (`pipelines/jobs/<job>/audit.sql`).
"""
