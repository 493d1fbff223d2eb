"""Reads the batch jobs of a night."""

from __future__ import annotations

from counterflow.analysis.whatif.batch import BatchJob
from counterflow.base.clickhouse import ClickHouse, Settings


def read_stored(client: ClickHouse, settings: Settings) -> list[BatchJob]:
    """Return the jobs of the parameters `systems`, `from` and `to`."""
    return [BatchJob.model_validate(row) for row in client.rows(_STORED, settings)]


# `from` is the end of the first interval, and the view takes what ends after `since`
_STORED = """
SELECT * FROM counterflow.batch_job_within(
  since = addMilliseconds({from:DateTime64(3)}, -1), until = addMilliseconds({to:DateTime64(3)}, -1)
)
WHERE empty({systems:Array(String)}) OR has({systems:Array(String)}, system)
ORDER BY system, begin_ts, job
"""
