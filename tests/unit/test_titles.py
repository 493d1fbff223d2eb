"""What may stand above the names of the columns of a table, and does not hide them."""

from __future__ import annotations

import pytest

from counterflow.collectors.formats import recognise

HEADERS = {
    "ibmi_tables": "ASP_NUMBER,UNIT_NUMBER,RESOURCE_NAME,PERCENT_USED,TOTAL_READ_REQUESTS\n1,1,DD001,50,1600\n",
    "qrep_monitor": "MONITOR_TIME,RECVQ,TRANS_APPLIED\n2025-11-21-01.00.00.000000,Q1,1\n",
    "workload_csv": "time_utc,workload,run_id,unit_of_work,done\n2025-11-21T01:00:00Z,batch,r1,accounts,100\n",
    "query_log": "workload,query,start,end\nBDI,Q1,2025-11-21T10:00:00Z,2025-11-21T10:00:30Z\n",
    "db2_log_csv": "time_utc,sysid,ssid,QJSTCIWR\n2025-11-21T01:00:00Z,SYS1,DBP1,1000\n",
}


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize(
    "above",
    [
        "sep=,\r\n",
        '"sep=;"\n',
        ",,,,,\n\n",
        "Disks of PROD01\n",
        "Disks of PROD01, in March\n",
        '"Disks of PROD01, in March",,,,\n,,,,\n',
        "\ufeffsep=,\nDisks of PROD01\n\n",
    ],
)
def test_a_table_is_recognised_below(name: str, above: str) -> None:
    found = recognise((above + HEADERS[name]).encode())
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("above", ["Disks of PROD01\nin March\n", "a,b,c,d,e,f\n", "a\rb\rc,d,e,f,g,h\n"])
def test_a_table_is_not_looked_for_below(name: str, above: str) -> None:
    """Two lines of text, or the header of another table, are no title."""
    assert recognise((above + HEADERS[name]).encode()) is None


@pytest.mark.parametrize("name", HEADERS)
def test_lines_that_end_with_cr_alone_are_not_read_as_one(name: str) -> None:
    assert recognise(HEADERS[name].replace("\n", "\r").encode()) is None
