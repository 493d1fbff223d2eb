"""`counterflow dev part`: one part of the stack in the foreground, for a container of its own."""

from __future__ import annotations

import os

import click


@click.command()
@click.argument("name", metavar="PART")
def command(name: str) -> None:
    """Run one part in the foreground, as `counterflow up` starts it; whoever starts this process supervises it.

    The containers of compose.yaml and of the chart's session cluster run their parts this way.
    """
    from counterflow.base.errors import CounterflowError
    from counterflow.stack.parts import all_parts
    from counterflow.stack.settings import StackSettings

    settings = StackSettings.load()
    parts = {part.name: part for part in all_parts(settings)}
    if name not in parts:
        raise CounterflowError(f"there is no part {name}", hint=f"parts are {', '.join(parts)}", exit_code=2)
    part = parts[name]
    part.prepare()
    command = part.with_empty_scratch(settings.home)
    os.execvpe(command[0], command, {**os.environ, **part.environment})  # noqa: S606
