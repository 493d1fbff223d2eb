"""A log at the ceiling of zHPF, zHyperLink switched on, and its writes falling back: docs/studies/zhyperlink.md."""

from __future__ import annotations

from dataclasses import replace

from counterflow.simulate.cases.zhyperlink import log_run
from counterflow.simulate.zos import LogCase

SYSTEM, BATCH = "ZSTORY", "night"
ZHPF, ZHL = "z17-zhpf-ds8a50", "z17-zhl-ds8a50"
SYNC_PCT = 4.36

AT_CEILING = log_run(ZHPF, SYSTEM, 8, name="zhpf-ceiling", run_id=BATCH)
SWITCHED = log_run(ZHL, SYSTEM, 10, name="zhl-on", scale=0.7, run_id=BATCH)
FALLEN = replace(
    SWITCHED,
    name="zhl-fallen-back",
    log_mb_s=AT_CEILING.log_mb_s,
    accounts_h=AT_CEILING.accounts_h,
    gcp_pct=AT_CEILING.gcp_pct,
    ziip_pct=AT_CEILING.ziip_pct,
    waiting_share=AT_CEILING.waiting_share,
    sync_pct=SYNC_PCT,
    intervals=6,
)

CASE = LogCase(
    title="A log at its ceiling, then over zHyperLink, then fallen back (from the log study)",
    interval_s=60,
    runs=(log_run(ZHPF, SYSTEM, 4, name="zhpf-slowed", scale=0.7, run_id=BATCH), AT_CEILING, SWITCHED, FALLEN),
    noise=0.005,
)
