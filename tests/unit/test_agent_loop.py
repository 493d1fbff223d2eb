"""The agent's loop over real files with a broker in memory; with a real one: tests/integration/test_agent.py."""

from __future__ import annotations

import base64
import dataclasses
import errno
import gzip
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any, BinaryIO
from zoneinfo import ZoneInfo

import pytest

from counterflow.collectors.agent import files as agent_files
from counterflow.collectors.agent.config import Commit, ListenSource, Source
from counterflow.collectors.agent.live import send_answer
from counterflow.collectors.agent.publish import Published, publish_files
from counterflow.collectors.agent.publisher import Publisher, Stopped
from counterflow.collectors.agent.runner import Runner
from counterflow.collectors.formats import formats, recognise
from counterflow.collectors.records import Context, Item, Position, Record
from counterflow.collectors.sources.polling.batch import Batch
from counterflow.collectors.sources.wrapped import Content, contents
from counterflow.schemas.definition import CHECKPOINTS
from tests.golden.cases import golden
from tests.support import agents
from tests.support.ibmi_export import write
from tests.support.memory_broker import KAFKA, Broker, Killed
from tests.support.packed import tarred, zipped
from tests.support.reading import read_file
from tests.support.recordings import RECORDINGS

NMON = (RECORDINGS / "linux_16n_plain.nmon").read_bytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "perf").mkdir()
    return tmp_path / "perf"


def table(workload: str, rows: int = 9, run: Callable[[int], str] = lambda row: "r1") -> str:
    """Return a recording of a workload."""
    lines = (f"2025-11-21T01:{n // 60:02}:{n % 60:02}Z,{workload},{run(n)},accounts,{n * 10},0" for n in range(rows))
    return "\n".join(["time_utc,workload,run_id,unit_of_work,done,failed", *lines, ""])


class Agent:
    """An agent in this process, round by round."""

    def __init__(self, *patterns: Path, **options: Any) -> None:
        commit = Commit(records=options.pop("records", 200_000))
        self.source = Source(name="s", paths=patterns, **{"settle_s": 0, "system": "A", **options})
        self.runner = Runner(Publisher(KAFKA, "agent", Event()), "agent", commit, Event())
        self.runner.begin([self.source])

    def round(self, times: int = 1) -> list[str]:
        """Look at every file as often as requested; return what is not read now."""
        for _ in range(times):
            self.runner.round([self.source])
        return self.runner.problems()

    def lag_bytes(self) -> float:
        value = self.runner.metrics.registry.get_sample_value("counterflow_agent_source_lag_bytes", {"source": "s"})
        assert value is not None
        return value


def publish(*paths: Path, **options: Any) -> Published:
    return publish_files(paths, kafka=KAFKA, agent_id="agent", **{"system": "A", **options})


def assert_exactly_once(broker: Broker, *files: Path, system: str | None = "A", also: Sequence[str] = ()) -> None:
    """Assert that the rows are those of a plain parse of the files, each once, numbered without a gap.

    `also` are the values of those that the failing format gives.
    """
    rows = broker.rows("agent")
    failing = [Record("config", row) for row in rows if row["dataset"] == "config" and row["source"] == "failing"]
    plain = (item for file in files for item in read_file(file, ZoneInfo("UTC"), system))
    agents.assert_exactly_once(rows, [*failing, *plain])
    assert values(broker) == list(also)


def reasons(broker: Broker) -> dict[str, str]:
    """Return the detail of the last quality record of each file."""
    return {row["file"]: row["detail"] for row in broker.rows("agent") if row["dataset"] == "quality"}


def gives_inode_to(path: Path, other: Path, content: bytes) -> None:
    """Delete a file and give its inode to another, as a file system may."""
    inode = path.stat().st_ino
    path.rename(other)
    other.write_bytes(content)
    assert other.stat().st_ino == inode


class Failing:
    """A format that fails at a line with `FAIL`, and has the state of `states` after each other."""

    name = "failing"
    fails = True

    def __init__(self, *states: Any) -> None:
        self.states = states

    def recognises(self, head: bytes) -> bool:
        return head.startswith(b"failing")

    def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
        place = position or Position(0, 0)
        stream.seek(place.byte_offset)
        for number, line in enumerate(stream, place.line + 1):
            place = Position(place.byte_offset + len(line), number, {"s": self.states[number] if self.states else 0})
            if self.fails and b"FAIL" in line:
                raise ZeroDivisionError(context.file)
            fields = {"ts": f"2026-03-02T08:00:{number:02}Z", "system": "A", "source": "failing"}
            yield Record("config", {**fields, "section": "s", "item": "", "name": "n", "value": line.decode().strip()})
            if b"no position" not in line:
                yield place


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    form = Failing()
    known = {"failing": form, **formats()}
    monkeypatch.setattr("counterflow.collectors.agent.reading.formats", lambda: known)
    for module in ("reading", "agent.reading"):
        monkeypatch.setattr(
            f"counterflow.collectors.{module}.recognise",
            lambda head: form if form.recognises(head) else recognise(head),
        )
    return form


