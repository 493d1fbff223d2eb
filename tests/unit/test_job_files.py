"""What `job.yaml` states is what the statements beside it use; Flink refuses what it does not state."""

from __future__ import annotations

import re

from counterflow.pipelines.jobs import all_jobs


def test_a_job_names_every_dataset_and_column_that_it_states() -> None:
    for name, job in all_jobs().items():
        statements = " ".join(job.statements)
        assert [dataset for dataset in (*job.reads, *job.writes) if not re.search(rf"\b{dataset}\b", statements)] == []
        for dataset, read in job.reads.items():
            text = f"{statements} {read.rows} {read.where}"
            unused = [column for column in read.columns if not re.search(rf"\b{column}\b", text)]
            assert unused in ([], ["job"]), (name, dataset, unused)  # part of the key
