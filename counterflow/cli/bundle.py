"""`counterflow bundle`: packs recordings to send, with names replaced and layouts and numbers kept."""

from __future__ import annotations

import io
import tarfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

import click
import orjson

from counterflow.base.errors import CounterflowError, why
from counterflow.base.inert import inert
from counterflow.cli._files import errors, given, lies_beside, reading_options, report_beside

if TYPE_CHECKING:
    from counterflow.collectors.pseudonyms import Pseudonyms

_MOST_BYTES = 256 << 20
_SHOWN = 12
"""Maximum number of files that are refused by name."""


class _File(NamedTuple):
    """A file, or a member of a packed one: its name, its text and the codecs of its lines, or the one of all."""

    name: str
    text: str
    codecs: tuple[str, ...]

    @property
    def content(self) -> bytes:
        if len(self.codecs) == 1:
            return self.text.encode(self.codecs[0])
        lines = zip(self.text.split("\n"), self.codecs, strict=True)
        return b"\n".join(line.encode(codec) for line, codec in lines)


class _Refused(NamedTuple):
    """A file that cannot be packed, and the reason."""

    name: str
    why: str


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default="bundle.tgz", show_default=True)
@click.option("--replace", "words", multiple=True, metavar="WORD", help="Replace this word too; may be repeated.")
@click.option("--keep", multiple=True, metavar="WORD", help="Never replace this word; may be repeated.")
@click.option(
    "--unread",
    "with_unread",
    is_flag=True,
    help="Pack files without a readable measurement, too; a name in them may be left: use --replace.",
)
@click.option("--show", is_flag=True, help="List the words that are replaced, and those that are not.")
@reading_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(
    paths: tuple[Path, ...],
    out: Path,
    words: tuple[str, ...],
    keep: tuple[str, ...],
    with_unread: bool,
    show: bool,
    zone: ZoneInfo,
    date_order: str | None,
    at: datetime | None,
    system: str | None,
    as_json: bool,
) -> None:
    """Pack recordings into an archive to send, with names replaced.

    Layouts and numbers stay as they are.

    Systems, users, jobs, hosts, programs, addresses, paths and serial numbers become others of the same length, the
    same everywhere in the archive. It is written only if no replaced word is left in it and the same figures are read
    from it. Look through it before you send it: docs/bundle.md. Exit status 2: nothing was written.
    """
    from counterflow.collectors.pseudonyms import Pseudonyms
    from counterflow.collectors.records import Record, Reject
    from counterflow.collectors.sources.files import unicode

    found = [one for path in given(paths, {out.resolve()}) for one in _readable(path)]
    refused = [one for one in found if isinstance(one, _Refused)]
    names = Pseudonyms(words, keep)
    files, before, unread, lines = [], [], {}, []
    texts = [one for one in found if isinstance(one, _File)]
    for file in texts:
        names.learn_headings(file.text)
    for file in texts:
        items = list(_items(file, zone, system, date_order, at))
        if fault := _fault(items):
            if lies_beside(file.name, paths):
                report_beside(file.name)
                continue
            unread[file.name] = fault
        names.learn(items)
        names.learn_text(file.text)
        names.learn_columns(file.text, file.name)
        files.append(file)
        before.append(_figures(items))
        lines.append(sum(isinstance(item, Reject) and item.kept == "none" and item.line > 0 for item in items))
    _refuse(refused, {} if with_unread else unread, len(found))
    if not files:
        raise CounterflowError(f"no file in {', '.join(map(str, paths))}", hint="name a recording", exit_code=2)
    if system is not None:
        names.learn([Record("", {"system": system})])  # which an unread file may hold
    for word in words:
        if names.replaced(word) == word:
            what = f"--replace {word}: numbers, single characters, headings, common words and names of IBM stay"
            raise CounterflowError(what, hint="leave the option out, or change the word in the file", exit_code=2)
    packed = [
        _File(unicode(names.replaced_in_file_name(Path(file.name).name)), names.replaced(file.text), file.codecs)
        for file in files
    ]
    read: dict[str, Any] = {}
    folders: dict[Path, int] = {}
    for file, new, figures in zip(files, packed, before, strict=True):
        items = list(_items(new, zone, system and names.replaced(system), date_order, at))
        left = sorted(names.found_in(new.text) | names.found_in_file_name(new.name) | names.found_in_records(items))
        if left:
            what = f"{file.name}: {', '.join(left[:5])} would be left in the archive"
            raise CounterflowError(what, hint=f"--keep {left[0]} where it is no name", exit_code=2)
        after = _figures(items)
        if after != figures:
            what = f"{file.name}: with its names replaced, its figures differ: {_difference(figures, after)}"
            raise CounterflowError(what, hint="--show lists the words; --keep WORD leaves one as it is", exit_code=2)
        number = folders.setdefault(Path(file.name).parent, len(folders) + 1)  # so that neighbours stay neighbours
        read[_free(read, number, new.name)] = dict(Counter(dataset for dataset, *_ in figures))
    unread_in_archive = [name for name, file in zip(read, files, strict=True) if file.name in unread]
    manifest = {
        "zone": zone.key,
        "date_order": date_order,
        "replaced": dict(names.kinds),
        "files": read,
        "unread": unread_in_archive,
    }
    _write(out, manifest, [(name, new.content) for name, new in zip(read, packed, strict=True)])
    _print(out, manifest, names, show, as_json)
    for name, refused_lines in zip(read, lines, strict=True):
        if refused_lines and name not in unread_in_archive:
            what = f"note: {name}: {refused_lines:,} lines were refused; a name that only they hold is left"
            errors.print(inert(what), markup=False)


