"""Submits Flink jobs: the only module that imports PyFlink, run by the Python of Flink's own environment.

Reads a JSON object a line, `{"jobs": [{"job", "configuration", "statements", "inserts"}, ...]}`, submits each job as
one of Flink's (its INSERTs share what they read) and prints `{"job", "job_id"}` a line as soon as it is accepted,
`{"job", "error"}` where it is not. It ends with its input.
A job with a `rule` judges in between: its `intervals` go through the rule and come back as `judged`. One with
`rehearse` is planned and goes no further: its `job_id` is empty.

In application mode it is what the JobManager runs (`PythonDriver`), which hands on no input: the object, with one job,
is then in the file that its argument names, and the job's configuration names no target.

It imports nothing of Counterflow, whose packages that environment does not have, but rules, which need none: Flink
ships them to its TaskManagers (`python.files`), where alone they run.
"""

from __future__ import annotations

import json
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyflink.common import Configuration, Row, Types  # type: ignore[import-not-found]
from pyflink.datastream import StreamExecutionEnvironment  # type: ignore[import-not-found]
from pyflink.datastream.functions import KeyedProcessFunction  # type: ignore[import-not-found]
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor  # type: ignore[import-not-found]
from pyflink.java_gateway import get_gateway  # type: ignore[import-not-found]
from pyflink.table import ExplainDetail, StreamTableEnvironment  # type: ignore[import-not-found]

ENTITY = ("system", "entity_type", "entity")
JUDGED = {
    **dict.fromkeys(ENTITY, Types.STRING()),
    "ts_ms": Types.LONG(),
    "n": Types.LONG(),
    "interval_s": Types.DOUBLE(),
    "state": Types.STRING(),
    "signal": Types.STRING(),
    "stale": Types.BOOLEAN(),
    "reason": Types.STRING(),
    "since_ms": Types.LONG(),
    "evidence": Types.STRING(),
    "parameters": Types.STRING(),
}
COLUMNS = tuple(JUDGED)
"""What a judge is shipped with: types that a job was submitted with hold on to the JVM, and cannot be."""
_AT_ONCE = 2
SETTLE_MS, LONGEST_MS = 3_000, 20_000
"""Rows of an entity are judged together, in order, when none has come for so long, or the first waited so long: jobs
write theirs in bursts, in any order."""


class Judge(KeyedProcessFunction):  # type: ignore[misc]
    """Judges the rows of one entity with a rule.

    Rows wait in state until a processing-time timer fires; the end of an input fires none.
    """

    def __init__(self, rule: str) -> None:
        """Take the rule's name; the rule itself is there where this runs."""
        self._name = rule

    def open(self, runtime_context: Any) -> None:
        """Find the rule, and the state that Flink keeps."""
        from counterflow.pipelines import verdicts
        from counterflow.pipelines.rules import rules

        self._verdicts = verdicts
        self._rule = rules()[self._name]
        self._parameters = self._rule.parameters()
        kept = Types.PICKLED_BYTE_ARRAY()
        self._waiting = runtime_context.get_list_state(ListStateDescriptor("waiting", kept))
        self._series = runtime_context.get_state(ValueStateDescriptor("series", kept))
        self._first_ms = runtime_context.get_state(ValueStateDescriptor("first_ms", Types.LONG()))
        self._newest_ms = runtime_context.get_state(ValueStateDescriptor("newest_ms", Types.LONG()))
        metrics = runtime_context.get_metrics_group()
        self._history = metrics.counter("history")
        self._unreadable = metrics.counter("unreadable")

    def process_element(self, value: Any, ctx: Any) -> None:
        """Keep a row until its time."""
        self._waiting.add(value.as_dict())
        timers = ctx.timer_service()
        now_ms = timers.current_processing_time()
        self._newest_ms.update(now_ms)
        if self._first_ms.value() is None:
            self._first_ms.update(now_ms)
            timers.register_processing_time_timer(now_ms + SETTLE_MS)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        """Judge the rows that wait, unless more of them are coming."""
        due_ms = min(self._newest_ms.value() + SETTLE_MS, self._first_ms.value() + LONGEST_MS)
        if timestamp < due_ms:
            ctx.timer_service().register_processing_time_timer(due_ms)
            return
        rows = list(self._waiting.get())
        self._waiting.clear()
        self._first_ms.clear()
        series = self._series.value() or self._verdicts.Series()
        series, said = self._verdicts.judge(self._rule, self._parameters, series, rows)
        self._series.update(series)
        self._history.inc(said.history)
        self._unreadable.inc(len(said.unreadable))
        entity = {column: rows[0][column] for column in ENTITY}
        for verdict in said.verdicts:
            row = {**entity, **verdict}
            yield Row(*(row[column] for column in COLUMNS))


def submit(job: dict[str, Any]) -> str:
    """Submit one job; returns its Flink job id, or nothing where it was rehearsed."""
    configuration = Configuration()
    for name, value in job["configuration"].items():
        configuration.set_string(name, value)
    if rule := job.get("rule"):
        for name in ("python.executable", "python.client.executable"):
            configuration.set_string(name, sys.executable)
        configuration.set_string("python.pythonpath", sysconfig.get_path("purelib"))
    java = get_gateway().jvm.org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
    # Outside a JobManager the second would start a cluster here, whatever `execution.target` says.
    environment_of = java if "execution.target" in job["configuration"] else java.getExecutionEnvironment
    stream = StreamExecutionEnvironment(environment_of(configuration._j_configuration))
    environment = StreamTableEnvironment.create(stream)
    for statement in job["statements"]:
        environment.execute_sql(statement)
    if rule:
        rows = environment.to_data_stream(environment.from_path("intervals"))
        entities = rows.key_by(lambda row: json.dumps([row[column] for column in ENTITY]), Types.STRING())
        judged = entities.process(Judge(rule), Types.ROW_NAMED([*JUDGED], [*JUDGED.values()]))
        environment.create_temporary_view("judged", environment.from_data_stream(judged))
    inserts = environment.create_statement_set()
    for insert in job["inserts"]:
        inserts.add_insert_sql(insert)
    if job.get("rehearse"):
        inserts.explain(ExplainDetail.JSON_EXECUTION_PLAN)  # with the code that Flink makes for it
        return ""
    return str(inserts.execute().get_job_client().get_job_id())


def attempt(job: dict[str, Any]) -> dict[str, str]:
    """Submit one job, and say what came of it: one that is refused keeps no other from being submitted."""
    try:
        return {"job": job["job"], "job_id": submit(job)}
    except Exception:
        return {"job": job["job"], "error": traceback.format_exc()}


def main() -> None:
    """Submit every job that is asked for: while Flink takes one, the next is planned."""
    given = sys.argv[1:]
    asked = [Path(given[0]).read_text(encoding="utf-8")] if given else sys.stdin
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for line in asked:
            for said in pool.map(attempt, json.loads(line)["jobs"]):
                print(json.dumps(said), flush=True)
                if given and "error" in said:
                    sys.exit(said["error"])


if __name__ == "__main__":
    main()
