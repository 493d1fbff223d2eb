"""An interrupted copy goes on only where the file is the same; with real servers: tests/integration/test_remote.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterflow.base.errors import CounterflowError
from counterflow.collectors.sources import remote

fsspec = pytest.importorskip("fsspec")


class Site:
    """A web server as fsspec shows it, whose connection breaks behind `breaks_at` bytes."""

    def __init__(self, content: bytes, breaks_at: int | None = None, **headers: str) -> None:
        self.content, self.breaks_at, self.headers = content, breaks_at, headers

    def info(self, name: str) -> dict[str, Any]:
        return {"name": name, "type": "file", "size": len(self.content), **self.headers}

    def cat_file(self, path: str, start: int, end: int) -> bytes:
        if self.breaks_at is not None and start >= self.breaks_at:
            raise OSError("cut")
        return self.content[start:end]


MONDAY, TUESDAY = b"MONDAY---" * 4, b"TUESDAY--" * 4


@pytest.mark.parametrize(
    ("before", "after", "content"),
    [
        ({"Last-Modified": "Mon"}, {"Last-Modified": "Tue"}, TUESDAY),
        ({"ETag": "1"}, {"ETag": "2"}, TUESDAY),
        ({}, {}, TUESDAY),
        ({"Last-Modified": "Mon"}, {"Last-Modified": "Mon"}, MONDAY),
    ],
    ids=["another time", "another tag", "no version", "the same"],
)
def test_an_interrupted_copy_goes_on_with_the_same_version_only(
    before: dict[str, str],
    after: dict[str, str],
    content: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remote, "_BLOCK", 10)
    address, first, second = "https://h/day.csv", Site(MONDAY, 20, **before), Site(content, **after)
    monkeypatch.setattr(fsspec, "filesystem", lambda *_, **__: first)
    with pytest.raises(CounterflowError, match="cut"):
        remote.mirror(address, tmp_path)
    monkeypatch.setattr(fsspec, "filesystem", lambda *_, **__: second)
    copied: list[int] = []
    [path] = remote.mirror(address, tmp_path, lambda _, done, __: copied.append(done))
    assert path.read_bytes() == content
    assert copied[0] == (30 if before == after != {} else 10)
    copied.clear()
    assert remote.mirror(address, tmp_path, lambda _, done, __: copied.append(done)) == [path]
    assert copied == [len(content)], "one that is whole is left alone"
