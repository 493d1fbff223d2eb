"""`counterflow bundle`: packs recordings to send, with names replaced and layouts and numbers kept."""

from __future__ import annotations

import io
import tarfile
from collections import Counter
from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

import click
import orjson

from counterflow.base.errors import CounterflowError
from counterflow.base.inert import inert
from counterflow.cli._files import reading_options, recordings

if TYPE_CHECKING:
    from counterflow.collectors.pseudonyms import Pseudonyms

_MOST_BYTES = 256 << 20


class _File(NamedTuple):
    """A file, or a member of a packed one: its name, its text and the codecs of its lines, or the one of all."""

    name: str
    text: str
    codecs: tuple[str, ...]

    @property
    def content(self) -> bytes:
        """The text as bytes."""
        if len(self.codecs) == 1:
            return self.text.encode(self.codecs[0])
        lines = zip(self.text.split("\n"), self.codecs, strict=True)
        return b"\n".join(line.encode(codec) for line, codec in lines)


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default="bundle.tgz", show_default=True)
@click.option("--replace", "words", multiple=True, metavar="WORD", help="Replace this word too; may be repeated.")
@click.option("--keep", multiple=True, metavar="WORD", help="Never replace this word; may be repeated.")
@click.option("--show", is_flag=True, help="List the words that are replaced, and those that are not.")
@reading_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(
    paths: tuple[Path, ...],
    out: Path,
    words: tuple[str, ...],
    keep: tuple[str, ...],
    show: bool,
    zone: ZoneInfo,
    date_order: str | None,
    at: datetime | None,
    system: str | None,
    as_json: bool,
) -> None:
    """Pack recordings into an archive that can be sent: names replaced, layouts and numbers kept.

    Systems, users, jobs, hosts, programs, addresses, paths and serial numbers become others of the same length, the
    same everywhere in the archive. It is written only if no replaced word is left in it and the same figures are read
    from it. Look through it before you send it: docs/bundle.md. Exit status 2: nothing was written.
    """
    from counterflow.collectors.pseudonyms import Pseudonyms
    from counterflow.collectors.sources.files import unicode

    files = [file for path in recordings(paths) for file in _files(path)]
    names = Pseudonyms(words, keep)
    before = []
    for file in files:
        names.learn_headings(file.text)
    for file in files:
        items = list(_items(file, zone, system, date_order, at))
        names.learn(items)
        names.learn_text(file.text)
        before.append(_figures(items))
    packed = [
        _File(unicode(names.replaced_in_file_name(Path(file.name).name)), names.replaced(file.text), file.codecs)
        for file in files
    ]
    read: dict[str, Any] = {}
    folders: dict[Path, int] = {}
    for file, new, figures in zip(files, packed, before, strict=True):
        items = list(_items(new, zone, system and names.replaced(system), date_order, at))
        found = names.found_in(new.text) | names.found_in_file_name(new.name) | names.found_in_records(items)
        if left := sorted(found):
            what = f"{file.name}: {', '.join(left[:5])} would be left in the archive"
            raise CounterflowError(what, hint=f"--keep {left[0]} where it is no name", exit_code=2)
        after = _figures(items)
        if after != figures:
            what = f"{file.name}: with its names replaced, its figures differ: {_difference(figures, after)}"
            raise CounterflowError(what, hint="--show lists the words; --keep WORD leaves one as it is", exit_code=2)
        number = folders.setdefault(Path(file.name).parent, len(folders) + 1)  # so that neighbours stay neighbours
        read[_free(read, number, new.name)] = dict(Counter(dataset for dataset, *_ in figures))
    manifest = {"zone": zone.key, "date_order": date_order, "replaced": dict(names.kinds), "files": read}
    _write(out, manifest, [(name, new.content) for name, new in zip(read, packed, strict=True)])
    _print(out, manifest, names, show, as_json)


def _free(taken: Collection[str], number: int, name: str) -> str:
    return next(found for n in count(number) if (found := f"{n:03}-{name}") not in taken)