def values(broker: Broker) -> list[str]:
    return [row["value"] for row in broker.rows("agent") if row["dataset"] == "config" and row["source"] == "failing"]


@pytest.mark.parametrize("fault", ["lost", "killed behind it"])
@pytest.mark.parametrize("number", range(2, 18))
def test_whichever_commit_fails_each_record_is_published_once(
    broker: Broker, folder: Path, failing: Failing, fault: str, number: int
) -> None:
    """Files that grow, are renamed, packed, or fail, while the agent commits at every position.

    Of an agent that is killed before a commit the broker knows what it knew behind the commit before it.
    """
    grows, renamed, packed, bad = (folder / name for name in ("a.nmon", "b.nmon", "packed.zip", "c.x"))
    sections = (b"AAA", b"CPU_ALL", b"DISK", b"ZZZZ")
    short = b"".join(line for line in NMON.splitlines(keepends=True) if line.startswith(sections))
    short = short[: short.index(b"ZZZZ,T0008")]
    cut = short.index(b"ZZZZ,T0006")
    grows.write_bytes(short[:cut])
    renamed.write_bytes(short.replace(b"AAA,host,vm", b"AAA,host,vn"))
    bad.write_text("failing\nline 2\nno position\nFAIL\n")
    packed.write_bytes(zipped(("one.csv", table("one")), ("two.nmon", short.replace(b"AAA,host,vm", b"AAA,host,vo"))))
    if fault == "lost":
        broker.lose = lambda count: count == number
    else:
        broker.kill = lambda count: count == number
    agents: list[Agent] = []

    def rounds() -> None:
        while True:
            try:
                agents[:] = agents or [
                    Agent(folder / "*.nmon", folder / "*.zip", folder / "*.x", records=1, system=None)
                ]
                agents[0].round(40)
                return
            except Killed:
                agents.clear()

    rounds()
    with grows.open("ab") as more:
        more.write(short[cut:])
    renamed = renamed.rename(folder / "b.nmon.1")
    rounds()
    assert broker.commits >= 18
    assert_exactly_once(broker, grows, renamed, packed, system=None, also=["failing", "line 2"])


