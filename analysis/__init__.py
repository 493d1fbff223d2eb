"""Queries over ClickHouse: stored questions, published checks, studies of runs."""
