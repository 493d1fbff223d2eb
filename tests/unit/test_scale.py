"""The plan for a fleet: the model computes what docs/scale.md describes."""

from __future__ import annotations

from bench import model

MEASURED = model.Measured(
    rows_a_system_s=1.0,
    land_rows_core_s=40_000,
    partition_rows_s=60_000,
    record_bytes=400,
    task_manager_row_s=16e-6,
    state_bytes=1e6,
    row_bytes=10,
)


def test_parts_run_at_the_load_that_is_assumed() -> None:
    found = model.plan(100_000, MEASURED, model.Assumed(load=0.5))
    assert found.rows_s == 100_000
    assert (found.partitions, found.landing_cores) == (4, 5)
    assert found.task_managers == 2, "two cores do 125,000 rows of 16 us a second, and half of that at this load"


def test_state_is_that_of_all_systems() -> None:
    assert model.plan(100_000, MEASURED).state_gb == 100


def test_bytes_are_those_of_all_copies_and_days() -> None:
    assumed = model.Assumed(kafka_copies=2, kafka_days=10, clickhouse_copies=3, clickhouse_days=100)
    found = model.plan(10_000, MEASURED, assumed)
    assert found.kafka_tb == 10_000 * 86_400 * 10 * 400 * 2 / 1e12
    assert found.clickhouse_tb == 10_000 * 86_400 * 100 * 10 * 3 / 1e12


def test_a_small_fleet_needs_one_of_everything() -> None:
    found = model.plan(1, MEASURED)
    assert (found.partitions, found.landing_cores) == (4, 1)
