"""`python -m helm.schemas`, which writes the schemas in `kinds/`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from helm.schemas import FOLDER


def test_a_program_that_is_missing_is_named_and_no_schema_touched(tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in FOLDER.iterdir()}
    command = [sys.executable, "-m", "helm.schemas"]
    result = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr == (
        "error: cargo, which downloads the schemas, is not installed\nhint: sudo apt-get install cargo\n"
    )
    assert {path: path.read_bytes() for path in FOLDER.iterdir()} == before
