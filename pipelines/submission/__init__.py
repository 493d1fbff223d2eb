"""Submits jobs to Flink and follows them: a job rendered, its driver, the REST interface, and its checkpoints."""

from __future__ import annotations

from counterflow.pipelines.submission.cluster import (
    Cluster,
    Status,
    Submission,
    cancel,
    listing,
    states,
    submit,
    watch,
)

__all__ = ["Cluster", "Status", "Submission", "cancel", "listing", "states", "submit", "watch"]
