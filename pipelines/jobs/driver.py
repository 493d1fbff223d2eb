"""Submits Flink SQL: the only module that imports PyFlink, run by the Python of Flink's own environment.

Reads one JSON object on standard input, `{"jobs": [{"job", "configuration", "statements", "inserts"}, ...]}`, submits
each as one Flink job (its INSERTs share what they read) and prints `{"job", "job_id"}` a line as soon as it is
accepted. It imports nothing of Counterflow, whose packages that environment does not have.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyflink.common import Configuration  # type: ignore[import-not-found]
from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]


def submit(job: dict[str, Any]) -> str:
    """Submit one job; returns its Flink job id."""
    configuration = Configuration()
    for name, value in job["configuration"].items():
        configuration.set_string(name, value)
    environment = TableEnvironment.create(EnvironmentSettings.new_instance().with_configuration(configuration).build())
    for statement in job["statements"]:
        environment.execute_sql(statement)
    inserts = environment.create_statement_set()
    for insert in job["inserts"]:
        inserts.add_insert_sql(insert)
    return str(inserts.execute().get_job_client().get_job_id())


def main() -> None:
    """Submit every job that standard input asks for."""
    for job in json.load(sys.stdin)["jobs"]:
        print(json.dumps({"job": job["job"], "job_id": submit(job)}), flush=True)


if __name__ == "__main__":
    main()
