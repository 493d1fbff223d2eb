"""Listings and documents of an HMC, and documents of sadf: in any order, and one name for one port."""

from __future__ import annotations

import io
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import accumulate, chain

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import formats
from counterflow.collectors.records import Context, Format, Item, Record
from tests.golden.cases import golden

BEGIN = datetime(2026, 11, 21, tzinfo=UTC)
STRETCHES = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 10)), min_size=1, max_size=6)
"""The first sample of each document, and how many it holds."""


def document(name: str, samples: Iterable[int]) -> bytes:
    """Return a document with a sample each half minute."""
    times = [BEGIN + timedelta(seconds=30 * n) for n in samples]
    if name == "sysstat":
        stamps = [{"date": f"{t:%F}", "time": f"{t:%T}", "tz": "UTC", "interval": 30} for t in times]
        statistics = [{"timestamp": stamp, "queue": {"runq-sz": 1}} for stamp in stamps]
        return orjson.dumps({"sysstat": {"hosts": [{"nodename": "web1", "statistics": statistics}]}})
    partition = {"name": "PROD01", "uuid": "1", "network": {"sriovLogicalPorts": [{"drcIndex": "1", "sentBytes": [1]}]}}
    util = [{"sampleInfo": {"timeStamp": f"{t:%FT%T}+0000"}, "lparsUtil": [partition]} for t in times]
    info = {"metricType": "Processed", "frequency": 30, "uuid": "2"}
    return orjson.dumps({"systemUtil": {"utilInfo": info, "utilSamples": util}})


def parse(form: Format, content: bytes) -> list[Item]:
    return list(form.parse(io.BytesIO(content), Context("file", UTC)))


@pytest.mark.parametrize("name", ["sysstat", "hmc_pcm"])
@given(stretches=STRETCHES)
def test_documents_in_any_order_yield_each_sample_once(name: str, stretches: list[tuple[int, int]]) -> None:
    held = [range(first, first + count) for first, count in stretches]
    items = parse(formats()[name], b"\n".join(document(name, samples) for samples in held))
    rows = [item for item in items if isinstance(item, Record) and item.dataset in ("link", "counter")]
    times = [datetime.fromisoformat(row.fields["ts"]) for row in rows]
    assert sorted(times) == [BEGIN + timedelta(seconds=30 * n) for n in sorted(set().union(*held))]


def rows_of_lists(lists: Iterable[Iterable[int]]) -> dict[int, tuple[float, float]]:
    """Return interval and cores by sample, of lists of samples: before sample n, n hundredths of a core are used."""
    lines = ["time,lpar_name,entitled_cycles,capped_cycles,uncapped_cycles,time_cycles"]
    passed = 300 * 512_000_000
    for n in chain.from_iterable(lists):
        time, used = BEGIN + timedelta(minutes=5 * n), sum(range(n + 1)) * passed // 100
        lines.append(f"{time:%m/%d/%Y %T},PROD01,{n * passed},{used},0,{10**12 + n * passed}")
    items = parse(formats()["hmc_lslparutil"], "\n".join(lines).encode())
    found = [item.fields for item in items if isinstance(item, Record) and item.dataset == "system_cpu"]
    ends = [(datetime.fromisoformat(row["ts"]) - BEGIN) // timedelta(minutes=5) for row in found]
    assert len(set(ends)) == len(ends)
    figures = [(row["interval_s"], row["physical_consumed_cores"]) for row in found]
    return dict(zip(ends, figures, strict=True))


@given(
    stretches=st.lists(st.tuples(st.integers(0, 7), st.integers(8, 12)), min_size=1, max_size=5), newest=st.booleans()
)
def test_lists_of_hmc_lslparutil_that_overlap_yield_each_interval_once(
    stretches: list[tuple[int, int]], newest: bool
) -> None:
    begins = accumulate(later for later, _ in stretches)
    lists = [range(begin, begin + count) for begin, (_, count) in zip(begins, stretches, strict=True)]
    ends = sorted({n for held in lists for n in held[1:]})
    rows = rows_of_lists(held[::-1] if newest else held for held in lists)
    assert rows == {n: (300.0, n / 100) for n in ends}


@given(lists=st.lists(st.lists(st.integers(0, 30), max_size=8), max_size=5))
def test_samples_of_hmc_lslparutil_in_any_order_yield_no_wrong_figure(lists: list[list[int]]) -> None:
    for n, (interval_s, cores) in rows_of_lists(lists).items():
        first = n - round(interval_s / 300) + 1
        assert cores == pytest.approx(sum(range(first, n + 1)) / (n - first + 1) / 100, abs=1e-6)


def test_hmc_lshwres_and_hmc_pcm_name_a_port_alike() -> None:
    def ports(name: str, case: str) -> set[tuple[str, str, str]]:
        rows = [row["fields"] for row in golden(f"{name}/{case}").found() if row.get("dataset") == "link"]
        return {(row["system"], row["link"], row["physical_port"]) for row in rows}

    assert ports("hmc_pcm", "partition") < ports("hmc_lshwres", "header")
