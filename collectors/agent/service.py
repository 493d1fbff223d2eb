"""The unit by which systemd runs the agent; the packages have the same one."""

from __future__ import annotations

import re
from pathlib import Path

from counterflow.base.errors import CounterflowError

UNIT = "counterflow-agent.service"


def unit(program: Path, config: Path) -> str:
    """Return the text of the unit that runs `program agent run` with a configuration.

    Secrets are expected beside the configuration, in the folder `secrets`.

    Raises
    ------
    CounterflowError : a path is not absolute, has a character that has a meaning in a unit, or is in a folder that the
        unit hides.
    """
    for path in (program, config):
        if not re.fullmatch(r"/[\w./+@-]*", str(path), re.ASCII):
            hint = "give an absolute path of letters, digits and . _ + @ - /"
            raise CounterflowError(f"{path}: no path for a unit of systemd", hint=hint, exit_code=2)
        if re.match(r"/(home|root|run/user|tmp|var/tmp)/", str(path)):  # ProtectHome, PrivateTmp
            hint = "move it to a folder such as /opt or /etc, and name it with --program or --config"
            raise CounterflowError(f"{path}: the agent's unit sees no such folder", hint=hint, exit_code=2)
    template = Path(__file__).with_name(UNIT).read_text(encoding="utf-8")
    return template.format(program=program, config=config, secrets=config.parent / "secrets")


def install(text: str, file: Path) -> bool:
    """Write a unit; return whether it was not there already.

    Raises
    ------
    CounterflowError : the file has another text, or cannot be written.
    """
    try:
        if not file.exists():
            file.write_text(text, encoding="utf-8")
            return True
        if file.read_text(encoding="utf-8") == text:
            return False
    except OSError as error:
        hint = "run it as root, or write it elsewhere: --print"
        raise CounterflowError(f"{error.filename}: {error.strerror}", hint=hint) from None
    hint = f"compare it with `--print`; keep yours in a drop-in ({file}.d/local.conf), or remove the file"
    raise CounterflowError(f"{file} differs from the unit of this version", hint=hint)
