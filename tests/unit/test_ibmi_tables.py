"""Tables of IBM i: rows of SQL as rows of a file, what one read hands to the next, and which table an export is of."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from counterflow.collectors.formats import ibmi_tables
from counterflow.collectors.formats.ibmi_tables.description import tables
from counterflow.collectors.formats.ibmi_tables.expression import parsed
from counterflow.collectors.formats.ibmi_tables.headers import no_header, table_of
from counterflow.collectors.formats.ibmi_tables.layout import layout
from counterflow.collectors.formats.ibmi_tables.rows import read_rows
from counterflow.collectors.reading import beside
from counterflow.collectors.records import Context, Item, Reason, Record, Reject, Table, singly
from counterflow.schemas.definition import datasets
from tests.support.ibmi_export import columns, write

BERLIN = ZoneInfo("Europe/Berlin")
CONTEXT = Context("test", BERLIN, "SYSA")
TIME = ("INTNUM", "DTETIM", "INTSEC", "DTECEN")


def read(table: str, names: tuple[str, ...], *rows: tuple[Any, ...], **more: Any) -> list[Record | Reject]:
    return list(singly(read_rows(table, names, rows, CONTEXT, more.pop("state", {}), **more)))


def of(dataset: str, items: Iterable[Item]) -> list[dict[str, Any]]:
    return [item.fields for item in singly(items) if isinstance(item, Record) and item.dataset == dataset]


def place(interval: int) -> tuple[Any, ...]:
    minutes = 15 * interval
    return interval, f"260716{minutes // 60:02}{minutes % 60:02}00", 900, "1"


def test_rows_of_sql_are_read_like_rows_of_a_file() -> None:
    names = ("INTNUM", "UTCTIME", "INTSEC", "JBNAME", "JBUSER", "JBNBR", "JBTDE", "JBSTSF", "JBCPU", "JBPOOL")
    line = "1,2026-07-16-00.15.00.000000,900,A   ,ANNA,000001,00000000000000A1,0,12.500,"
    moment = datetime(2026, 7, 16, 0, 15, tzinfo=UTC)
    typed = (1, moment, Decimal(900), "A", "ANNA", "000001", bytes([0] * 7 + [0xA1]), 0, Decimal("12.500"), None)
    assert read("QAPMJOBMI", names, tuple(line.split(","))) == read("QAPMJOBMI", names, typed)


def test_rows_without_a_time_have_that_of_the_sample() -> None:
    names = ("NRG_NAME", "OUTBOUND_RDMA_BYTES")
    state: dict[str, Any] = {}
    for second, sent in ((0, 100), (10, 350)):
        at = datetime(2026, 7, 16, 1, 0, second, tzinfo=UTC)
        (found,) = of("link", read("NRG_INFO", names, ("MIRROR_DATABASE", sent), state=state, sampled_at=at))
    assert (found["ts"], found["interval_s"]) == ("2026-07-16T01:00:10Z", 10)
    assert (found["prev_ts"], found["prev_out_bytes"], found["out_bytes"]) == ("2026-07-16T01:00:00Z", 100, 350)


def test_names_and_boundaries_read_before_are_used() -> None:
    state: dict[str, Any] = {}
    conf = [("    ", f"B{n} ", f"{4**n:010}") for n in range(1, 6)] + [
        ("", "1 ", "2607161   "),
        ("", "2 ", "000000    "),
    ]
    assert not [i for i in read("QAPMCONF", ("GRES", "GKEY", "GDES"), *conf, state=state) if isinstance(i, Reject)]
    (found,) = of(
        "disk_bucket",
        read("QAPMDISK", (*TIME, "DSDRN", "DSRDS", "DSBKCT2"), (*place(1), "DD001", 5, 5), state=state),
    )
    assert (found["bucket"], found["upper_us"]) == (2, 16_000)


def test_every_description_fills_columns_that_exist() -> None:
    for table in tables().values():
        for filled in table.records:
            assert not set(filled.columns) - set(datasets()[filled.dataset].columns), table.table
        full = layout(table.table, columns(table.table))
        assert full.filled.keys() == {filled.dataset for filled in table.records}, table.table
        for name in table.recognised_by:
            assert name in table.fields, table.table


@pytest.mark.parametrize("table", [name for name, table in tables().items() if table.recognised_by and table.time])
def test_what_the_exporter_writes_is_recognised_and_read(table: str) -> None:
    out = io.BytesIO()
    moment = {"INTNUM": 1, "DTETIM": "260716001500", "INTSEC": 900, "DTECEN": "1", "DTCEN": "1"}
    fields = {name: 1 if field.form == "number" else "01" for name, field in tables()[table].fields.items()}
    ids = {"JBTDE": "00000000000000A1", "JWTDE": "00000000000000A1", "JBSTSF": 0}
    stamps = {"DATETIME": "2026-07-16-00.15.00.000000", "SAMPLE_TIME": "2026-07-15T22:15:00Z"}
    write(out, table, [{**moment, **stamps, **fields, **{k: v for k, v in ids.items() if k in fields}}])
    assert ibmi_tables.recognises(out.getvalue())
    out.seek(0)
    items = list(singly(ibmi_tables.parse(out, CONTEXT)))
    assert [item for item in items if isinstance(item, Record)]
    assert {i.reason for i in items if isinstance(i, Reject)} <= {Reason.COLUMN_MISSING}  # reads for update
    assert {i.fields["ts"] for i in items if isinstance(i, Record)} == {"2026-07-15T22:15:00Z"}


def test_strange_column_names_are_names_and_nothing_else() -> None:
    name = "__import__('os').abort()"
    (counter,) = of("counter", read("QAPMDISK", (*TIME, "DSDRN", "DSRDS", name), (*place(1), "DD001", 1, 7)))
    assert counter["counter"] == name.upper()
    (job,) = of(
        "job",
        list(
            read_rows(
                "QAPMJOBOS",
                (*TIME, "JBNAME", "JBTDE", "JBLRD", "A#B'@"),
                [(*place(1), "A", "00000000000000A1", 9, 4)],
                Context("test", BERLIN, "SYSA", columns={"logical_reads_for_update": "a#b'@"}),
                {},
            )
        ),
    )
    assert (job["logical_reads"], job["logical_reads_for_update"]) == (9, 4)


PTFS = "IBM i 7.5 has it; PTFs SI75389 (7.4), SI75911 (7.3) and SI75912 (7.2) bring it"


@pytest.mark.parametrize(
    ("columns", "named", "reads", "noted"),
    [
        (("Logical reads for update",), None, 4, None),
        (("JBNEW",), "JBOTHER", None, "there is no column JBOTHER, which the configuration names: "),
        (
            ("READ UPDATE", "SQL READ UPDATE"),
            None,
            None,
            "READ UPDATE, SQL READ UPDATE may each count reads for update: ",
        ),
    ],
)
def test_a_recording_without_reads_for_update_is_noted_once_with_the_ptf_that_brings_them(
    columns: tuple[str, ...], named: str | None, reads: float | None, noted: str | None
) -> None:
    """9 logical reads, 4 of them for update; PTFs as printed in Db2 Mirror for i: Performance Considerations, 2.2."""
    context = Context("test", BERLIN, "SYSA", columns={"logical_reads_for_update": named} if named else {})
    state: dict[str, Any] = {}
    rows = [(*place(n), "A", "00000000000000A1", 9, *(4 for _ in columns)) for n in (1, 2)]
    head = (*TIME, "JBNAME", "JBTDE", "JBLRD", *columns)
    items = [item for row in rows for item in read_rows("QAPMJOBOS", head, [row], context, state)]
    found = of("job", items)
    assert [(job["logical_reads"], job.get("logical_reads_for_update")) for job in found] == [(9, reads)] * 2
    rejects = [item for item in items if isinstance(item, Reject)]
    assert [(r.reason, r.kept) for r in rejects] == ([(Reason.COLUMN_MISSING, "all")] if noted else [])
    for reject in rejects:
        assert reject.detail.startswith(noted or "")
        assert (PTFS in reject.detail) == (len(columns) == 1)


def test_a_table_without_logical_reads_does_not_miss_those_for_update() -> None:
    """JBNTR alone: no reads are known, so no part of them is missing."""
    rows = [(*place(1), "A", "00000000000000A1", 9)]
    items = list(read_rows("QAPMJOBOS", (*TIME, "JBNAME", "JBTDE", "JBNTR"), rows, CONTEXT, {}))
    assert not [item for item in items if isinstance(item, Reject)]


def test_a_column_that_the_site_names_for_jobs_stays_a_counter_elsewhere() -> None:
    context = Context("test", BERLIN, "SYSA", columns={"logical_reads_for_update": "JBNEW"})
    items = list(read_rows("QAPMISUM", (*TIME, "JWTM01", "JBNEW"), [(*place(1), 0, 5)], context, {}))
    assert [(c["counter"], c["value"]) for c in of("counter", items)] == [("JBNEW", 5)]


@pytest.mark.parametrize("code", ["__import__('os')", "A.real", "[A]", "lambda: A", "A ** 2", "A if A else A", "A <"])
def test_only_expressions_over_fields_are_read(code: str) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        parsed(code)


@pytest.mark.parametrize("table", ["QAPMJOBMI", "QAPMJOBOS"])
def test_an_interval_that_does_not_fit_into_memory_has_the_same_rows(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {**dict(zip(TIME, place(1), strict=True)), "DTCEN": "1", "JBTDE": f"{n:016X}", "JBNBR": f"{n:06}", "JBTHCT": n}
        for n in range(40)
    ]
    for name in ("QAPMJOBMI", "QAPMJOBOS") if table == "QAPMJOBMI" else (table,):
        with (tmp_path / f"{name}.csv").open("wb") as out:
            write(out, name, rows if name == "QAPMJOBMI" else rows[::3])

    def tables_and_rows() -> tuple[int, list[str]]:
        path = tmp_path / f"{table}.csv"
        with path.open("rb") as stream:
            items = list(ibmi_tables.parse(stream, replace(CONTEXT, beside=beside(path))))
        return sum(isinstance(item, Table) for item in items), sorted(map(repr, singly(items)))

    whole, expected = tables_and_rows()
    monkeypatch.setattr("counterflow.collectors.formats.ibmi_tables.rows._MOST_ROWS", 2)
    parts, found = tables_and_rows()
    assert parts > whole
    assert found == expected


def test_rows_that_state_different_lengths_of_time_are_tables_of_their_own() -> None:
    names = (*TIME, "JBNBR", "JBTDE", "JBTHCT")
    lengths = (900, 120, 900, 0, 120)
    rows = [(1, "260716001500", s, "1", f"{n:06}", f"{n:016X}", n) for n, s in enumerate(lengths)]
    tables = [item for item in read_rows("QAPMJOBMI", names, rows, CONTEXT, {}) if isinstance(item, Table)]
    found = {table.shared.get("interval_s"): table.columns["threads_started"] for table in tables}
    assert found == {900: [0, 2], 120: [1, 4], None: [3]}


def test_texts_of_connections_that_are_gone_are_forgotten() -> None:
    columns = ("JOB_NAME", "CPU_TIME", "SQL_STATEMENT_TEXT")
    state: dict[str, Any] = {}
    for minute in range(30):
        names = [f"{minute:03d}{n:03d}/QUSER/QZDASOINIT" for n in range(100)]
        found = [(name, 5, f"SELECT {name}") for name in names]
        items = list(
            read_rows("JOB_STATEMENT", columns, found, CONTEXT, state, datetime(2026, 3, 2, 8, minute, tzinfo=UTC))
        )
        assert sum(isinstance(item, Record) and item.dataset == "config" for item in items) == 100
    assert len(state["config"]["JOB_STATEMENT"]) <= 1_100


# which table an export is of, whatever its file is called

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


def found_in(names: list[str], file: str = "export.csv") -> str | None:
    table = table_of(names, file)
    return table.table if table else None


@pytest.mark.parametrize("name", KNOWN)
def test_all_columns_in_a_file_of_any_name(name: str) -> None:
    assert found_in(columns(name)) == name


@settings(max_examples=300, deadline=None)
@given(name=st.sampled_from(KNOWN), data=st.data())
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
