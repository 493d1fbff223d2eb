"""The audit: compares acknowledged records with stored ones, and every result with an independent recomputation.

It shares only the definitions with the path it checks. Records are counted by `seq`; ClickHouse recomputes results
from the counters that landed (`pipelines/jobs/<job>/batch.sql`). Where a server refuses or does not answer,
the error of its client is raised.
"""
