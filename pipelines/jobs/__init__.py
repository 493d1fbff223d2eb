"""Flink jobs, one folder per question: `counterflow up` submits them, `counterflow jobs rerun` recomputes."""

from __future__ import annotations

from counterflow.pipelines.jobs.cluster import (
    Cluster,
    Status,
    Submission,
    cancel,
    listing,
    states,
    submit,
    watch,
)
from counterflow.pipelines.jobs.definition import Job, all_jobs, chosen
from counterflow.pipelines.jobs.render import Period

__all__ = [
    "Cluster",
    "Job",
    "Period",
    "Status",
    "Submission",
    "all_jobs",
    "cancel",
    "chosen",
    "listing",
    "states",
    "submit",
    "watch",
]
