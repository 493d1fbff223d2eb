"""The table of faults: each has a number, tests that exist, and on the page the figures of the last run."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.faults.table import Fault, faults, table

REPOSITORY = Path(__file__).resolve().parents[2]


def test_the_faults_are_numbered_and_their_tests_exist() -> None:
    assert [fault.number for fault in faults()] == list(range(1, 26))
    for test in {test.partition("[")[0] for fault in faults() for test in fault.tests}:
        path, _, name = test.partition("::")
        tree = ast.parse((REPOSITORY / path).read_text())
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test


def test_a_fault_with_a_failed_test_has_no_figures() -> None:
    one = Fault(1, "harm", "nothing", ("a.py::test_a", "a.py::test_b", "b.py::test_c"))
    cost = {"lost": 0, "doubled": 0, "results_wrong": 0}
    costs = {"1": [{"seconds": 3.4, **cost}, {"seconds": 7.6, **cost}]}
    passed = ("a.py::test_a", "a.py::test_b[1]", "a.py::test_b[2]", "b.py::test_c")
    run = {"run": "now", "machine": "here", "costs": costs, "tests": dict.fromkeys(passed, "passed")}
    [row] = table([one], run).splitlines()[4:]
    assert row == "| 1 | harm | nothing | 8 s | 0 | 0 | 0 | `a.py`: `test_a`, `test_b`; `b.py`: `test_c` |"
    [row] = table([one], {**run, "tests": {**run["tests"], passed[1]: "failed"}}).splitlines()[4:]
    assert row.startswith("| 1 | harm | nothing | - | - | - | - |")
    [row] = table([one], {**run, "costs": {}}).splitlines()[4:]
    assert row.startswith("| 1 | harm | nothing | - | 0 | 0 | 0 |")
