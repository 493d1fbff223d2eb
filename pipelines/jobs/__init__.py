"""Flink jobs: a folder a question; submitted by `counterflow up`, computed again by `counterflow jobs rerun`."""

from __future__ import annotations

from counterflow.pipelines.jobs.cluster import (
    Cluster,
    Status,
    Submission,
    cancel,
    listing,
    rerun,
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
    "rerun",
    "states",
    "submit",
    "watch",
]
