"""`counterflow bundle`: packs recordings to send, with names replaced and layouts and numbers kept."""

from __future__ import annotations

import io
import tarfile
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from counterflow.base.errors import CounterflowError
from counterflow.base.inert import inert
from counterflow.cli._files import errors, given, reading_options, report_beside
from counterflow.cli._json import write_json
from counterflow.recordings.given import ReadingOptions, lies_beside

if TYPE_CHECKING:
    from counterflow.collectors.bundle import Refused
    from counterflow.collectors.pseudonyms import Pseudonyms

_SHOWN = 12
"""Maximum number of files that are refused by name."""


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
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
    options: ReadingOptions,
    as_json: bool,
) -> None:
    """Pack recordings into an archive to send, with names replaced.

    Layouts and numbers stay as they are.

    Systems, users, jobs, hosts, programs, addresses, paths and serial numbers become others of the same length, the
    same everywhere in the archive. It is written only if no replaced word is left in it and the same figures are read
    from it. Look through it before you send it: docs/bundle.md. Exit status 2: nothing was written.
    """
    from counterflow.collectors.bundle import (
        BundledFile,
        Refused,
        figures_of,
        first_difference,
        read_items,
        readable,
        why_unread,
    )
    from counterflow.collectors.pseudonyms import Pseudonyms
    from counterflow.collectors.records import Record, Reject
    from counterflow.collectors.sources.files import unicode

    found = [one for path in given(paths, {out.resolve()}) for one in readable(path)]
    refused = [one for one in found if isinstance(one, Refused)]
    names = Pseudonyms(words, keep)
    files, before, unread, lines = [], [], {}, []
    texts = [one for one in found if isinstance(one, BundledFile)]
    for file in texts:
        if file.fault is not None:
            errors.print(inert(f"note: {file.name}: {file.fault}"), markup=False)
    for file in texts:
        names.learn_headings(file.text)
    for file in texts:
        items = list(read_items(file, *options))
        if fault := why_unread(items):
            if lies_beside(file.name, paths):
                report_beside(file.name)
                continue
            unread[file.name] = fault
        names.learn(items)
        names.learn_text(file.text)
        names.learn_columns(file.text, file.name)
        files.append(file)
        before.append(figures_of(items))
        lines.append(sum(isinstance(item, Reject) and item.kept == "none" and item.line > 0 for item in items))
    _refuse(refused, {} if with_unread else unread, len(found))
    if not files:
        raise CounterflowError(f"no file in {', '.join(map(str, paths))}", hint="name a recording", exit_code=2)
    if options.system is not None:
        names.learn([Record("", {"system": options.system})])  # which an unread file may hold
    for word in words:
        if names.replaced(word) == word:
            what = f"--replace {word}: numbers, single characters, headings, common words and names of IBM stay"
            raise CounterflowError(what, hint="leave the option out, or change the word in the file", exit_code=2)
    packed = [
        BundledFile(unicode(names.replaced_in_file_name(Path(file.name).name)), names.replaced(file.text), file.codecs)
        for file in files
    ]
    read: dict[str, Any] = {}
    folders: dict[Path, int] = {}
    for file, new, figures in zip(files, packed, before, strict=True):
        renamed = options._replace(system=options.system and names.replaced(options.system))
        items = list(read_items(new, *renamed))
        left = sorted(names.found_in(new.text) | names.found_in_file_name(new.name) | names.found_in_records(items))
        if left:
            what = f"{file.name}: {', '.join(left[:5])} would be left in the archive"
            raise CounterflowError(what, hint=f"--keep {left[0]} where it is no name", exit_code=2)
        after = figures_of(items)
        if after != figures:
            what = f"{file.name}: with its names replaced, its figures differ: {first_difference(figures, after)}"
            raise CounterflowError(what, hint="--show lists the words; --keep WORD leaves one as it is", exit_code=2)
        number = folders.setdefault(Path(file.name).parent, len(folders) + 1)  # so that neighbours stay neighbours
        read[_free(read, number, new.name)] = dict(Counter(dataset for dataset, *_ in figures))
    unread_in_archive = [name for name, file in zip(read, files, strict=True) if file.name in unread]
    manifest = {
        "zone": options.zone.key,
        "date_order": options.date_order,
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


def _refuse(refused: Sequence[Refused], unread: dict[str, str], number: int) -> None:
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


def _free(taken: Collection[str], number: int, name: str) -> str:
    return next(found for n in count(number) if (found := f"{n:03}-{name}") not in taken)


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
        write_json([{"archive": str(out), **manifest, **shown}])
        return
    if show:
        words = f"replaced: {' '.join(names.words)}\nnot replaced: {' '.join(sorted(names.left))}"
        click.echo(inert(words, keep="\n"))
    kinds = ", ".join(f"{count} of {kind}" for kind, count in manifest["replaced"].items()) or "none"
    packed = len(manifest["files"])
    click.echo(
        f"{out}: {packed} file{'s' * (packed > 1)}, words replaced: {kinds}; none of them is left, figures are the same"
    )
    for name in manifest["unread"]:
        click.echo(inert(f"not read: {name}: a name in it is left, but for these words and what is found by its form"))
    click.echo("Look through it before you send it; docs/bundle.md describes how to send it.")
