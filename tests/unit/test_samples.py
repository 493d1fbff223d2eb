"""The generated recording is what its generator writes."""

from __future__ import annotations

import io

from bench.generate_nmon import Shape, generate
from tests.support.recordings import RECORDINGS

SAMPLE = RECORDINGS / "aix_generated.nmon"


def test_the_generated_recording_is_the_generators() -> None:
    out = io.BytesIO()
    shape = Shape(
        snapshots=48, interval=300, disks=12, logical=8, virtual=2, entitled=0.8, host="aixgen01", processes=14
    )
    generate(out, shape)
    assert out.getvalue() == SAMPLE.read_bytes()
