"""A bundle can be sent: no name is left in it, and the same figures are read from it."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from counterflow.cli import cli
from tests.golden.cases import UNRECOGNISED, Case, cases

SAMPLES = Path(__file__).parents[2] / "samples/nmon"


def bundle(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, ["bundle", *map(str, words)])


def unpacked(archive: Path, folder: Path) -> list[Path]:
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    return sorted(path for path in folder.iterdir() if path.name != "bundle.json")


def figures(file: Path, *options: str) -> list[tuple[object, ...]]:
    """Return what `parse` prints of a file, without what depends on names."""
    rows = map(json.loads, CliRunner().invoke(cli, ["parse", *options, str(file)]).stdout.splitlines())
    return [
        (row.get("dataset"), row.get("reject"), row.get("ts"), *(v for v in row.values() if not isinstance(v, str)))
        for row in rows
    ]


def test_no_name_is_left_and_every_figure_is_the_same(tmp_path: Path) -> None:
    source = tmp_path / "bankprod7_260302.nmon"
    text = (SAMPLES / "aix_generated.nmon").read_text()
    secrets = ("bankprod7", "payroll", "10.77.3.19", "0a:1b:2c:3d:4e:5f", "/srv/payroll/ledger", "hunter2")
    text = text.replace("aixgen01", "bankprod7").replace("db2sysc", "payroll")
    text += 'BBBP,900,ifconfig,"en0: inet 10.77.3.19 ether 0a:1b:2c:3d:4e:5f"\n'
    text += 'BBBP,901,mount,"/srv/payroll/ledger on /dev/fslv00"\n'
    text += "UARG,T0001,4000000,4000000,0,payroll,1,payroll,payroll --password hunter2\n"
    source.write_text(text)
    out = tmp_path / "b.tgz"
    result = bundle(source, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    [file] = unpacked(out, tmp_path / "unpacked")
    sent = file.read_text()
    for secret in secrets:
        assert secret not in sent.lower() + file.name
        assert secret not in result.output
    assert [len(line) for line in sent.splitlines()] == [len(line) for line in text.splitlines()]
    assert figures(file) == figures(source)
    assert len(figures(file)) > 1_000
    host = re.search(r"^AAA,host,(\w+)", sent, re.MULTILINE)
    assert host is not None
    assert len(host[1]) == len("bankprod7")
    assert f"{host[1]}_260302.nmon" in file.name, "a file's name is replaced as its text is"
    with tarfile.open(out) as tar:
        assert {(entry.uname, entry.uid, entry.mtime) for entry in tar} == {("", 0, 0)}


def test_a_feed_of_an_hmc_keeps_no_name_of_what_it_manages(tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "golden/hmc_feed/partitions_and_ports/input.xml"
    out = tmp_path / "b.tgz"
    assert bundle(source, "--out", out).exit_code == 0
    [file] = unpacked(out, tmp_path / "unpacked")
    for name in ("PROD01", "hmc1", "11111111-2222-4333-8444-555555555502", "8ACA227C6E00", "WZS0485"):
        assert name in source.read_text()
        assert name not in file.read_text()
    assert figures(file) == figures(source)


@pytest.mark.parametrize(("encoding", "name"), [("utf-8", "KÖLN7"), ("latin-1", "KÖLN7"), ("cp1252", "ŠKODA7")])
def test_a_name_beyond_ascii_is_replaced_in_the_encoding_of_its_file(tmp_path: Path, encoding: str, name: str) -> None:
    """As formats read them: each line in UTF-8, else in 1252."""
    [case] = (Path(__file__).parents[1] / "golden/ibmi_tables/qapmjobmi_alone").glob("*.csv")
    text = case.read_text()
    assert text.count("ORDERS") > 1
    source = tmp_path / f"QAPMJOBMI_{name}.csv"
    source.write_bytes(text.replace("ORDERS", name).encode(encoding))
    out = tmp_path / "b.tgz"
    result = bundle(source, "--system", "SYSA", "--out", out)
    assert result.exit_code == 0, result.output + str(result.exception)
    [file] = unpacked(out, tmp_path / "unpacked")
    assert name not in file.read_bytes().decode(encoding)
    assert name not in file.name
    assert figures(file, "--system", "SYSA") == figures(source, "--system", "SYSA")


@pytest.mark.parametrize("written", [b"k\\u00f6ln", "köln".encode("latin-1")], ids=["escaped", "not UTF-8"])
def test_a_name_that_a_text_holds_in_another_form_is_refused(tmp_path: Path, written: bytes) -> None:
    [case] = (Path(__file__).parents[1] / "golden/njmon/one_sample_a_line").glob("input*")
    assert case.read_bytes().count(b'"lnx1"') > 0
    source = tmp_path / "a.json"
    source.write_bytes(case.read_bytes().replace(b'"lnx1"', b'"' + written + b'"'))
    result = bundle(source, "--out", tmp_path / "b.tgz")
    assert result.exit_code != 0
    assert "would be left in the archive" in str(result.exception)
    assert not (tmp_path / "b.tgz").exists()


@pytest.mark.parametrize("name", ["db1_260101_0000.nmon", "DB1.nmon", "perf-db1.2601.nmon", "of_db1.nmon"])
def test_a_short_name_is_replaced_in_the_name_of_its_file(tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    source.write_text((SAMPLES / "linux_16n_plain.nmon").read_text().replace("AAA,host,vm", "AAA,host,db1"))
    out = tmp_path / "b.tgz"
    assert bundle(source, "--out", out).exit_code == 0
    [file] = unpacked(out, tmp_path / "unpacked")
    host = re.search(r"^AAA,host,(\w+)", file.read_text(), re.MULTILINE)
    assert host is not None
    assert "db1" not in file.name.lower()
    assert host[1] in file.name
    assert len(file.name) == len(f"001-{name}")


def test_a_name_with_underscores_is_found_within_longer_words(tmp_path: Path) -> None:
    source = tmp_path / "prod_db_1_260101.nmon"
    text = (SAMPLES / "linux_16n_plain.nmon").read_text().replace("AAA,host,vm", "AAA,host,prod_db_1")
    source.write_text(f"{text}BBBP,900,lparstat,copy of prod_db_1_old\n")
    out = tmp_path / "b.tgz"
    assert bundle(source, "--out", out).exit_code == 0
    [file] = unpacked(out, tmp_path / "unpacked")
    assert "prod_db" not in file.read_text() + file.name


def test_every_notation_of_an_address_is_replaced(tmp_path: Path) -> None:
    addresses = ("2001:db8::1", "fe80::a9:1234", "2001:DB8:0:1:2:3:4:5", "2001:db8:0:1::25", "192.168.101.102")
    others = ("10:20:30", "::1", "127.0.0.1", "10:20:30:123", "AAA::x")
    source = tmp_path / "a.nmon"
    lines = [f"BBBP,{900 + n},ifconfig,inet {text}/64 up" for n, text in enumerate((*addresses, *others))]
    source.write_text("\n".join([(SAMPLES / "linux_16n_plain.nmon").read_text().rstrip("\n"), *lines, ""]))
    out = tmp_path / "b.tgz"
    assert bundle(source, "--out", out).exit_code == 0
    [file] = unpacked(out, tmp_path / "unpacked")
    sent = re.findall(r"^BBBP,9\d\d,ifconfig,inet (\S+)/64 up$", file.read_text(), re.MULTILINE)
    assert sent[len(addresses) :] == list(others)
    for address, new in zip(addresses, sent, strict=False):
        assert new != address
        assert re.sub(r"[0-9a-fA-F]", "x", new) == re.sub(r"[0-9a-fA-F]", "x", address)


def test_one_name_is_one_name_in_all_files_and_another_in_the_next_bundle(tmp_path: Path) -> None:
    hosts = []
    for number in (1, 2):
        out = tmp_path / f"{number}.tgz"
        assert bundle(SAMPLES / "linux_16n_plain.nmon", SAMPLES / "linux_16n_full.nmon", "--out", out).exit_code == 0
        files = unpacked(out, tmp_path / str(number))
        found = {re.search(r"^AAA,host,(\w+)", file.read_text(), re.MULTILINE)[1] for file in files}  # type: ignore[index]
        assert len(found) == 1
        hosts += found
    assert hosts[0] != "vm"


def test_words_of_the_user_are_replaced_or_kept(tmp_path: Path) -> None:
    out = tmp_path / "b.tgz"
    assert (
        bundle(SAMPLES / "aix_generated.nmon", "--replace", "hdisk8", "--keep", "aixgen01", "--out", out).exit_code == 0
    )
    [file] = unpacked(out, tmp_path / "unpacked")
    assert "hdisk8" not in file.read_text()
    assert "aixgen01" in file.read_text()


def test_no_name_stands_for_another(tmp_path: Path) -> None:
    """Slots and ports have names of two characters, so a random name is soon that of another port."""
    slots = {f"{letter}{digit}" for letter in "CDPT" for digit in range(1, 10)}
    source = tmp_path / "ports.nmon"
    rows = [f"BBBP,{number:03},lscfg,U78D2.001.WZS0001-{slot}" for number, slot in enumerate(sorted(slots))]
    source.write_text("\n".join(["AAA,progname,topas_nmon", "AAA,host,aix1", *rows]) + "\n")
    options = [part for slot in slots for part in ("--replace", slot)]
    assert bundle(source, *options, "--out", tmp_path / "b.tgz").exit_code == 0
    [file] = unpacked(tmp_path / "b.tgz", tmp_path / "unpacked")
    assert not slots & set(re.findall(r"\w+", file.read_text()))


def test_of_a_location_code_the_serial_number_alone_is_replaced(tmp_path: Path) -> None:
    """Its other words name kinds of places: -T1 is a port, -S1 a part of one."""
    [source] = (Path(__file__).parents[1] / "golden/hmc_lshwres/physical_ports").glob("input*")
    assert bundle(source, "--out", tmp_path / "b.tgz").exit_code == 0
    [file] = unpacked(tmp_path / "b.tgz", tmp_path / "unpacked")
    places = re.findall(r"U78D2\.001\.(\w{7})(-P1-C8-T[12])", file.read_text())
    assert [place for _, place in places] == ["-P1-C8-T1", "-P1-C8-T2"]
    assert "WZS0001" not in {serial for serial, _ in places}


def test_a_device_that_a_driver_named_keeps_its_name(tmp_path: Path) -> None:
    """The sample lists sda, and in a path its partition sda1, whose figures are not added to those of the disk."""
    [source] = (Path(__file__).parents[1] / "golden/sysstat/all_activities").glob("input*")
    assert bundle(source, "--out", tmp_path / "b.tgz").exit_code == 0
    [file] = unpacked(tmp_path / "b.tgz", tmp_path / "unpacked")
    assert "/dev/sda1" in file.read_text()
    assert "appsrv01" not in file.read_text()


def test_what_cannot_be_searched_is_refused(tmp_path: Path) -> None:
    ebcdic = tmp_path / "spool"
    ebcdic.write_bytes("WORK WITH DISK STATUS   BANKPROD  10/10/26\n".encode("cp037") * 9)
    result = bundle(ebcdic, "--out", tmp_path / "b.tgz")
    assert result.exit_code != 0
    assert "is not text, so its names cannot be found" in str(result.exception)
    assert not (tmp_path / "b.tgz").exists()


TEXTS = [case for case in cases() if case.folder.parent.name != UNRECOGNISED]
WITH_NEIGHBOURS = ("ibmi_tables/jobs_joined", "ibmi_tables/qapmjobwtd")
SOME = [case for number, case in enumerate(TEXTS) if number % 9 == 0 or case.name in WITH_NEIGHBOURS]


@pytest.mark.parametrize("case", SOME, ids=lambda case: case.name)
def test_whatever_the_layout_it_gives_the_same_figures(case: Case, tmp_path: Path) -> None:
    """An archive is written after its check, or refused in one sentence."""
    options = ["--zone", case.given["zone"]]
    for name in ("system", "date_order"):
        options += [f"--{name.replace('_', '-')}", case.given[name]] if name in case.given else []
    out = tmp_path / "b.tgz"
    result = bundle(*(file for file in case.folder.iterdir() if file.name != "expected.jsonl"), *options, "--out", out)
    if result.exit_code:
        assert "is not text" in str(result.exception), result.exception
        return
    [file] = [file for file in unpacked(out, tmp_path / "unpacked") if file.name.endswith(case.input.name)]
    assert figures(file, *options) == figures(case.input, *options)
