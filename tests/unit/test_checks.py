"""Each check against values of the documents, or worked out from their rules; facts files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from counterflow.analysis.checks import checks, communications, saves
from counterflow.analysis.checks.definition import CheckOutcome, evaluate
from counterflow.analysis.checks.facts import Facts, System, load
from counterflow.analysis.checks.report import Inputs, answers, known_inputs, measures, with_facts
from counterflow.base.errors import CounterflowError
from tests.support.pages import REPOSITORY


class Case(NamedTuple):
    """Inputs that pass, with the figure; and the change that makes the check warn, with its figure."""

    passing: dict[str, Any]
    value: Any
    change: dict[str, Any]
    warned: Any


CASES = {name: Case(*case) for name, case in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text()).items()}


def judged(name: str, inputs: dict[str, Any]) -> CheckOutcome:
    """Return the outcome of a check that applies."""
    outcome = evaluate(checks()[name], inputs)
    assert outcome is not None
    return outcome


def figure(name: str, inputs: dict[str, Any]) -> Any:
    return judged(name, inputs).figure


def test_every_check_has_a_case() -> None:
    assert CASES.keys() == checks().keys()


@pytest.mark.parametrize("name", CASES)
def test_a_check_passes_warns_and_names_each_missing_input(name: str) -> None:
    check, case = checks()[name], CASES[name]
    for inputs, status, value in (
        (case.passing, "pass", case.value),
        (case.passing | case.change, "warn", case.warned),
    ):
        assert judged(name, inputs).status == status
        assert figure(name, inputs).value == pytest.approx(value)
    for missing in check.inputs.keys() - check.optional:
        outcome = judged(name, case.passing | {missing: None})
        assert (outcome.status, missing in outcome.needs) == ("unknown", True)


@pytest.mark.parametrize("name", [name for name, check in checks().items() if check.only])
def test_a_check_is_silent_where_it_does_not_apply_and_is_unknown_where_that_is_unknown(name: str) -> None:
    check, (condition, *_) = checks()[name], checks()[name].only
    assert evaluate(check, CASES[name].passing | {condition: "something else"}) is None
    unknown = judged(name, CASES[name].passing | {condition: None})
    assert (unknown.status, condition in unknown.needs) == ("unknown", True)


def test_journal_cache_may_be_off_where_changes_are_few() -> None:
    assert judged("journal_cache", {"mirrored": True, "journal_cache": False, "modify_pct": 38.0}).status == "pass"


def test_handshakes_that_authenticate_the_client_count_two_to_three_times() -> None:
    inputs = CASES["ssl_handshakes"].passing | CASES["ssl_handshakes"].change
    note = figure("ssl_handshakes", inputs).note
    assert note.endswith("100/s authenticate the client: counted twice, 1,144")


def test_batch_faulting_excludes_the_wait_for_the_processor() -> None:
    inputs = {"batch": True, "faults_per_s": 40.0, "disk_response_ms": 8.0, "batch_jobs": 1.0, "batch_cpu_pct": 48.0}
    found = figure("batch_faulting", inputs)
    assert found.value == pytest.approx(40.0)
    assert found.note.startswith("32.0 %")


@pytest.mark.parametrize(
    ("faults", "note"), [(50.0, "gains little"), (150.0, "leaves it open"), (300.0, "may help; of limited value")]
)
def test_the_gain_of_storage_is_worded_as_the_reference_does(faults: float, note: str) -> None:
    inputs = CASES["interactive_faulting"].passing | {"faults_per_s": faults, "paging": "*CALC"}
    assert note in figure("interactive_faulting", inputs).note


@pytest.mark.parametrize(
    ("speed", "device", "data", "compaction", "gb_per_h"),
    [
        (0.75, "low", "large_file", 2.8, 7.182),  # DVD-RAM
        (5.0, "medium", "large_file", 2.0, 34.2),  # SLR100
        (35.0, "ultra", "large_file", 2.8, 335.16),  # 3580 Ultrium 2
        (35.0, "ultra", "user_mix", 2.8, 176.4),
        (35.0, "ultra", "source_file", 2.8, 17.64),
    ],
)
def test_save_rates_of_9_5_to_9_7(speed: float, device: str, data: str, compaction: float, gb_per_h: float) -> None:
    assert saves.expected_gb_per_h(speed, device, data, compaction) == pytest.approx(gb_per_h)


@pytest.mark.parametrize(
    ("save", "status", "note"),
    [
        ({"device": "3580 Ultrium 2"}, "pass", "3580 Ultrium 2: estimate 335.2 GB/h"),  # 9.7: 335 GB/h
        ({"device": "3580 Ultrium 2", "compaction": 1.5}, "pass", "3580 Ultrium 2: estimate 179.6 GB/h"),  # 9.3
        ({"device": "SLR100"}, "pass", "SLR100: estimate 34.2 GB/h"),  # 9.6: 34 GB/h
        ({"device": "3592-E07 Fibre Channel"}, "unknown", ""),
        ({"device": "3592-E07 Fibre Channel", "device_class": "ultra"}, "warn", "estimate 1,881.0 GB/h"),
    ],
)
def test_a_device_of_table_9_1_brings_its_rate_and_compaction(save: dict[str, Any], status: str, note: str) -> None:
    of = {"gb_per_h": 300, "data": "large_file", **save}
    facts = Facts.model_validate({"systems": {"A": {"saves": {"nightly": of}}}})
    [found] = [one for one in answers(with_facts({}, facts)) if one.subject == "save_rate"]
    assert found.status == status
    assert note in found.details["note"]
    assert found.needs.keys() == ({"device_class"} if status == "unknown" else set())


def test_communications_of_2_5() -> None:
    assert communications.transactions_per_s(50, 5) == 250
    assert communications.cpu_pct(100, 5) == 20
    assert communications.CAPACITY["stream/vpn_esp_tdes_sha1"] == 5.4


ODD = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
)


@given(st.dictionaries(st.sampled_from(sorted(known_inputs())), ODD), st.sampled_from([0.0, 1e-300, 1e308, 10**400]))
def test_no_check_raises_whatever_its_inputs_are(odd: dict[str, Any], number: Any) -> None:
    for name, check in checks().items():
        for inputs in ({**CASES[name].passing, **odd}, {k: number if k in check.inputs else v for k, v in odd.items()}):
            outcome = evaluate(check, inputs)
            assert outcome is None or outcome.status in ("pass", "warn", "unknown")
        of_numbers = {
            k: number if isinstance(v, float | int) and v is not True else v for k, v in CASES[name].passing.items()
        }
        evaluate(check, of_numbers)


def test_every_input_is_a_fact_or_a_counter_and_every_fact_is_used() -> None:
    used = {name for check in checks().values() for name in (*check.inputs, *check.only)}
    assert used - {"pools", "saves", "iops"} == known_inputs().keys() - {"pools", "saves", "iops"}


def test_an_input_query_has_a_subject_and_describes_its_columns() -> None:
    assert {query.subject for query in measures()} == {"system", "pool", "asp"}
    assert all(query.columns for query in measures())


def test_a_counter_wins_over_a_fact_and_every_check_that_may_apply_has_a_result() -> None:
    measured: Inputs = {"A'B": {("system", ""): {"mirrored": True, "full_opens_per_s": None}}}
    facts = Facts.model_validate({"systems": {"A'B": {"mirrored": False, "vios": False}, "C": {"iscsi": True}}})
    found = {(r.system, r.subject): r for r in answers(with_facts(measured, facts))}
    assert found["A'B", "qdbmsrvr_inljobs"].needs.keys() == {"qdbmsrvr_inljobs"}
    assert "INLJOBS" in found["A'B", "qdbmsrvr_inljobs"].needs["qdbmsrvr_inljobs"].text
    assert ("A'B", "queue_depth") not in found
    assert {check for system, check in found if system == "C"} == checks().keys()
    assert [r.system for r in answers(with_facts(measured, facts, ["C"]))] == ["C"] * len(checks())


def test_each_result_names_where_its_inputs_came_from() -> None:
    measured: Inputs = {"A": {("system", ""): {"mirrored": True, "qdbmsrvr_inljobs": 50.0}}}
    facts = Facts.model_validate({"systems": {"A": {"mirror_distance_km": 2, "qdbmsrvr_inljobs": 3}}})
    found = {r.subject: r for r in answers(with_facts(measured, facts))}
    assert found["mirror_distance"].details["inputs"]["mirror_distance_km"] == "facts file"
    assert "nrg_link" in found["mirror_distance"].details["inputs"]["mirrored"]
    assert (found["qdbmsrvr_inljobs"].details["value"], found["qdbmsrvr_inljobs"].status) == (50.0, "pass")
    assert "`config` PRESTART_JOB_INFO" in found["qdbmsrvr_inljobs"].details["inputs"]["qdbmsrvr_inljobs"]
    need = found["qdbmsrvr_adljobs"].needs["qdbmsrvr_adljobs"].text
    assert "`config` PRESTART_JOB_INFO" in need
    assert "fact `qdbmsrvr_adljobs`" in need


def test_facts_are_yaml_or_json(tmp_path: Path) -> None:
    file = tmp_path / "facts.yaml"
    file.write_text(
        'systems:\n  "it\'s": {application_pool: 04, performance_adjustment: 2, pools: {"03": {java: true}}}'
    )
    system = load(file).systems["it's"]
    assert (system.application_pool, system.performance_adjustment) == ("4", 2)
    assert system.pools["3"].java
    file.write_text('{"systems": {"A": {"planned_traffic": {"stream/none": 5}}}}')
    assert load(file).systems["A"].planned_traffic == {"stream/none": 5}


def test_the_facts_of_the_page_are_right(tmp_path: Path) -> None:
    text = (REPOSITORY / "docs/doctor.md").read_text(encoding="utf-8").partition("```yaml\n")[2].partition("```")[0]
    (tmp_path / "facts.yaml").write_text(text)
    assert isinstance(load(tmp_path / "facts.yaml").systems["PROD1"], System)


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("systems:\n  A:\n    vios: true\n    vois_memory_mb: 1\n", ":4: systems.A.vois_memory_mb: Extra inputs"),
        ("systems:\n  A:\n    vios_memory_mb: -1\n", ":3: systems.A.vios_memory_mb: Input should be greater"),
        ("systems:\n  A:\n    pools:\n      2:\n        paging: CALC\n", ":5: systems.A.pools.2.paging: Input should"),
        ("systems:\n  A:\n    planned_traffic: {stream/ssl: 1}\n", "did you mean `stream/"),
        ("systems:\n  A:\n    saves: {x: {device: 3580 Ultrium2}}\n", "did you mean `3580 Ultrium 2`?"),
        ("systems:\n  A:\n    saves: {x: {device: reel}}\n", ":3: systems.A.saves.x.device: Value error, `reel`"),
        ("[1, 2]", ":1: the file: Input should be a valid dictionary"),
        ("", ":1: the file: Input should be a valid dictionary"),
        ("systems: [", "not YAML or JSON"),
        ("systems: !!python/object:os.system {}", "not YAML or JSON"),
    ],
)
def test_a_mistake_in_the_facts_is_named_with_its_line(tmp_path: Path, text: str, mistake: str) -> None:
    file = tmp_path / "facts.yaml"
    file.write_text(text)
    with pytest.raises(CounterflowError) as error:
        load(file)
    assert mistake in str(error.value)
    assert error.value.exit_code == 2
