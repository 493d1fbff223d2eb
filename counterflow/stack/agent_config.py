"""A working configuration of an agent for this stack, written once and then the user's own."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import yaml

from counterflow.stack.settings import StackSettings

FILE = "agent.yaml"
INBOX = "inbox"

_HEAD = """\
# An agent of the stack in this folder, written by the first `counterflow up`; edit it as you like.
#   counterflow agent run --config {file}
# Every key is explained in docs/configuration.md; `counterflow agent check {file}` names every mistake.
"""


def write(settings: StackSettings) -> Path:
    """Write the file where there is none, and the folder whose files it follows; return its path."""
    file = settings.home / FILE
    if not file.exists():
        (settings.home / INBOX).mkdir(exist_ok=True)
        content = {
            "agent_id": re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[:120] or "agent",
            "kafka": settings.kafka("agent").described,
            "metrics_port": 19097,
            "sources": [{"name": INBOX, "paths": [str(settings.home / INBOX)], "zone": "UTC"}],
        }
        file.write_text(_HEAD.format(file=file) + yaml.safe_dump(content, sort_keys=False, width=1_000))
    return file
