"""Archives of files, made in memory."""

from __future__ import annotations

import io
import tarfile
import zipfile


def tarred(*files: tuple[str, bytes], compression: str = "") -> bytes:
    """Return a tar archive of files, by name."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=f"w:{compression}") as archive:  # type: ignore[call-overload]
        for name, content in files:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def zipped(*files: tuple[str, bytes | str]) -> bytes:
    """Return a zip archive of files, by name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return out.getvalue()
