"""An answer that is small on the wire and huge once unpacked; only HTTP delivers packed bytes."""

from __future__ import annotations

import tracemalloc
import zlib

import pytest

from counterflow.collectors.sources.http.reports import Dds
from counterflow.collectors.sources.http.session import LONGEST_ANSWER, Target
from counterflow.collectors.sources.polling.session import SessionError
from tests.support.web import Request, serving

MIB = 2**20


def test_a_packed_answer_is_unpacked_up_to_the_limit_of_an_answer() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(MIB)) for _ in range(512)) + packer.flush()
    assert len(bomb) < MIB

    def answer(request: Request) -> None:
        request.reply(200, bomb, Content_Type="application/json", Content_Encoding="gzip")

    with serving(answer) as url:
        tracemalloc.start()
        try:
            with pytest.raises(SessionError, match=f"longer than {LONGEST_ANSWER} bytes"):
                Dds(Target(url=url), None).open()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 3 * LONGEST_ANSWER
