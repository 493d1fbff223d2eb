"""Counterflow: performance counters from the systems that keep them to answers in SQL.

The folders beside this package (`collectors`, `schemas`, `pipelines`) are its subpackages through links; see
docs/decisions/0001-layout.md.
"""