OTHER = b"Mar  2 08:00:00 host sshd[1]: Failed password for invalid user hunter2 from 10.1.2.3\n"


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("size", [len(NMON) // 2, 2 * len(NMON)], ids=["smaller", "larger"])
def test_an_inode_that_another_file_has_now_is_not_published(
    broker: Broker, folder: Path, running: bool, size: int
) -> None:
    path = folder / "a.nmon"
    path.write_bytes(NMON)
    agent = Agent(folder / "*.nmon")
    agent.round()
    before = broker.rows("agent")
    gives_inode_to(path, folder / "auth.log", (OTHER * (size // len(OTHER) + 1))[:size])
    (agent if running else Agent(folder / "*.nmon")).round(2)
    assert broker.rows("agent") == before


def test_an_unread_file_is_known_under_another_name_by_its_first_bytes(
    broker: Broker, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without `follow` nothing is read before it settles, so no checkpoint has them."""
    options = {"follow": False, "settle_s": 3600}
    for name in ("renamed.nmon", "deleted.nmon"):
        (folder / name).write_bytes(NMON[:100_000])
    agent = Agent(folder / "*.nmon", **options)
    agent.round()
    assert broker.rows("agent") == []
    renamed = (folder / "renamed.nmon").rename(folder / "renamed.nmon.1")
    renamed.write_bytes(NMON)
    gives_inode_to(folder / "deleted.nmon", folder / "auth.log", OTHER * 5_000)
    agent.round()
    later = SimpleNamespace(time=time.time, monotonic=lambda: time.monotonic() + 7200)
    monkeypatch.setattr("counterflow.collectors.agent.watched.time", later)
    agent.round()
    assert_exactly_once(broker, renamed)
    assert reasons(broker) == {str(folder / "deleted.nmon"): "gone before it was read to its end"}


def test_a_renamed_file_is_read_on_and_costs_no_look_at_its_bytes_afterwards(
    broker: Broker, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "a.nmon"
    cut = NMON.index(b"ZZZZ,T0010")
    path.write_bytes(NMON[:cut])
    agent = Agent(folder / "*.nmon", settle_s=3600)
    agent.round()
    moved = path.rename(folder / "a.nmon.1")
    with moved.open("ab") as out:
        out.write(NMON[cut:])
    agent.round()
    agent = Agent(folder / "*.nmon")
    agent.round()
    assert_exactly_once(broker, moved)
    monkeypatch.setattr(agent_files, "fingerprint", lambda *_: pytest.fail("it did not change"))
    agent.round()


def test_a_device_with_another_number_after_a_restart_loses_and_repeats_nothing(broker: Broker, folder: Path) -> None:
    path, done = folder / "a.nmon", folder / "done.nmon"
    cut = NMON.index(b"ZZZZ,T0010")
    path.write_bytes(NMON[:cut])
    done.write_bytes(NMON.replace(b"AAA,host,vm", b"AAA,host,vn"))
    Agent(folder / "*.nmon").round()
    known = broker.committed("agent")
    broker.messages = [found for found in broker.messages if found[0] != CHECKPOINTS]
    publisher = Publisher(KAFKA, "agent", Event())
    publisher.start()
    read_at = time.time() - 8 * 86_400  # longer ago than a file that is gone is remembered
    files = [dataclasses.replace(one, device=one.device + 1, read_at=read_at) for one in known.files.values()]
    publisher.commit(files, (), known.seq)
    with path.open("ab") as out:
        out.write(NMON[cut:])
    agent = Agent(folder / "*.nmon")
    assert agent.round(3) == []
    assert agent.lag_bytes() == 0
    assert_exactly_once(broker, path, done)
    done.unlink()
    assert agent.round() == []
    assert not [detail for detail in reasons(broker).values() if "gone" in detail]


def test_unpacking_lasts_longer_than_a_transaction_may_stay_open(
    broker: Broker, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with an open end is read before; of a packed one each member has to be unpacked."""

    def slow(raw: BinaryIO) -> Iterator[Content]:
        members = contents(raw)
        while True:
            broker.ahead_s += 20
            if (found := next(members, None)) is None:
                return
            yield found

    monkeypatch.setattr(agent_files, "contents", slow)
    chance = random.Random(7)
    members = [(f"{name}.csv", table(name, run=lambda _: chance.randbytes(20_000).hex())) for name in "bcd"]
    (folder / "a.nmon").write_bytes(NMON)
    (folder / "packed.zip").write_bytes(zipped(*members))
    assert (folder / "packed.zip").stat().st_size > 300_000, "a large one"
    agent = Agent(folder)
    agent.round()
    assert agent.runner.metrics.registry.get_sample_value("counterflow_agent_rewinds_total") == 0
    assert_exactly_once(broker, folder / "a.nmon", folder / "packed.zip")


def test_a_file_that_failed_before_a_transaction_was_lost_is_reported(
    broker: Broker, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = folder / "a.csv.gz", folder / "b.csv"
    bad.write_bytes(gzip.compress(table("a").encode()))
    good.write_text(table("b"))

    def full(raw: BinaryIO) -> Iterator[Content]:
        raise OSError(errno.ENOSPC, "No space left on device")
        yield

    monkeypatch.setattr(agent_files, "contents", full)
    broker.lose = lambda number: number == 2  # the first is that of the start
    done = publish(bad, good)
    assert broker.commits > 2
    assert done.failures == {str(bad): "No space left on device"}
    assert_exactly_once(broker, good)
    assert reasons(broker) == done.failures


def test_more_files_fail_than_a_broker_may_lose_transactions(broker: Broker, folder: Path, failing: Failing) -> None:
    bad = [folder / f"{number}.x" for number in range(4)]
    for path in bad:
        path.write_text(f"failing {path.stem}\nno position\nFAIL\n")
    good = folder / "z.csv"
    good.write_text(table("good"))
    done = publish(*bad, good)
    assert done.failures == {str(path): f"the format failing failed: ZeroDivisionError('{path}')" for path in bad}
    assert done.records["workload"] == 9
    assert values(broker) == [f"failing {number}" for number in range(4)]


@pytest.mark.parametrize("state", ["\ud800", {1: 2}, 2**70, "x" * (4 << 20)], ids=["text", "key", "number", "size"])
def test_a_state_that_no_checkpoint_can_keep_stops_its_file_only(
    broker: Broker, folder: Path, failing: Failing, state: Any
) -> None:
    failing.states = ("", "good", "good", state, state)
    bad, good = folder / "a.x", folder / "b.csv"
    bad.write_text("failing\nline 2\nline 3\n")
    good.write_text(table("good"))
    agent = Agent(folder)
    [problem] = agent.round(3)
    assert problem.startswith(f"{bad}: the format failing failed: ValueError('its state cannot be kept: ")
    assert values(broker) == ["failing", "line 2"]
    assert [row["seq"] for row in broker.rows("agent")] == list(range(1, len(broker.rows("agent")) + 1))
    assert agent.runner.metrics.registry.get_sample_value("counterflow_agent_rewinds_total") == 0
    assert sum(row["dataset"] == "workload" for row in broker.rows("agent")) == 9
    again = Agent(folder)
    again.round(2)
    assert values(broker) == ["failing", "line 2"]


def test_a_file_that_is_named_twice_or_has_links_is_published_once(broker: Broker, folder: Path) -> None:
    path = folder / "a.csv"
    path.write_text(table("a"))
    (folder / "latest.csv").symlink_to("a.csv")
    (folder / "hard.csv").hardlink_to(path)
    assert publish(path, path, folder / "latest.csv", folder / "hard.csv").records["workload"] == 9
    assert_exactly_once(broker, path)


def test_problems_end_with_their_cause_and_a_second_one_is_reported_again(broker: Broker, folder: Path) -> None:
    loop, junk, packed = (folder / name for name in ("loop.nmon", "junk.nmon", "packed.zip"))
    junk.write_text("not a recording")
    packed.write_bytes(zipped(("member.txt", "not a recording either")))
    (folder / "good.nmon").write_bytes(NMON)
    loop.symlink_to(loop.name)
    agent = Agent(folder, follow=True)
    found = [problem.partition(": ")[0] for problem in agent.round(3)]
    assert sorted(found) == sorted(map(str, (loop, junk, f"{packed}!/member.txt")))
    reported = len(broker.rows("agent"))
    assert len(agent.round(3)) == 3
    assert len(broker.rows("agent")) == reported
    for path in (loop, junk, packed):
        path.unlink()
    assert agent.round() == []
    loop.symlink_to(loop.name)
    assert len(agent.round()) == 1
    assert len(broker.rows("agent")) == reported + 1


def test_broken_rows_of_one_place_are_dead_letters_of_their_own(broker: Broker, folder: Path, failing: Failing) -> None:
    """Key of the table: system, origin, stage, ts; of quality: system, file, line, reason, detail, ts."""
    path = folder / "a.x"
    path.write_bytes(b"failing\n")
    form = failing

    def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
        for name in ("a", "b", "c"):
            yield Record("config", {"system": "A", "source": "failing", "section": name, "item": 1, "name": 2})

    form.parse = parse  # type: ignore[method-assign]
    publish(path)
    rows = broker.rows("agent")
    dead = [row for row in rows if row["dataset"] == "deadletter"]
    assert len({(row["system"], row["origin"], row["stage"], row["ts"]) for row in dead}) == 3
    assert {row["origin"].rpartition(".")[0] for row in dead} == {f"{path}:0"}
    assert {base64.b64decode(row["payload_base64"])[:0] for row in dead} == {b""}
    found = [row for row in rows if row["dataset"] == "quality" and row["reason"] == "schema"]
    assert len({(row["file"], row["line"], row["detail"], row["ts"]) for row in found}) == 3


@pytest.mark.parametrize(
    ("state", "position", "left"),
    [({"s": "\ud800"}, {"n": 1, "at": 7}, {"n": 1, "at": 7}), ({}, {"n": 1, "at": "\ud800"}, {"n": 1})],
    ids=["state", "position"],
)
def test_an_answer_whose_state_or_position_no_checkpoint_can_keep_is_refused_alone(
    broker: Broker,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    state: dict[str, Any],
    position: dict[str, Any],
    left: dict[str, Any],
) -> None:
    """The answer is reported as one whose format failed; the next one is published."""
    source = ListenSource(kind="listen", name="n")

    class Form(Failing):
        def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
            for item in super().parse(stream, context, None):
                yield Position(0, 0, state if position is None else {}) if isinstance(item, Position) else item

    monkeypatch.setattr("counterflow.collectors.agent.live.formats", lambda: {"njmon": Form()})
    agent = Agent(folder)
    transaction = agent.runner.transaction
    first = Batch("h", "njmon", "n from h", "h", position, body=b"failing 1\n")
    send_answer(source, first, transaction)
    agent.runner.commit()
    [known] = broker.committed("agent").streams.values()
    assert (known.position, known.state) == (left, {})
    state = {}
    send_answer(source, Batch("h", "njmon", "n from h", "h", {"n": 2}, body=b"failing 2\n"), transaction)
    agent.runner.commit()
    assert values(broker) == ["failing 2"]
    assert reasons(broker)["n from h"].startswith("the format failed: ValueError('its state cannot be kept: ")


def test_a_file_that_is_written_anew_starts_over_also_where_size_and_ends_stay(broker: Broker, folder: Path) -> None:
    path, before = folder / "a.nmon", folder / "a.copy"
    for file in (path, before):
        file.write_bytes(NMON)
    agent = Agent(folder / "*.nmon", system=None)
    agent.round()
    path.write_bytes(NMON.replace(b"AAA,host,vm", b"AAA,host,vn"))
    agent.round()
    assert_exactly_once(broker, before, path, system=None)


def test_a_file_is_published_once_unless_again_is_requested(broker: Broker, folder: Path) -> None:
    path = folder / "a.csv"
    path.write_text(table("a"))
    first = publish(path, run="base")
    renamed = path.rename(folder / "b.csv")
    second = publish(renamed)
    assert (second.records, second.skipped) == ({}, [renamed])
    assert_exactly_once(broker, renamed)
    assert {row["run"] for row in broker.rows("agent")} == {"base"}
    assert publish(renamed, again=True).records == first.records
    assert [row["seq"] for row in broker.rows("agent")] == list(range(1, 2 * sum(first.records.values()) + 1))


class Later(Event):
    """An event that is set after 50 calls, about one a snapshot: within the second recording of 30."""

    calls = 0

    def is_set(self) -> bool:
        self.calls += 1
        return self.calls > 50


def test_a_packed_file_is_published_member_by_member_and_goes_on_where_it_was_stopped(
    broker: Broker, folder: Path
) -> None:
    members = [folder / f"host{number}.nmon" for number in range(3)]
    for number, member in enumerate(members):
        member.write_bytes(NMON.replace(b"AAA,host,vm", b"AAA,host,v%d" % number))
    archive = folder / "month.zip"
    one, two, three = (member.read_bytes() for member in members)
    archive.write_bytes(zipped(("a/one.nmon", one), ("two.nmon.gz", gzip.compress(two)), ("three.nmon", three)))
    with pytest.raises(Stopped):
        publish(archive, system=None, stop=Later())
    sizes = {Path(kept.path).name: kept.size for kept in broker.committed("agent").files.values()}
    assert sizes == {"one.nmon": len(NMON), "two.nmon.gz": None}
    done = publish(archive, system=None)
    assert (done.failures, done.skipped) == ({}, [])
    assert_exactly_once(broker, *members, system=None)
    assert publish(archive, system=None).skipped == [archive]


def test_a_file_that_yielded_nothing_is_read_again_and_a_path_without_a_file_leaves_no_row(
    broker: Broker, folder: Path
) -> None:
    """The first two attempts name no order of dates, the third does."""
    packed, missing = folder / "screens.tar", folder / "typo.nmon"
    packed.write_bytes(tarred(("screen.txt", golden("wrkdsksts/date_in_two_readings").input)))
    for _ in range(2):
        assert publish(packed).failures.keys() == {f"{packed}!/screen.txt"}
    done = publish(packed, date_order="dmy")
    assert (done.failures, done.records["disk"] > 0) == ({}, True)
    before = len(broker.rows("agent"))
    assert publish(missing).failures == {str(missing): "no such file; check the path"}
    assert len(broker.rows("agent")) == before


def test_the_late_half_of_a_job_makes_it_whole(broker: Broker, folder: Path) -> None:
    """QAPMJOBMI is published before QAPMJOBOS exists; where both exist in time, QAPMJOBOS has nothing to add."""
    when = {"DTETIM": "260716001500", "INTSEC": 900, "DTECEN": "1", "DTCEN": "1"}
    job = {"JBNAME": "A", "JBUSER": "ANNA", "JBNBR": "000001", "JBTDE": "00000000000000A1"}
    rows = [{**when, **job, "INTNUM": 1, "JBCPU": 12.5, "JBLRD": 7, "JBSSYS": "QBATCH"}]

    def files(collection: str) -> Iterator[Path]:
        for table in ("QAPMJOBMI", "QAPMJOBOS"):
            file = folder / f"{collection}_{table}.csv"
            with file.open("wb") as out:
                write(out, table, rows)
            yield file

    def jobs() -> list[tuple[float | None, float | None]]:
        found = [row for row in broker.rows("agent") if row["dataset"] == "job"]
        return [(row.get("cpu_ms"), row.get("logical_reads")) for row in found]

    for file in files("Q197"):
        publish(file)
    assert jobs() == [(12.5, None), (12.5, 7)]
    publish(*files("Q198"))
    assert jobs()[2:] == [(12.5, 7)]
