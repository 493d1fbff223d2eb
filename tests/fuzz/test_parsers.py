"""Every format under bytes that nobody would write; a new format needs no change here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import formats
from tests.fuzz.contract import check, check_cut, check_every_line_end, check_every_position, seeds

NAMES = sorted(formats())
SMALL = 4_000
"""Bytes of an input that is read once for each of its lines."""
REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize("name", NAMES)
def test_golden_inputs_and_the_corpus_hold(name: str) -> None:
    for path, content in seeds(name).items():
        try:
            check(name, content)
            if len(content) < SMALL:
                check_every_line_end(name, content)
                check_every_position(name, content)
        except Exception as error:
            error.add_note(path)
            raise


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_an_input_that_is_cut_anywhere_is_read_as_the_whole(name: str, data: st.DataObject) -> None:
    content = data.draw(st.sampled_from([content for content in seeds(name).values() if len(content) < 20_000]))
    sizes = st.integers(1, 200)
    check_cut(name, content, data.draw(st.integers(0, len(content))), (data.draw(sizes), data.draw(sizes)))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_pieces_of_real_inputs_in_any_order_hold(name: str, data: st.DataObject) -> None:
    """Cut, doubled, joined with another input, and damaged in places."""
    known = [content[:20_000] for content in seeds(name).values() if content]
    content = bytearray()
    for source in data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=3)):
        begin = data.draw(st.integers(0, len(source)))
        content += source[begin : data.draw(st.integers(begin, len(source)))]
    words = st.sampled_from(
        [b"\n", b",", b";", b'"', b"{", b"[", b"-1", b"1e999", b"9" * 30, b"\x00", b"\xff\xfe", b"\xc2\x9b"]
    )
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 8))] = data.draw(st.one_of(words, st.binary(max_size=8)))
    check(name, bytes(content))


def test_hostile_input_of_any_size_takes_little_memory() -> None:
    """Endless lines and strings, a million columns, JSON as deep as it is long: 70 MiB, in their own process.

    `python -m tests.fuzz.hostile 1024` makes them a gigabyte long.
    """
    run("tests.fuzz.hostile", "70")


def test_coverage_guided_fuzzing_runs(tmp_path: Path) -> None:
    """Of one format, and shortly; `make fuzz` is the long run of all."""
    run("tests.fuzz", "--format", "ycsb", "--seconds", "1", "--seed", "1", "--work", str(tmp_path))


def run(*words: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", *words], cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
