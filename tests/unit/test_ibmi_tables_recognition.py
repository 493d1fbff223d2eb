"""An export is read as the table that it is of, whatever its file is called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from counterflow.collectors.formats.ibmi_tables.description import tables
from counterflow.collectors.formats.ibmi_tables.headers import no_header, table_of

KNOWN = [name for name, table in tables().items() if table.recognised_by]


def releases() -> Iterator[tuple[str, str, list[str], list[str]]]:
    """Yield each service with its columns of each release, and those that came before the last addition."""
    content = yaml.safe_load((Path(__file__).parent / "ibmi_releases.yaml").read_text())
    for name, of in content.items():
        names = of["first"].split()
        yield name, "first", names, names
        for release, added in of.get("added", {}).items():
            before, names = names, [*names, *added.split()]
            yield name, release, names, before


def columns(name: str) -> list[str]:
    table = tables()[name]
    return [*table.time, *table.fields]


def found_in(names: list[str], file: str = "export.csv") -> str | None:
    table = table_of(names, file)
    return table.table if table else None


@pytest.mark.parametrize("name", KNOWN)
def test_all_columns_in_a_file_of_any_name(name: str) -> None:
    assert found_in(columns(name)) == name


@pytest.mark.parametrize("name", KNOWN)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_with_any_optional_columns_it_is_that_table_or_a_tie_that_names_it(name: str, data: st.DataObject) -> None:
    needed = [*tables()[name].time, *tables()[name].recognised_by] or ["TS"]
    optional = [column for column in columns(name) if column not in needed]
    kept = data.draw(st.lists(st.sampled_from(optional), unique=True)) if optional else []
    strange = data.draw(st.lists(st.sampled_from(["NEW_IN_7_6", "FILLER", "NOTE"]), unique=True))
    cells = data.draw(st.permutations(["TS", *needed, *kept, *strange]))
    if (found := found_in(cells)) is None:
        detail = str(no_header(cells, "export.csv"))
        assert "alike: name the file after its table" in detail
        assert re.search(rf"\b{name}\b", detail)
    else:
        assert found == name


@pytest.mark.parametrize(("name", "release", "names", "before"), releases())
def test_the_columns_of_a_release_are_no_other_table(
    name: str, release: str, names: list[str], before: list[str]
) -> None:
    assert found_in(["TS", *names]) == found_in([*reversed(names), "SAMPLE_TIME"]) == name
    optional = [column for column in names if column not in tables()[name].recognised_by]
    for left_out in optional:
        assert found_in(["TS", *(column for column in names if column != left_out)]) == name, left_out
    added = [column for column in names if column not in before]
    assert found_in(["TS", *tables()[name].recognised_by, *added]) == name


def test_a_tie_names_both_and_what_decides() -> None:
    cells = ["TS", "ELAPSED_CPU_USED", "TOTAL_JOBS_IN_SYSTEM", "SUBSYSTEM_DESCRIPTION", "PRESTART_JOB_PROGRAM"]
    cells += ["INITIAL_JOBS", "CONFIGURED_CPUS"]
    assert found_in(cells) is None
    detail = str(no_header(cells, "export.csv"))
    assert "PRESTART_JOB_INFO and SYSTEM_STATUS alike" in detail
    assert "name the file after its table" in detail
    assert found_in(cells, "SYSTEM_STATUS.csv") == "SYSTEM_STATUS"
