"""Prints which tables each requested job reads and writes, as Flink's planner finds them; run by Flink's own Python.

The argument names a file with the requests that `render` makes; the driver's folder is the second argument.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from pyflink.common import Types  # type: ignore[import-not-found]
from pyflink.datastream import StreamExecutionEnvironment  # type: ignore[import-not-found]
from pyflink.table import StreamTableEnvironment  # type: ignore[import-not-found]

KINDS = {"STRING": Types.STRING(), "BIGINT": Types.LONG(), "DOUBLE": Types.DOUBLE(), "BOOLEAN": Types.BOOLEAN()}
SQL = {str(kind): name for name, kind in KINDS.items()}


def planned(job: dict[str, Any], steps: dict[str, Any]) -> dict[str, Any]:
    """Plan a job, without running it; any rows stand for those that a step makes."""
    environment = StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment())
    for name, value in job["configuration"].items():
        if name.startswith("table."):
            environment.get_config().set(name, value)
    for statement in job["statements"]:
        environment.execute_sql(statement)
    plans = []
    if step := job.get("step"):
        _, types = steps[step]
        plans.append(environment.from_path(job["reads"]).explain())
        columns = ", ".join(f"`{name}` {SQL[str(kind)]}" for name, kind in types.items())
        environment.execute_sql(f"CREATE TABLE `{job['makes']}` ({columns}) WITH ('connector' = 'datagen')")
    inserts = environment.create_statement_set()
    for insert in job["inserts"]:
        inserts.add_insert_sql(insert)
    plan = "\n".join([*plans, inserts.explain()])
    return {
        "job": job["job"],
        "reads": sorted(set(re.findall(r"TableSourceScan\(table=\[\[default_catalog, topics, (\w+)", plan))),
        "writes": sorted(set(re.findall(r"Sink\(table=\[default_catalog\.default_database\.(\w+)\]", plan))),
    }


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[2])
    from driver import STEPS  # type: ignore[import-not-found]

    for request in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        print("planned", json.dumps(planned(request, STEPS)), flush=True)
