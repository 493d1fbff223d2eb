"""An export is read as the table that it is of, whatever its file is called."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterflow.collectors.formats.ibmi_tables.description import tables
from counterflow.collectors.formats.ibmi_tables.headers import no_header, table_of

KNOWN = [name for name, table in tables().items() if table.recognised_by]


def columns(name: str) -> list[str]:
    table = tables()[name]
    return [*table.time, *table.fields]


@pytest.mark.parametrize("name", KNOWN)
def test_all_columns_in_a_file_of_any_name(name: str) -> None:
    found = table_of(columns(name), "export.csv")
    assert found is not None
    assert found.table == name


@pytest.mark.parametrize("name", KNOWN)
def test_with_any_column_left_out_it_is_no_other_table(name: str) -> None:
    needed = tables()[name].recognised_by
    for left_out in set(columns(name)) - set(needed):
        found = table_of([column for column in columns(name) if column != left_out], "export.csv")
        assert found is None or found.table == name


@pytest.mark.parametrize("name", KNOWN)
def test_the_columns_that_recognise_it_alone_are_no_other_table_or_both_are_named(name: str) -> None:
    cells = ["TS", *tables()[name].recognised_by]
    found = table_of(cells, "export.csv")
    assert (
        found.table == name
        if found
        else f"{name}.csv" in str(no_header(cells, "")) or name in str(no_header(cells, ""))
    )


@pytest.mark.parametrize("name", KNOWN)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_with_any_optional_columns_it_is_that_table_or_a_tie_that_names_it(name: str, data: st.DataObject) -> None:
    needed = [*tables()[name].time, *tables()[name].recognised_by] or ["TS"]
    optional = [column for column in columns(name) if column not in needed]
    kept = data.draw(st.lists(st.sampled_from(optional), unique=True)) if optional else []
    strange = data.draw(st.lists(st.sampled_from(["NEW_IN_7_6", "FILLER", "NOTE"]), unique=True))
    cells = data.draw(st.permutations(["TS", *needed, *kept, *strange]))
    found = table_of(cells, "export.csv")
    if found is None:
        detail = str(no_header(cells, "export.csv"))
        assert "alike: name the file after its table" in detail
        assert re.search(rf"\b{name}\b", detail)
    else:
        assert found.table == name


def test_a_tie_names_both_and_what_decides() -> None:
    cells = ["TS", "ELAPSED_CPU_USED", "TOTAL_JOBS_IN_SYSTEM", "SUBSYSTEM_DESCRIPTION", "PRESTART_JOB_PROGRAM"]
    cells += ["INITIAL_JOBS", "CONFIGURED_CPUS"]
    assert table_of(cells, "export.csv") is None
    detail = str(no_header(cells, "export.csv"))
    assert "PRESTART_JOB_INFO and SYSTEM_STATUS alike" in detail
    assert "name the file after its table" in detail
    found = table_of(cells, "SYSTEM_STATUS.csv")
    assert found is not None
    assert found.table == "SYSTEM_STATUS"