def _files(path: Path) -> Iterator[_File]:
    from counterflow.collectors.reading import HEAD_BYTES, name_within
    from counterflow.collectors.sources.wrapped import contents, wrapping

    with path.open("rb") as raw:
        if wrapping(raw.read(HEAD_BYTES)) is None:
            raw.seek(0)
            yield _text(str(path), raw.read(_MOST_BYTES + 1))
            return
        for member, stream, fault in contents(raw):
            if stream is None:
                raise CounterflowError(f"{name_within(path, member)}: {fault.detail if fault else ''}", exit_code=2)
            with stream:
                yield _text(name_within(path, member), stream.read(_MOST_BYTES + 1))


def _text(name: str, content: bytes) -> _File:
    head = content[:65_536]
    if len(content) > _MOST_BYTES:
        raise CounterflowError(f"{name} has more than {_MOST_BYTES >> 20} MiB", hint="send an hour of it", exit_code=2)
    if b"\0" in head or sum(byte >= 0x80 for byte in head) > len(head) / 4:
        hint = "iconv -f IBM-037 -t UTF-8, or export it as CSV"
        raise CounterflowError(f"{name} is not text, so its names cannot be found", hint=hint, exit_code=2)
    try:
        return _File(name, content.decode(), ("utf-8",))
    except UnicodeDecodeError:
        lines = [_line(line) for line in content.split(b"\n")]
        return _File(name, "\n".join(text for text, _ in lines), tuple(codec for _, codec in lines))


def _line(content: bytes) -> tuple[str, str]:
    """Return a line as formats read it: in UTF-8, else in 1252, else with a character for each byte; and its codec."""
    for codec in ("utf-8", "cp1252"):
        try:
            return content.decode(codec), codec
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1"), "latin-1"


def _items(
    file: _File, zone: ZoneInfo, system: str | None, date_order: str | None, at: datetime | None
) -> Iterator[Any]:
    from counterflow.collectors.formats import recognise
    from counterflow.collectors.reading import HEAD_BYTES, unrecognised
    from counterflow.collectors.records import Context, singly
    from counterflow.collectors.text.lines import read_head

    stream = io.BytesIO(file.content)
    head = read_head(stream, HEAD_BYTES)
    stream.seek(0)
    form = recognise(head)
    if form is None:
        yield unrecognised(head)
    else:
        yield from singly(form.parse(stream, Context(file.name, zone, system, date_order=date_order, at=at)))


def _figures(items: list[Any]) -> list[tuple[Any, ...]]:
    """Return what replaced names must not change: datasets, times and numbers of records, and reasons of rejects."""
    from counterflow.collectors.records import Record, Reject

    found: list[tuple[Any, ...]] = []
    for item in items:
        if isinstance(item, Record):
            numbers = tuple(value for value in item.fields.values() if not isinstance(value, str))
            found.append((item.dataset, item.fields.get("ts"), *numbers))
        elif isinstance(item, Reject):
            found.append((f"anomaly {item.reason.value}", item.ts, item.line))
    return found


def _difference(before: list[tuple[Any, ...]], after: list[tuple[Any, ...]]) -> str:
    for number, (old, new) in enumerate(zip(before, after, strict=False), 1):
        if old != new:
            place = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
            return f"{old[0]} {old[1]} (item {number}) had {old[place:][:1]}, now {new[0]} {new[place:][:1]}"
    return f"{len(before):,} items were read, now {len(after):,}"


def _write(out: Path, manifest: dict[str, Any], files: list[tuple[str, bytes]]) -> None:
    with tarfile.open(out, "w:gz") as archive:
        for name, content in [("bundle.json", orjson.dumps(manifest, option=orjson.OPT_INDENT_2)), *files]:
            entry = tarfile.TarInfo(name)  # no owner, no time: neither is anybody's business
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def _print(out: Path, manifest: dict[str, Any], names: Pseudonyms, show: bool, as_json: bool) -> None:
    if as_json:
        shown = {"words": names.words, "left": sorted(names.left)} if show else {}
        click.echo(orjson.dumps({"archive": str(out), **manifest, **shown}))
        return
    if show:
        words = f"replaced: {' '.join(names.words)}\nnot replaced: {' '.join(sorted(names.left))}"
        click.echo(inert(words, keep="\n"))
    kinds = ", ".join(f"{count} of {kind}" for kind, count in manifest["replaced"].items()) or "none"
    click.echo(
        f"{out}: {len(manifest['files'])} files, words replaced: {kinds}; none of them is left, figures are the same"
    )
    click.echo("Look through it before you send it; docs/bundle.md describes how to send it.")
