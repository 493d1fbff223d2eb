"""Submits Flink jobs: the only module that imports PyFlink, run by the Python of Flink's own environment.

`flink run` runs it as a client (`pipelines.submission.driving`), and in application mode the JobManager does. Its
argument names a file with one JSON object, `{"jobs": [{"job", "configuration", "statements", "inserts", ...}, ...]}`.
It submits each as one Flink job (its INSERTs share their sources), and prints one line a job: `{"job", "job_id"}`, or
`{"job", "error"}` where Flink rejects it. A job with a `step` sends a view through Python and receives the rows back as
another (`STEPS`).

That environment lacks Counterflow's packages. So this module imports nothing of Counterflow but what the steps call,
which needs none of them: Flink ships it to its TaskManagers (`python.files`), and it runs only there.
"""

from __future__ import annotations

import json
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyflink.common import Configuration, Row, Types  # type: ignore[import-not-found]
from pyflink.datastream import StreamExecutionEnvironment  # type: ignore[import-not-found]
from pyflink.datastream.functions import KeyedProcessFunction  # type: ignore[import-not-found]
from pyflink.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor  # type: ignore[import-not-found]
from pyflink.table import StreamTableEnvironment  # type: ignore[import-not-found]

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
LINK = ("system", "link_type", "link")
WIRED = {
    **dict.fromkeys(LINK, Types.STRING()),
    "ts_ms": Types.LONG(),
    "n": Types.LONG(),
    "physical_port": Types.STRING(),
    "logical_port": Types.STRING(),
    "pair": Types.STRING(),
    "capacity_pct": Types.DOUBLE(),
    "line_bits_s": Types.DOUBLE(),
    "hops": Types.STRING(),
    "missing": Types.STRING(),
    "contradiction": Types.STRING(),
}
COLUMNS, WIRED_COLUMNS = tuple(JUDGED), tuple(WIRED)
"""Shipped with a step in place of the types: PyFlink's types refer to the JVM once used, and cannot be pickled."""
SAMPLES_KEPT = 5760
"""Samples of a link that are wired again when a setting is learned: a day at 15 s."""
SETTLE_MS, LONGEST_MS = 3_000, 20_000
"""Rows of an entity are judged together, in order, once none has arrived for `SETTLE_MS` or the oldest has waited for
`LONGEST_MS`: jobs write results in bursts, in any order."""


@contextmanager
def imported() -> Iterator[None]:
    """Import what Flink ships with a job; where that fails, the job's next attempt imports it anew.

    Flink unpacks the archive for each attempt of a job and deletes it afterwards, perhaps while it is imported. One
    interpreter, with the modules that it has imported, serves all attempts.
    """
    try:
        yield
    except (ImportError, LookupError, OSError):
        for name in [name for name in sys.modules if name.partition(".")[0] == "counterflow"]:
            del sys.modules[name]
        raise


class Judge(KeyedProcessFunction):  # type: ignore[misc]
    """Judges the rows of one entity with a rule.

    Rows wait in state until a processing-time timer fires.
    """

    def __init__(self, rule: str) -> None:
        """Take the rule's name; the rule itself is imported on the TaskManager."""
        self._name = rule

    def open(self, runtime_context: Any) -> None:
        """Look up the rule, and open the state that Flink keeps."""
        with imported():
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
        """Buffer a row until the timer fires."""
        self._waiting.add(value.as_dict())
        timers = ctx.timer_service()
        now_ms = timers.current_processing_time()
        self._newest_ms.update(now_ms)
        if self._first_ms.value() is None:
            self._first_ms.update(now_ms)
            timers.register_processing_time_timer(now_ms + SETTLE_MS)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        """Judge the waiting rows, unless more are still arriving."""
        due_ms = min(self._newest_ms.value() + SETTLE_MS, self._first_ms.value() + LONGEST_MS)
        if timestamp < due_ms:
            ctx.timer_service().register_processing_time_timer(due_ms)
            return
        rows = list(self._waiting.get())
        self._waiting.clear()
        self._first_ms.clear()
        series = self._series.value() or self._verdicts.Series()
        series, judgement = self._verdicts.judge(self._rule, self._parameters, series, rows)
        self._series.update(series)
        self._history.inc(judgement.history)
        self._unreadable.inc(len(judgement.unreadable))
        entity = {column: rows[0][column] for column in ENTITY}
        for verdict in judgement.verdicts:
            row = {**entity, **verdict}
            yield Row(*(row[column] for column in COLUMNS))


