"""Every mistake in an agent's configuration is named with its line and the way out, all at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from counterflow.base.errors import CounterflowError
from counterflow.cli.agent import check as command
from counterflow.collectors.agent.config import Config, HttpSource, KafkaSource, Mistake, check, load
from tests.support.dds import Authority

EXAMPLE = Path(__file__).parents[2] / "collectors" / "agent.example.yaml"
MISTAKES = Path(__file__).parent / "mistakes"


def mistakes(text: str) -> list[Mistake]:
    found = check(text)
    assert not isinstance(found, Config)
    return sorted(found)


def test_the_example_has_no_mistakes() -> None:
    result = CliRunner(env={"COUNTERFLOW_KAFKA_PASSWORD": "x"}).invoke(command, [str(EXAMPLE)])
    assert result.exit_code == 0, result.output
    assert "no mistakes" in result.output


@pytest.mark.parametrize("kind", ["sql", "http"])
def test_the_example_explains_every_key_of_a_system(kind: str) -> None:
    """Its source is a comment, in place of the sources of files."""
    before, commented = EXAMPLE.read_text().split(f"  # - kind: {kind}\n")
    uncommented = ("\n" + commented.split("\n\n")[0]).replace("\n  # ", "\n  ")
    config = check(f"{before}  - kind: {kind}{uncommented}")
    assert isinstance(config, Config), config
    (source,) = config.systems
    assert source.model_fields_set == set(type(source).model_fields)
    if isinstance(source, HttpSource):
        rare = {"verify", "certificate", "key"}  # the example mentions them in comments
        assert source.connection.model_fields_set | rare == set(type(source.connection).model_fields)


@pytest.mark.parametrize("file", sorted(MISTAKES.iterdir()), ids=lambda file: file.stem)
def test_every_mistake_is_named_with_its_line_and_no_secret_is_shown(file: Path, tmp_path: Path) -> None:
    """A comment in a line of the file has the place of each mistake, and a part of the message where it is given."""
    pack = "{pack: mine, text: t, interval_s: 1, queries: [{table: %s, sql: [%s]}]}"
    (tmp_path / "delete.yaml").write_text(pack % ("NRG_INFO", "DELETE FROM NRG_INFO"))
    (tmp_path / "unknown.yaml").write_text(pack % ("NOT_KNOWN", "SELECT 1 FROM X"))
    (tmp_path / "again.yaml").write_text(pack % ("NRG_INFO", "SELECT * FROM QSYS2.NRG_INFO"))
    text = file.read_text()
    expected = {
        (number, where): words
        for number, line in enumerate(text.splitlines(), 1)
        for comment in re.findall(r"\S # (.+)", line)
        for where, _, words in (mistake.partition(": ") for mistake in comment.split("; "))
    }
    found = check(text, tmp_path)
    assert not isinstance(found, Config)
    assert [(mistake.line, mistake.where) for mistake in sorted(found)] == sorted(expected)
    for mistake in found:
        assert expected[mistake.line, mistake.where] in mistake.what
    assert "hunter2" not in str(found)


def test_two_sources_of_one_name_are_a_mistake() -> None:
    source = "{name: a, paths: [x]}"
    text = f"agent_id: a\nkafka: {{bootstrap: b}}\nsources:\n  - {source}\n  - {source}\n"
    assert [(m.line, m.where) for m in mistakes(text)] == [(5, "sources[1]")]


@pytest.mark.parametrize(
    ("text", "line"), [("", 1), ("- a\n", 1), ("a: [1\nb: 2\n", 2), ("agent_id: a\n\tkafka: b\n", 2), ("a: \x01\n", 1)]
)
def test_what_is_not_a_mapping_is_reported_with_its_line(text: str, line: int) -> None:
    assert [m.line for m in mistakes(text)] == [line]


def test_no_secret_is_ever_shown(tmp_path: Path) -> None:
    config = tmp_path / "agent.yaml"
    config.write_text(
        "agent_id: a\nkafka: {bootstrap: b, secrets: {sasl.password: hunter2}, settings: {ssl.key.password: hunter2}}\n"
        "sources: [{name: s, paths: [x]}]\n"
    )
    with pytest.raises(CounterflowError) as raised:
        load(config)
    assert str(config) + ":2: kafka.secrets.sasl.password" in raised.value.message
    assert "hunter2" not in raised.value.message
    assert raised.value.exit_code == 2


def test_paths_are_relative_to_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hunter2\n")
    (tmp_path / "agent.yaml").write_text(
        "agent_id: a\nkafka: {bootstrap: b, secrets: {ssl.key.password: {file: password}}, "
        "settings: {ssl.ca.location: ca.pem, ssl.key.location: /key.pem}}\n"
        "sources: [{name: s, paths: [in/*.nmon, /abs]}]\n"
    )
    config = load(tmp_path / "agent.yaml")
    assert config.files[0].paths == (tmp_path / "in/*.nmon", Path("/abs"))
    assert config.kafka.client["ssl.key.password"] == "hunter2"
    assert config.kafka.client["ssl.ca.location"] == str(tmp_path / "ca.pem")
    assert config.kafka.client["ssl.key.location"] == "/key.pem"
    assert "hunter2" not in repr(config)


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_a_file_that_is_missing_or_not_text_is_reported(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "agent.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CounterflowError, match=str(path)):
        load(path)


def test_topics_are_of_the_agents_own_cluster_where_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "agent.yaml"
    path.write_text(
        "agent_id: a\nkafka: {bootstrap: b, secrets: {ssl.key.password: {file: secret}}}\n"
        "sources: [{kind: kafka, name: s, topics: [t]}]\n"
    )
    (source,) = load(path).systems
    assert isinstance(source, KafkaSource)
    assert source.connection == load(path).kafka
    assert source.connection.secrets["ssl.key.password"].file == tmp_path / "secret"


def test_check_states_what_each_source_reads_and_that_its_secrets_and_certificates_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hunter2")
    (tmp_path / "ca.pem").write_bytes(Authority(tmp_path / "authority").authority.read_bytes())
    path = tmp_path / "agent.yaml"
    path.write_text("""\
agent_id: a
kafka: {bootstrap: b}
sources:
  - {kind: sql, name: prod, system: PROD01, packs: [db2_mirror],
     connection: {driver: mapepire, host: prod01, user: FLOW, password: {file: password}}}
  - {kind: http, name: sys1, system: SYS1,
     connection: {url: https://dds:8803, user: FLOW, password: {file: password}, ca: ca.pem}}
  - {kind: kafka, name: odp, topics: [t]}
  - {kind: listen, name: n, address: "0.0.0.0:8181", in_clear: true}
""")
    result = CliRunner().invoke(command, [str(path)])
    assert result.exit_code == 0, result.output
    for line in (
        "prod: PROD01 at prod01 through mapepire, db2_mirror, times in UTC",
        "sys1: SYS1 at https://dds:8803, SYSINFO, PROCU, times in UTC",
        "odp: topics at b, t, times in UTC",
        "n: tcp 0.0.0.0:8181, njmon, nimon, times in UTC",
    ):
        assert line in result.output
    assert "hunter2" not in result.output + repr(load(path))
    for name, content, problem in (
        ("ca.pem", "no certificate", "holds no certificate"),
        ("ca.pem", None, "No such file"),
        ("password", None, "cannot read the secret"),
    ):
        (tmp_path / name).unlink()
        if content:
            (tmp_path / name).write_text(content)
        with pytest.raises(CounterflowError, match=problem):
            CliRunner().invoke(command, [str(path)], catch_exceptions=False)
