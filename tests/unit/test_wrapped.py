"""Compressed and packed files yield what the file itself yields; a damaged file or a bomb yields its reason."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pytest
import zstandard

from counterflow.collectors.reading import read_each
from counterflow.collectors.records import Item, Position, Reason, Record, Reject, singly
from counterflow.collectors.sources import wrapped
from counterflow.collectors.sources.wrapped import wrapping
from tests.golden.cases import golden
from tests.support.packed import tarred, zipped
from tests.support.reading import read_file

PLAIN = golden("nmon/defect_file_twice").input
COLLECTION = golden("ibmi_tables/jobs_joined").files


WRAPPED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.compress,
    "zip": lambda content: zipped(("a.nmon", content)),
    "tar": lambda content: tarred(("a.nmon", content)),
}
DRESSED = WRAPPED | {"utf-16": lambda content: content.decode().encode("utf-16")}
"""The dresses in which a file may come; text in UTF-16 holds no archive."""
COMPRESSED = ("gzip", "bzip2", "xz", "zstd")


def items(path: Path, content: bytes, name: str = "file") -> list[Item]:
    file = path / name
    file.write_bytes(content)
    return [item for item in read_file(file, UTC) if not isinstance(item, Position)]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[Item]:
    return items(tmp_path_factory.mktemp("plain"), PLAIN)


@pytest.mark.parametrize("outer", [None, *WRAPPED])
@pytest.mark.parametrize("inner", DRESSED)
def test_each_within_each_is_what_the_file_is(tmp_path: Path, plain: list[Item], inner: str, outer: str | None) -> None:
    content = DRESSED[inner](PLAIN)
    assert wrapping(content) == inner
    assert items(tmp_path, WRAPPED[outer](content) if outer else content) == plain


@pytest.mark.parametrize("kind", COMPRESSED)
def test_pieces_that_were_compressed_by_themselves_are_one_file(tmp_path: Path, plain: list[Item], kind: str) -> None:
    half = len(PLAIN) // 2
    assert items(tmp_path, WRAPPED[kind](PLAIN[:half]) + WRAPPED[kind](PLAIN[half:])) == plain


@pytest.mark.parametrize("kind", WRAPPED)
def test_what_is_cut_anywhere_is_read_as_far_as_it_goes_and_reported(tmp_path: Path, kind: str) -> None:
    content = WRAPPED[kind](PLAIN)
    end = 512 * (len(PLAIN) // 512 + 3) if kind == "tar" else len(content)  # the rest is zeros
    for cut in range(min(600, end // 2), end, max(1, end // 23)):
        found = items(tmp_path, content[:cut])
        rejects = [item for item in found if isinstance(item, Reject)]
        assert any(reject.reason is Reason.CUT_FILE and kind in reject.detail for reject in rejects), cut


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "xz"])
def test_what_lost_only_its_end_is_read_whole_and_its_end_reported(
    tmp_path: Path, plain: list[Item], kind: str
) -> None:
    fault, *found = items(tmp_path, WRAPPED[kind](PLAIN)[:-4])
    assert found == plain
    assert isinstance(fault, Reject)
    assert (fault.reason, fault.kept) == (Reason.CUT_FILE, "part")
    assert f"the {kind} file is cut or damaged after {len(PLAIN)} bytes of its content" in fault.detail
    assert (fault.line, fault.byte_offset) == (PLAIN.count(b"\n") + 1, len(PLAIN))


def test_a_wrong_checksum_does_not_claim_to_know_where_the_damage_is(tmp_path: Path, plain: list[Item]) -> None:
    content = bytearray(gzip.compress(PLAIN))
    content[-8] ^= 0xFF  # of the checksum
    fault, *found = items(tmp_path, bytes(content))
    assert found == plain
    assert isinstance(fault, Reject)
    assert f"cut or damaged after or within {len(PLAIN)} bytes of its content (CRC check failed" in fault.detail


def test_the_end_of_a_compressed_archive_is_reported_once_and_where_it_is(tmp_path: Path) -> None:
    def faults(content: bytes) -> list[tuple[str, str]]:
        file = tmp_path / "a.tgz"
        file.write_bytes(content)
        each = [(name, list(found)) for name, _, found in read_each(file, UTC)]
        rejects = [(name, item) for name, found in each for item in found if isinstance(item, Reject)]
        named = ((name.removeprefix(str(file)), item) for name, item in rejects if "copy it again" in item.detail)
        return [(name, item.detail.partition(" is ")[0]) for name, item in named]

    archive = tarred(("a.nmon", PLAIN), ("b.nmon", PLAIN))
    second = archive.rindex(PLAIN)
    assert faults(gzip.compress(archive)[:-8]) == [("", "the gzip file")]  # both members are whole
    stored = gzip.compress(archive, 0)  # a cut is where it is in the archive, but for the header of 15 bytes
    assert faults(stored[: 15 + second + 100]) == [("!/b.nmon", "the tar file"), ("", "the tar archive")]


def test_text_in_utf_16_that_ends_within_a_character_is_read_up_to_it(tmp_path: Path) -> None:
    first, *_ = items(tmp_path, DRESSED["utf-16"](PLAIN)[:-1])
    assert isinstance(first, Reject)
    assert (first.reason, first.kept) == (Reason.CUT_FILE, "part")


@pytest.mark.parametrize("kind", DRESSED)
def test_what_is_damaged_raises_nothing(tmp_path: Path, kind: str) -> None:
    content = DRESSED[kind](PLAIN)
    for at in range(0, len(content), max(1, len(content) // 61)):
        damaged = bytearray(content)
        damaged[at] ^= 0xFF
        assert items(tmp_path, bytes(damaged)) != []


@pytest.mark.parametrize("kind", WRAPPED)
def test_a_bomb_is_not_unpacked(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrapped, "FREE_BYTES", 1 << 20)
    monkeypatch.setattr(wrapped, "MAX_RATIO", 50)
    bomb = gzip.compress(bytes(8 << 20)) if kind == "tar" else bytes(8 << 20)
    (found,) = items(tmp_path, WRAPPED[kind](bomb))
    assert isinstance(found, Reject)
    assert found.reason is Reason.UNREADABLE
    assert "it unpacks to more than 50 times its" in found.detail


def test_nesting_and_number_of_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = PLAIN
    for _ in range(5):
        content = gzip.compress(content)
    (found,) = items(tmp_path, content)
    assert isinstance(found, Reject)
    assert found.detail == "a gzip within 4 others is not unpacked"
    monkeypatch.setattr(wrapped, "MAX_MEMBERS", 2)
    *_, last = items(tmp_path, zipped(*((f"{n}.nmon", b"") for n in range(3))))
    assert isinstance(last, Reject)
    assert "more than 2 files" in last.detail


def test_files_of_one_name_get_names_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "a.tar"
    file.write_bytes(tarred(("a.nmon", PLAIN), ("a.nmon", PLAIN)))
    assert [found.name for found in read_each(file, UTC)] == [f"{file}!/a.nmon", f"{file}!/a.nmon#2"]


def test_members_are_files_of_their_own_and_what_no_format_reads_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "a.zip"
    inner = gzip.compress(tarred(("b.nmon", PLAIN)))
    file.write_bytes(zipped(("x/a.nmon", PLAIN), ("x/.hidden", b"?"), ("README", b"hello\n"), ("in.tgz", inner)))
    found = {name: list(found) for name, _, found in read_each(file, UTC)}
    assert list(found) == [f"{file}!/x/a.nmon", f"{file}!/README", f"{file}!/in.tgz!/b.nmon"]
    (readme,) = found[f"{file}!/README"]
    assert isinstance(readme, Reject)
    assert readme.detail.startswith("not read, this is text that begins with `hello`")
    assert found[f"{file}!/x/a.nmon"] == found[f"{file}!/in.tgz!/b.nmon"]


def test_encrypted_members_and_links_are_refused(tmp_path: Path) -> None:
    content = bytearray(zipped(("a.nmon", PLAIN)))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    (found,) = items(tmp_path, bytes(content))
    assert isinstance(found, Reject)
    assert found.detail == "encrypted: unpack it, and give the file"
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        link = tarfile.TarInfo("a.nmon")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    (found,) = items(tmp_path, out.getvalue())
    assert isinstance(found, Reject)
    assert found.detail.startswith("a link")


@pytest.mark.parametrize("dress", ["gzip", "zip", "tgz"])
def test_tables_beside_each_other_are_found_in_the_same_dress(tmp_path: Path, dress: str) -> None:
    """QAPMJOBMI is read together with QAPMJOBOS, compressed beside it or in the same archive."""
    files = COLLECTION
    plain = tmp_path / "plain"
    plain.mkdir()
    for name, content in files.items():
        (plain / name).write_bytes(content)
    expected = [item for item in read_file(plain / "QAPMJOBMI.csv", UTC, "SYSA") if isinstance(item, Record)]
    assert any("logical_reads" in item.fields for item in expected)
    if dress == "gzip":
        for name, content in files.items():
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content))
        found = list(read_file(tmp_path / "QAPMJOBMI.csv.gz", UTC, "SYSA"))
    else:
        packed = [(f"x/{name}", content) for name, content in files.items()]
        content = zipped(*packed) if dress == "zip" else gzip.compress(tarred(*packed))
        (tmp_path / "all").write_bytes(content)
        each = {name: list(singly(items)) for name, _, items in read_each(tmp_path / "all", UTC, "SYSA")}
        found = each[f"{tmp_path}/all!/x/QAPMJOBMI.csv"]
    assert [item for item in found if isinstance(item, Record)] == expected
