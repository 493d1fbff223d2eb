"""Price against performance: the saving per unit of work."""

from __future__ import annotations

from counterflow.analysis.studies.percentages import Number, per

FORMULA = "price-performance advantage = 1 - (cost / baseline cost) / (throughput / baseline throughput)"


def price_performance_pct(cost_ratio: Number, throughput_ratio: Number) -> Number:
    """Return the saving per unit of work, %; both ratios are new / old."""
    ratio = per(cost_ratio, throughput_ratio)
    return None if ratio is None else 100 * (1 - ratio)


def performance_per_price_gain_pct(throughput_ratio: float, price_ratio: float) -> float:
    """Return the gain in performance for the same money, %: the other usual definition; `price_ratio` is old / new.

    It has no upper bound, while the saving ends at 100 %; the studies here do not print it.
    """
    return 100 * (throughput_ratio * price_ratio - 1)