def _refuse(refused: Sequence[_Refused], unread: dict[str, str], number: int) -> None:
    """Raise one error that names each file that is not packed, and its reason; none where all are."""
    reasons = [f"{name}: {why}" for name, why in refused]
    reasons += [
        f"{name}: no measurement was read, so its names are not known: {fault}" for name, fault in unread.items()
    ]
    if not reasons:
        return
    more = [f"and {len(reasons) - _SHOWN:,} more"] if len(reasons) > _SHOWN else []
    what = f"{len(reasons):,} of {number:,} files cannot be packed, so nothing was written"
    way_out = "give the option that a reason names, or leave the files out"
    if unread:
        way_out += "; --unread packs those without a measurement: name what they hold with --replace"
    raise CounterflowError("\n  ".join([what, *reasons[:_SHOWN], *more]), hint=way_out, exit_code=2)


def _fault(items: Sequence[Any]) -> str | None:
    """Return why a file has no readable measurement, so that its names are not known; None where it has one."""
    from counterflow.collectors.reading import Faults
    from counterflow.collectors.records import Record, Reject

    faults = Faults()
    for item in items:
        if isinstance(item, Reject):
            faults.add(item)
    line, reason = faults.why({item.dataset for item in items if isinstance(item, Record)}) or (0, None)
    return f"line {line}: {reason}" if line else reason


def _free(taken: Collection[str], number: int, name: str) -> str:
    return next(found for n in count(number) if (found := f"{n:03}-{name}") not in taken)


def _readable(path: Path) -> Iterator[_File | _Refused]:
    """Yield the file, or each within it."""
    try:
        yield from _files(path)
    except OSError as error:
        yield _Refused(str(path), why(error))


def _files(path: Path) -> Iterator[_File | _Refused]:
    from counterflow.collectors.reading import HEAD_BYTES, name_within
    from counterflow.collectors.sources.wrapped import contents, wrapping

    with path.open("rb") as raw:
        if wrapping(raw.read(HEAD_BYTES)) is None:
            raw.seek(0)
            yield _text(str(path), raw.read(_MOST_BYTES + 1))
            return
        for member, stream, fault in contents(raw):
            name = name_within(path, member)
            if fault is not None and stream is not None:
                errors.print(inert(f"note: {name}: {fault.detail}"), markup=False)
            if stream is None:
                yield _Refused(name, fault.detail if fault else "it cannot be unpacked")
                continue
            with stream:
                stream.seek(0)
                yield _text(name, stream.read(_MOST_BYTES + 1))


def _text(name: str, content: bytes) -> _File | _Refused:
    from counterflow.collectors.advice import advice

    head = content[:65_536]
    if len(content) > _MOST_BYTES:
        return _Refused(name, f"it has more than {_MOST_BYTES >> 20} MiB: send an hour of it")
    if b"\0" in head or sum(byte >= 0x80 for byte in head) > len(head) / 4:
        return _Refused(name, f"it is not text, so its names cannot be found: {advice(head)}")
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
    """Write the archive; its manifest is a hidden file, which no command reads as a recording."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in [(".bundle.json", orjson.dumps(manifest, option=orjson.OPT_INDENT_2)), *files]:
            entry = tarfile.TarInfo(name)  # no owner, no time: neither is anybody's business
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
    is_new = not out.exists()
    try:
        out.write_bytes(content.getvalue())
    except OSError as error:
        if is_new:
            with suppress(OSError):
                out.unlink(missing_ok=True)
        hint = "--out names an archive in a folder that exists, that has room and that this user may write to"
        raise CounterflowError(f"{out}: {error.strerror or error}", hint=hint, exit_code=2) from None


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
    for name in manifest["unread"]:
        click.echo(inert(f"not read: {name}: a name in it is left, but for these words and what is found by its form"))
    click.echo("Look through it before you send it; docs/bundle.md describes how to send it.")
