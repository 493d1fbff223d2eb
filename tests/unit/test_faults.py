"""The table of faults: each has a number, tests that exist, and on the page the figures of the last run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.faults import table

REPOSITORY = Path(__file__).resolve().parents[2]


def test_the_faults_are_numbered_and_their_tests_exist() -> None:
    assert [fault.number for fault in table.faults()] == list(range(1, 26))
    for test in {test.partition("[")[0] for fault in table.faults() for test in fault.tests}:
        path, _, name = test.partition("::")
        tree = ast.parse((REPOSITORY / path).read_text())
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, test


def test_a_fault_has_the_figures_of_its_last_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The longest time and the sums of its tests; a later run of other faults leaves them."""
    monkeypatch.setattr(table, "RESULTS", tmp_path / "results.yaml")
    counts = {"lost": 0, "doubled": 0, "results_wrong": 0}
    table.write([{"number": 1, "seconds": 3.4, **counts}, {"number": 1, "seconds": 7.6, **counts}], whole=True)
    table.write([{"number": 21, "seconds": 0.6, **counts, "lost": 5}], whole=False)
    rows = {line.split(" | ")[0]: line.split(" | ")[3:7] for line in table.table().splitlines()}
    assert (rows["| 1"], rows["| 21"]) == (["8 s", "0", "0", "0"], ["1 s", "5", "0", "0"])
    assert rows["| 3"] == ["-"] * 4
