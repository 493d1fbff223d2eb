"""The engine in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.waiting import PATIENCE_S

_OPEN = """
import sys
from pathlib import Path
from counterflow.base.embedded import Embedded
from counterflow.base.errors import CounterflowError
try:
    engine = Embedded(Path(sys.argv[1]))
except CounterflowError as error:
    print(error.exit_code, error, error.hint, sep="|")
else:
    print("open", flush=True)
    sys.stdin.read()
"""


def test_a_database_that_another_process_has_open_is_refused_with_the_way_out(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _OPEN, str(tmp_path / "clickhouse")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        try:
            assert first.stdout
            assert first.stdout.readline() == "open\n"
            second = subprocess.run(command, capture_output=True, text=True, check=True, input="", timeout=PATIENCE_S)
            code, refused, hint = second.stdout.splitlines()[-1].split("|")
            assert code == "2"
            assert refused.startswith(f"{tmp_path / 'clickhouse'} cannot be opened")
            assert "another command may have it open" in hint
        finally:
            first.kill()
