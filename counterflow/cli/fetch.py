"""`counterflow fetch`: mirrors files from elsewhere, for an agent to follow."""

from __future__ import annotations

import time
from pathlib import Path

import click

from counterflow.base.errors import CounterflowError
from counterflow.base.inert import inert
from counterflow.cli._folder import Folder
from counterflow.cli._json import write_json


@click.command()
@click.argument("addresses", metavar="URL...", nargs=-1, required=True)
@click.option("--to", required=True, type=Folder(), help="Folder of the copies.")
@click.option(
    "--follow", "every_s", metavar="SECONDS", type=click.IntRange(1), help="Look again at this interval, until stopped."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a file instead of its path.")
def command(addresses: tuple[str, ...], to: Path, every_s: int | None, as_json: bool) -> None:
    """Mirror remote files into a folder that an agent may follow.

    From https://, s3:// and sftp:// addresses.
    A file that grows is appended to, an interrupted copy is resumed. SFTP checks host keys. Needs the extra `remote`.
    """
    from counterflow.cli._files import errors, mirrored
    from counterflow.collectors.sources.files import unicode
    from counterflow.collectors.sources.remote import SCHEMES, is_remote

    for address in addresses:
        if not is_remote(address):
            known = ", ".join(f"{scheme}://" for scheme in SCHEMES)
            raise click.BadParameter(f"`{address}` is no address of {known}", param_hint="URL")
    while True:
        for address in addresses:
            try:
                for path in mirrored(address, to):
                    if as_json and not every_s:
                        write_json([{"path": unicode(str(path)), "bytes": path.stat().st_size}])
                    elif not every_s:
                        click.echo(inert(str(path)))
            except CounterflowError as error:
                if not every_s:
                    raise
                errors.print(inert(f"{error.message}; trying again in {every_s} s", keep="\n"), markup=False)
        if not every_s:
            return
        time.sleep(every_s)
