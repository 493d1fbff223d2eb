"""`make faults`: cause every fault of faults.yaml in a stack under load, and record what it cost.

The tests that `make test` runs are left out, unless results are recorded or their fault is named by its number. Runs
in a mount namespace of its own, where disks of a limited size can be mounted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.table import RESULTS, faults, read, write

FOLDER = Path(__file__).parent
_OWN = ("unshare", "--user", "--map-root-user", "--mount")


def main() -> int:
    """Return pytest's exit status."""
    parser = argparse.ArgumentParser(prog="make faults ARGS=...", description=__doc__)
    parser.add_argument("--long", action="store_true", help="with 100 SIGKILLs at random instead of 10")
    parser.add_argument("--record", action="store_true", help=f"write {RESULTS.name}, which docs/guarantees.md shows")
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER", help="of faults; all of them by default")
    arguments = parser.parse_args()
    chosen = [fault for fault in faults() if not arguments.numbers or fault.number in arguments.numbers]
    tests = list(dict.fromkeys(test for fault in chosen for test in fault.tests))
    if not arguments.numbers:
        tests = [*(tests if arguments.record else ()), "tests/faults"]
    if subprocess.run([*_OWN, "true"], check=False).returncode:
        sys.exit(
            "error: this user may not create namespaces, which the faults of full disks need\nhint: run as root, or "
            "allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1"
        )
    with tempfile.TemporaryDirectory() as folder:
        xml = Path(folder) / "faults.xml"
        options = (
            "--disks",
            "--durations=10",
            "-o",
            "python_files=fault_*.py",
            "-o",
            "junit_family=xunit1",
            f"--junitxml={xml}",
        )
        command = [*_OWN, sys.executable, "-m", "pytest", *options, f"--kills={100 if arguments.long else 10}", *tests]
        status = subprocess.run(command, check=False, env={**os.environ}).returncode
        if arguments.record and xml.exists():
            write(read(xml), whole=not arguments.numbers)
    return status


if __name__ == "__main__":
    sys.exit(main())
