"""The cookbook, run as a user runs it, on landed stories of links, logs, jobs and replication."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from counterflow.analysis.queries import queries, run_stored
from counterflow.base.clickhouse import ClickHouse
from tests.support.pages import agrees, sessions, words

Run = Callable[..., "subprocess.CompletedProcess[str]"]
STORIES = ("sriov-story", "log-ceiling-story", "end-of-day-story", "q-replication", "batch-night")
WITHOUT_DATA = {
    # no anomaly, no refusal, nothing lacking
    *("data_quality", "dead_letters", "provisional_results", "slow_disk_intervals"),
    # no files that jobs open, no asynchronous I/O of jobs
    *("file_opens", "physical_io_by_job"),
    # no commits, no time in SQL
    *("changes_per_commit", "sql_share_of_cpu"),
    # no locks of single jobs and no messages, no job that inserts what it reads, none that changes rows alone
    *("lock_holders", "unanswered_messages", "mirror_copy_blocking", "mirror_serial_jobs"),
    # no synchronous I/O of RMF
    "sync_io_links",
    # no pages moved, no processor taken away
    *("cpu_taken_away", "paging"),
}
"""Questions for which the stories hold no data; every other returns rows."""


@pytest.fixture(scope="module")
def stories(published: Callable[[str], Any]) -> None:
    for story in STORIES:
        published(story)


@pytest.mark.usefixtures("stories")
def test_every_question_about_the_stories_returns_rows(reader: ClickHouse) -> None:
    empty = {name for name, query in queries().items() if not run_stored(reader, query)}
    assert empty - WITHOUT_DATA == set()


@pytest.mark.usefixtures("stories")
def test_a_command_prints_what_its_page_shows(counterflow: Run) -> None:
    shown = [of for of in sessions() if words(of[1])[:2] == ["counterflow", "sql"]]
    assert shown
    for block, command, printed in shown:
        run = counterflow(*words(command)[1:])
        assert agrees(printed, run.stdout), f"{block}\n{run.stdout}{run.stderr}"
