"""`make faults`: cause every fault of faults.yaml in a stack under load, and record what it cost.

The tests that `make test` runs are left out, unless their fault is named by its number. Runs in a mount namespace of
its own, where disks of a limited size can be mounted.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.table import RESULTS, faults, write

_OWN = ("unshare", "--user", "--map-root-user", "--mount")


def main() -> int:
    """Return pytest's exit status."""
    parser = argparse.ArgumentParser(prog="make faults ARGS=...", description=__doc__)
    parser.add_argument("--long", action="store_true", help="with 100 SIGKILLs at random instead of 10")
    written = f"write {RESULTS.name}, which docs/guarantees.md shows, if all pass"
    parser.add_argument("--record", action="store_true", help=written)
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER", help="of faults; all of them by default")
    arguments = parser.parse_args()
    chosen = [fault for fault in faults() if fault.number in arguments.numbers]
    tests = [*dict.fromkeys(test for fault in chosen for test in fault.tests)] or ["tests/faults"]
    if subprocess.run([*_OWN, "true"], check=False).returncode:
        sys.exit(
            "error: this user may not create namespaces, which the faults of full disks need\nhint: run as root, or "
            "allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1"
        )
    with tempfile.TemporaryDirectory() as folder:
        costs = Path(folder) / "costs"
        costs.touch()
        own = ("--disks", f"--costs={costs}", f"--kills={100 if arguments.long else 10}")
        options = own if any(test.startswith("tests/faults") for test in tests) else ()
        command = [*_OWN, sys.executable, "-m", "pytest", "--durations=10", "-o", "python_files=fault_*.py"]
        status = subprocess.run([*command, *options, *tests], check=False).returncode
        if arguments.record and status == 0:
            write([json.loads(line) for line in costs.read_text().splitlines()], whole=not arguments.numbers)
    return status


if __name__ == "__main__":
    sys.exit(main())
