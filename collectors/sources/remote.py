"""Files elsewhere, mirrored into a local folder: over HTTPS, from an object store, over SFTP.

A mirrored file keeps its identity while the remote one grows: new bytes are appended, so a reader of the copy continues
where it stood. A file that changed in any other way is fetched anew under a hidden name and then put in place at once.
An interrupted copy continues where it stopped.

Credentials are those of the machine: `AWS_…` and `~/.aws` for an object store, keys and `~/.ssh/known_hosts` for SSH,
or the files that `COUNTERFLOW_SSH_KEY` and `COUNTERFLOW_KNOWN_HOSTS` name. A server whose key is not known is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from counterflow.base.errors import CounterflowError

SCHEMES = ("https", "s3", "sftp")
_BLOCK = 8 << 20
_HEAD = 65_536
_SILENT_S = 60.0
"""Time after which a server that sends nothing is given up."""
_MAGIC = re.compile(r"[*?\[]")
_VERSIONS = ("ETag", "mtime", "LastModified", "Last-Modified")
"""What file systems call the version of a file."""

Progress = Callable[[str, int, int], None]
"""Called with an address, the number of its bytes that are here and its size."""


class Remote(NamedTuple):
    """A file elsewhere: its address, its path on its file system, its size in bytes and its version, where known."""

    address: str
    path: str
    size: int
    version: str


def is_remote(text: str) -> bool:
    """Return whether a text is the address of a file elsewhere."""
    return text.partition("://")[0] in SCHEMES and "://" in text


def mirror(address: str, folder: Path, progress: Progress = lambda *_: None) -> list[Path]:
    """Bring the files at `address` into `folder` and return their paths there, sorted.

    `*` and `?` match within a name, `**` any depth; a folder stands for the files in it. An unchanged file costs a
    listing only.

    Raises
    ------
    CounterflowError : nothing is there, the server is not known, or access is refused.
    ModuleNotFoundError : the extra `remote` is not installed.
    """
    url = urlsplit(address)
    if url.password:
        hint = "keys and tokens stand in files: docs/operations.md"
        raise CounterflowError(f"{url.scheme}://{url.hostname}: an address holds no password", hint=hint, exit_code=2)
    try:
        with _file_system(address) as files:
            found = list(_listed(files, address))
            place = folder / url.scheme / (url.netloc.rpartition("@")[2] or "-").replace(":", "_")
            return [_fetched(files, one, place / one.path.lstrip("/"), progress) for one in found]
    except (CounterflowError, ModuleNotFoundError):
        raise
    except Exception as error:  # each file system has errors of its own
        raise CounterflowError(f"{address}: {_why(error)}", hint=_hint(error), exit_code=1) from None


@contextmanager
def _file_system(address: str) -> Iterator[Any]:
    """Yield the file system of an address; a connection to it is closed afterwards."""
    import fsspec  # type: ignore[import-untyped]

    url = urlsplit(address)
    if url.scheme != "sftp":
        yield fsspec.filesystem(url.scheme, skip_instance_cache=True, use_listings_cache=False)
        return
    files = _sftp()(url.hostname or "", port=url.port or 22, username=url.username, skip_instance_cache=True)
    try:
        yield files
    finally:
        files.client.close()


def _sftp() -> Any:
    import paramiko  # type: ignore[import-untyped]
    from fsspec.implementations.sftp import SFTPFileSystem  # type: ignore[import-untyped]

    class CheckedHost(SFTPFileSystem):  # type: ignore[misc]
        """SFTP to hosts whose key is known."""

        def _connect(self) -> None:
            self.client = paramiko.SSHClient()
            self.client.load_system_host_keys(os.environ.get("COUNTERFLOW_KNOWN_HOSTS"))
            self.client.set_missing_host_key_policy(paramiko.RejectPolicy())
            key = os.environ.get("COUNTERFLOW_SSH_KEY")
            own: dict[str, Any] = {"key_filename": key, "allow_agent": False, "look_for_keys": False} if key else {}
            try:
                self.client.connect(self.host, timeout=30, **own, **self.ssh_kwargs)
                self.ftp = self.client.open_sftp()
                self.ftp.get_channel().settimeout(_SILENT_S)
            except BaseException:
                self.client.close()
                raise

    return CheckedHost


def _listed(files: Any, address: str) -> Iterator[Remote]:
    """Yield the files that an address names, sorted; hidden ones are left out."""
    url = urlsplit(address)
    path = address if url.scheme == "https" else files._strip_protocol(address)
    if _MAGIC.search(path.partition("://")[2] if url.scheme == "https" else path):
        names = sorted(files.glob(path))
    elif url.scheme != "https" and files.isdir(path):
        names = sorted(files.ls(path, detail=False))
    else:
        names = [path]
    found = 0
    for name in names:
        about = files.info(name)
        if about["type"] != "file" or name.rpartition("/")[2].startswith("."):
            continue
        version = next((about[name] for name in _VERSIONS if about.get(name)), "")
        found += 1
        own = urlsplit(name).path if url.scheme == "https" else name
        if about["size"] is None or ".." in own.split("/"):
            raise CounterflowError(f"{name}: its size is not stated, or its path leads out of the folder", exit_code=2)
        yield Remote(f"{url.scheme}://{name}" if url.scheme != "https" else name, own, about["size"], str(version))
    if not found:
        raise CounterflowError(f"{address}: no file is there", hint="check the address", exit_code=2)


def _fetched(files: Any, remote: Remote, local: Path, progress: Progress) -> Path:
    """Bring one file up to date."""
    local.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = remote.address if remote.address.startswith("https:") else remote.path
    note = local.with_name(f".{local.name}.version")
    has = local.stat().st_size if local.exists() else 0
    if local.exists() and has == remote.size and note.exists() and note.read_text() == remote.version:
        progress(remote.address, has, remote.size)
        return local
    if 0 < has < remote.size and _begins_with(files, path, local, has):
        _copy(files, path, remote, local, progress)
    else:
        part = local.with_name(f".{local.name}.part")
        begun = local.with_name(f".{local.name}.part-version")
        if not (remote.version and part.exists() and begun.exists() and begun.read_text() == remote.version):
            part.unlink(missing_ok=True)
            begun.write_text(remote.version)
        _copy(files, path, remote, part, progress)
        part.replace(local)
        begun.unlink()
    note.write_text(remote.version)
    return local


def _copy(files: Any, path: str, remote: Remote, local: Path, progress: Progress) -> None:
    """Append what a local copy lacks."""
    with local.open("ab") as file:
        at = file.tell()
        while at < remote.size:
            end = min(at + _BLOCK, remote.size)
            block = files.cat_file(path, start=at, end=end)
            if len(block) > end - at:  # a web server that knows no ranges sends the whole file
                block = block[at:end]
            if not block:
                raise OSError(None, "it became shorter while it was copied")
            file.write(block)
            at += len(block)
            progress(remote.address, at, remote.size)


def _begins_with(files: Any, path: str, local: Path, has: int) -> bool:
    """Return whether a remote file still begins with the local copy: its head and the last KiB."""
    edge = max(0, has - 1024)
    with local.open("rb") as file:
        head = file.read(min(has, _HEAD))
        file.seek(edge)
        tail = file.read()
    if files.cat_file(path, start=0, end=len(head))[: len(head)] != head:
        return False
    found: bytes = files.cat_file(path, start=edge, end=has)
    return (found if len(found) == len(tail) else found[edge:has]) == tail


def _why(error: Exception) -> str:
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    text = " ".join(str(cause).split())
    return f"{text or type(error).__name__}"[:300]


def _hint(error: Exception) -> str:
    text = f"{type(error).__name__} {error}"
    if "known_hosts" in text or "BadHostKey" in text:
        return "ssh-keyscan HOST prints its key; compare it with that of its owner, then add it to ~/.ssh/known_hosts"
    if "uthentication" in text or "ccess" in text or "redentials" in text:
        return "check the credentials: docs/operations.md"
    return "check the address, and that the server answers"
