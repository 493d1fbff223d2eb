"""Flink jobs, one folder per question: `counterflow up` submits them."""

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

__all__ = [
    "Cluster",
    "Job",
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
