"""The files that this process watches: when each changed last, where it went, and how much of it is not committed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from counterflow.collectors.agent.checkpoint import Checkpoint
from counterflow.collectors.agent.config import Source
from counterflow.collectors.sources.files import FileId, inodes


@dataclass(slots=True)
class Seen:
    """What this process saw of a file.

    `changed_at` and `retry_at` are of the monotonic clock, in seconds. `verified`: the fingerprint was compared since
    the last change. `read_to` is the size up to which the file was read without being complete, -1 for none. `head` is
    the number of first bytes and their fingerprint, where no checkpoint has them: by it the file is known under another
    name.
    """

    source: Source
    path: Path
    size: int = -1
    mtime_ns: int = 0
    changed_at: float = 0.0
    verified: bool = False
    read_to: int = -1
    retry_at: float = 0.0
    head: tuple[int, str] | None = None

    @property
    def quiet_s(self) -> float:
        """Seconds since the file changed."""
        return time.monotonic() - self.changed_at


class Watched:
    """Every file that was seen and is not gone, by its identity."""

    def __init__(self) -> None:
        self._seen: dict[FileId, Seen] = {}

    def expect(self, file: FileId, source: Source, path: Path) -> None:
        self._seen[file] = Seen(source, path)

    def rewind(self) -> None:
        """Let every file be read again behind its checkpoint."""
        for seen in self._seen.values():
            seen.read_to, seen.retry_at = -1, 0.0

    def look(self, source: Source, path: Path, stat: os.stat_result) -> Seen:
        """Return what this process saw of a file, after noting a change."""
        seen = self._seen.setdefault(FileId.of(stat), Seen(source, path))
        seen.path = path
        if (seen.size, seen.mtime_ns) != (stat.st_size, stat.st_mtime_ns):
            age_s = max(0.0, time.time() - stat.st_mtime) if seen.size < 0 else 0.0
            seen.size, seen.mtime_ns = stat.st_size, stat.st_mtime_ns
            seen.changed_at = time.monotonic() - age_s
            seen.verified, seen.head = False, None
        return seen

    def missing(self, visited: Collection[FileId]) -> Iterator[tuple[FileId, Seen, Path | None]]:
        """Yield each file that is not in `visited`, with its present path if it is still in its folder."""
        folders: dict[Path, dict[int, Path]] = {}
        for file, seen in list(self._seen.items()):
            if file not in visited:
                folder = seen.path.parent
                if folder not in folders:
                    folders[folder] = inodes(folder)
                yield file, seen, folders[folder].get(file.inode)

    def let_go(self, file: FileId) -> None:
        del self._seen[file]

    def is_renumbered(self, file: FileId, visited: Collection[FileId]) -> bool:
        """Return whether a visited file has the inode and path of a missing one: its device has another number now."""
        path = self._seen[file].path
        others = (other for other in visited if other.inode == file.inode)
        return any(self._seen[other].path == path for other in others if other in self._seen)

    def lag_bytes(
        self, source: Source, visited: Collection[FileId], known_of: Callable[[FileId, Path], Checkpoint | None]
    ) -> int:
        """Return how many bytes of the visited files of a source are not committed; `known_of` finds checkpoints."""
        lag = 0
        for file in visited:
            seen = self._seen.get(file)
            if seen is None or seen.source is not source:
                continue
            known = known_of(file, seen.path)
            if not (known and known.size == seen.size):
                lag += max(0, seen.size - (known.position.byte_offset if known else 0))
        return lag
