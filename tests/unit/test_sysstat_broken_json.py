"""A whole day of what sadf before 11.4 wrote in place of JSON is repaired."""

from __future__ import annotations

import json

import pytest

from counterflow.collectors.formats.sysstat.broken_json import repaired

MINUTES = 1440
SAMPLE = '{"timestamp": {"time": "%02d:%02d:00"}, "memory": {"memfree": %d}MARK "network": {"net-dev": []}}'


@pytest.mark.parametrize(
    ("whole", "broken", "kind"), [("},", "}", "missing comma"), ('"net-dev": []}}', '"net-dev": []}', "missing brace")]
)
def test_a_day_that_misses_a_mark_in_each_sample(whole: str, broken: str, kind: str) -> None:
    samples = [SAMPLE.replace("MARK", ",") % (*divmod(minute, 60), minute) for minute in range(MINUTES)]
    text = f'{{"sysstat": {{"hosts": [{{"statistics": [{", ".join(samples)}]}}]}}}}'
    place = ', "network"' if whole == "}," else None
    damaged = text.replace(place, ' "network"') if place else text.replace(whole, broken)
    tree, end, counts = repaired(damaged, ["network"])
    assert tree == json.loads(text)
    assert end == len(damaged)
    assert counts == {kind: MINUTES}