class Wire(KeyedProcessFunction):  # type: ignore[misc]
    """Finds the port of each sample of a system's links, and again where a setting that arrives later changes it."""

    def open(self, runtime_context: Any) -> None:
        """Open the state that Flink keeps: the settings of the system, and the times of its samples by link."""
        with imported():
            from counterflow.pipelines.wiring import Settings

        kept = Types.PICKLED_BYTE_ARRAY()
        self._nothing = Settings()
        self._settings = runtime_context.get_state(ValueStateDescriptor("settings", kept))
        self._samples = runtime_context.get_map_state(MapStateDescriptor("samples", Types.STRING(), kept))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        """Wire a sample, or learn a setting and yield the wires that it changes."""
        row = value.as_dict()
        before = self._settings.value() or self._nothing
        if row["link"] is not None:
            link = json.dumps([row[column] for column in LINK])
            times = self._samples.get(link) or []
            if row["ts_ms"] not in times:
                self._samples.put(link, [*times, row["ts_ms"]][-SAMPLES_KEPT:])
                yield self._wired(before, link, row["ts_ms"])
            return
        after = before.learn(row["section"], row["item"], row["name"], row["ts_ms"], row["value"])
        if after is before:
            return
        self._settings.update(after)
        for link, times in list(self._samples.items()):
            _, link_type, name = json.loads(link)
            for ts_ms in times:
                if after.wire(link_type, name, ts_ms) != before.wire(link_type, name, ts_ms):
                    yield self._wired(after, link, ts_ms)

    def _wired(self, settings: Any, link: str, ts_ms: int) -> Any:
        system, link_type, name = json.loads(link)
        wire = settings.wire(link_type, name, ts_ms).as_row()
        wire |= {"system": system, "link_type": link_type, "link": name, "ts_ms": ts_ms, "n": 1 + settings.learned}
        return Row(*(wire[column] for column in WIRED_COLUMNS))


STEPS = {
    "judge": (ENTITY, JUDGED),
    "wire": (("system",), WIRED),
}
"""The steps in Python: the columns that partition their input, and the types of the view that they make."""


def submit(job: dict[str, Any]) -> str:
    """Build a job's tables and INSERTs, submit it as one Flink job, and return its Flink job id."""
    configuration = Configuration()
    for name, value in job["configuration"].items():
        configuration.set_string(name, value)
    if step := job.get("step"):
        for name in ("python.executable", "python.client.executable"):
            configuration.set_string(name, sys.executable)
        configuration.set_string("python.pythonpath", sysconfig.get_path("purelib"))
    environment = StreamTableEnvironment.create(StreamExecutionEnvironment.get_execution_environment(configuration))
    for statement in job["statements"]:
        environment.execute_sql(statement)
    if step:
        key, types = STEPS[step]
        rows = environment.to_data_stream(environment.from_path(job["reads"]))
        keyed = rows.key_by(lambda row: json.dumps([row[column] for column in key]), Types.STRING())
        function = Judge(job["rule"]) if step == "judge" else Wire()
        stepped = keyed.process(function, Types.ROW_NAMED([*types], [*types.values()]))
        environment.create_temporary_view(job["makes"], environment.from_data_stream(stepped))
    inserts = environment.create_statement_set()
    for insert in job["inserts"]:
        inserts.add_insert_sql(insert)
    return str(inserts.execute().get_job_client().get_job_id())


def attempt(job: dict[str, Any]) -> dict[str, str]:
    """Submit one job; return its Flink job id, or the error: a rejected job does not hinder the others."""
    try:
        return {"job": job["job"], "job_id": submit(job)}
    except Exception:
        return {"job": job["job"], "error": traceback.format_exc()}


def main(requests: Path) -> bool:
    """Submit every requested job; return whether one was rejected."""
    rejected = False
    for job in json.loads(requests.read_text(encoding="utf-8"))["jobs"]:
        outcome = attempt(job)
        print(json.dumps(outcome), flush=True)
        rejected |= "error" in outcome
    return rejected


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
