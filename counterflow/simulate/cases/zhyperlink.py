"""An hour of each run of the zHyperLink study; docs/studies/zhyperlink.md has what is printed, implied and assumed."""

from __future__ import annotations

from counterflow.simulate.db2_log import GCPS, ZIIPS, LogRun
from counterflow.simulate.published import Row, table
from counterflow.simulate.zos import BATCH_ACCOUNTS, LogCase

IMPLIED_LOG_BYTES = 44_850
"""Log bytes an account in all runs whose log rate is printed: 44,558 to 44,990."""
WORKING = 0.7
"""Part of a job's time not spent waiting for the log, in the fastest run of a machine."""
SYNC_PCT = 99.8
WAITS_WITH_ZHPF = 12

FIGURES = ("log_mb_s", "accounts_m_h", "gcp_pct", "ziip_pct", "gcp_ms", "ziip_ms", "elapsed_h")
ROWS = {row["run"]: row for row in table("zhyperlink")}


def log_run(
    measured: str, system: str, intervals: int, *, name: str = "", scale: float = 1.0, run_id: str = ""
) -> LogRun:
    """Return the run `measured`, its load times `scale`; below full load nothing waits for the log."""
    row = ROWS[measured]
    figures = _figures(row)
    accounts_h = figures["accounts_m_h"] * 1e6
    fastest = max(_figures(other)["accounts_m_h"] for other in ROWS.values() if other["cec"] == row["cec"])
    return LogRun(
        name=name or measured,
        system=system,
        cec=row["cec"],
        storage=row["storage"],
        path=row["path"],
        log_mb_s=scale * figures["log_mb_s"],
        ceiling_mb_s=round(figures["log_mb_s"]),
        accounts_h=scale * accounts_h,
        gcp_pct=scale * figures["gcp_pct"],
        ziip_pct=scale * figures["ziip_pct"],
        waiting_share=1 - WORKING * figures["accounts_m_h"] / fastest if scale == 1 else 0.05,
        sync_pct=SYNC_PCT,
        buffer_waits=WAITS_WITH_ZHPF if row["path"] == "zhpf" and scale == 1 else 0,
        intervals=intervals,
        run_id=run_id or name or measured,
        published={figure: row[figure] for figure in FIGURES if figure in row} if scale == 1 else {},
        implied={f: f"{figures[f]:.4g}" for f in FIGURES if f in figures and f not in row} if scale == 1 else {},
    )


def _figures(row: Row) -> dict[str, float]:
    """Return the figures for a run's counters; unprinted ones are derived from printed ones."""
    printed = {figure: float(row[figure]) for figure in FIGURES if figure in row}
    accounts_m_h = printed.get("accounts_m_h", BATCH_ACCOUNTS / 1e6 / printed["elapsed_h"])
    return {
        "log_mb_s": IMPLIED_LOG_BYTES * accounts_m_h / 3600,
        "accounts_m_h": accounts_m_h,
        "gcp_pct": 100 * printed["gcp_ms"] * accounts_m_h * 1e6 / (GCPS * 3_600_000),
        "ziip_pct": 100 * printed["ziip_ms"] * accounts_m_h * 1e6 / (ZIIPS * 3_600_000),
    } | {figure: printed[figure] for figure in ("log_mb_s", "gcp_pct", "ziip_pct") if figure in printed}


CASE = LogCase(
    title="Db2 active log over zHPF and zHyperLink, z16 and z17, DS8950 and DS8A50 (zHyperLink study, 5 and 6)",
    interval_s=60,
    runs=tuple(log_run(name, {"z16": "Z16A", "z17": "Z17A"}[row["cec"]], 60) for name, row in ROWS.items()),
    noise=0.005,
    pause=5,
)
