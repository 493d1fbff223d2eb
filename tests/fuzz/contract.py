"""What every format promises, whatever the bytes: the `Format` protocol, and what the agent relies on."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

import orjson

from counterflow.collectors.agent.envelope import Origin, invalid, refused
from counterflow.collectors.agent.frames import Broken, Found, Frames
from counterflow.collectors.formats import formats
from counterflow.collectors.records import Context, Item, Position, Reason, Record, Reject, Table
from counterflow.schemas.definition import datasets
from tests.golden.cases import cases
from tests.support.streams import Trickle, found, newest_position

ORIGIN = Origin("input", "fuzz")
HEAD = 65_536
FORMATS = Path(__file__).parents[2] / "collectors/formats"


def corpus(name: str) -> Path:
    """Return the folder of inputs that once failed, and of those that reach lines which no golden case reaches."""
    return FORMATS / name / "cases/fuzz"


def seeds(name: str) -> dict[str, bytes]:
    """Return the inputs of a format by path: those of its golden cases and those of its corpus."""
    golden = {case.name: case.input for case in cases(name)}
    return golden | {f"fuzz/{path.name}": path.read_bytes() for path in sorted(corpus(name).glob("*"))}


def parse(
    name: str, content: bytes, *, complete: bool = True, at: Position | None = None, size: int = HEAD
) -> list[Item]:
    zone, columns = ZoneInfo("Europe/Berlin"), {"ci_written": "kd5.sitelog.cis"}  # a running count that a site names
    context = Context("input", zone, "SYS1", complete=complete, date_order="dmy", columns=columns)
    return list(formats()[name].parse(Trickle(content, size), context, at))


def check(name: str, content: bytes) -> None:
    """Read `content` as a format, in one piece and in two, and hold the format to its promises."""
    assert formats()[name].recognises(content[:HEAD]) in (True, False)
    whole = parse(name, content)
    _judge(whole, len(content))
    # The bytes decide where the input is cut, so that a failure repeats.
    digest = hashlib.blake2b(content, digest_size=8).digest()
    cut = int.from_bytes(digest[:4]) % (len(content) + 1)
    check_cut(name, content, cut, (1 + digest[4], 1 + 16 * digest[5]), whole)


def check_every_line_end(name: str, content: bytes) -> None:
    """Read `content` as a format that is still being written at the end of each of its lines, then as a whole."""
    whole = parse(name, content)
    cut = 0
    while cut := content.find(b"\n", cut) + 1:
        check_cut(name, content, cut, whole=whole)


def check_every_position(name: str, content: bytes) -> None:
    """Read `content` as a format from each of its positions on, as it comes back from a checkpoint: it is the rest."""
    whole = parse(name, content)
    for at, item in enumerate(whole):
        if isinstance(item, Position):
            stored = newest_position(whole[: at + 1])
            assert found(parse(name, content, at=stored)) == found(whole[at:]), f"resumed at {item.byte_offset}"


def check_cut(
    name: str, content: bytes, cut: int, sizes: tuple[int, int] = (HEAD, HEAD), whole: list[Item] | None = None
) -> None:
    """Read `content` up to `cut` as a file that grows, then the rest, in reads of at most `sizes`: it is the whole."""
    first = parse(name, content[:cut], complete=False, size=sizes[0])
    rest = parse(name, content, at=newest_position(first), size=sizes[1])
    assert found(first) + found(rest) == found(parse(name, content) if whole is None else whole), f"cut at {cut}"


def _judge(items: list[Item], size: int) -> None:
    frames: Frames[None] = Frames("fuzz")
    made: list[Found[None]] = []
    offset = 0
    for item in items:
        match item:
            case Position():
                assert offset <= item.byte_offset <= size
                assert Position(**orjson.loads(orjson.dumps(item))) == item
                offset = item.byte_offset
            case Reject():
                assert item.reason in Reason
                assert item.detail
                made += _published(frames, [*refused(item, ORIGIN)])
            case Record() | Table():
                for record in item.records():
                    assert record.fields.keys() <= _columns(record.dataset)
                    assert not any(isinstance(v, float) and not math.isfinite(v) for v in record.fields.values())
                    assert None not in record.fields.values()
                made += _published(frames, [item])
    for one in [*made, *frames.drain()]:
        if isinstance(one, Broken):  # it becomes a dead letter, which must be valid
            kept: Frames[None] = Frames("fuzz")
            reports = _published(kept, [*invalid(one.record, one.why, Reject(Reason.SCHEMA, "", "none"), ORIGIN)])
            assert not [other for other in [*reports, *kept.drain()] if isinstance(other, Broken)]


def _published(frames: Frames[None], items: Sequence[Record | Table]) -> list[Found[None]]:
    """Return the frames that are due once the items are added."""
    found: list[Found[None]] = []
    for item in items:
        own = item._replace(fields=dict(item.fields)) if isinstance(item, Record) else item
        found += frames.add(own, None, None)
    return found


@cache
def _columns(dataset: str) -> set[str]:
    return set(datasets()[dataset].all_columns)
