"""A bundle can be sent: no name is left in it, and the same figures are read from it."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from counterflow.base.errors import CounterflowError
from counterflow.cli import cli
from docs.generators.formats import examples
from tests.golden.cases import Case, golden
from tests.support.recordings import RECORDINGS

PLAIN, AIX = (RECORDINGS / f"{name}.nmon" for name in ("linux_16n_plain", "aix_generated"))


def bundle(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, ["bundle", *map(str, words)])


def unpacked(archive: Path, folder: Path) -> list[Path]:
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    return sorted(path for path in folder.iterdir() if path.name != ".bundle.json")


def bundled(folder: Path, *words: str | Path) -> list[Path]:
    """Bundle files; return those of the archive."""
    result = bundle(*words, "--out", folder / "b.tgz")
    assert result.exit_code == 0, result.output + str(result.exception)
    return unpacked(folder / "b.tgz", folder / "unpacked")


def refused(folder: Path, *words: str | Path) -> CounterflowError:
    """Bundle files; return why there is no archive."""
    error = bundle(*words, "--out", folder / "b.tgz").exception
    assert isinstance(error, CounterflowError)
    assert not (folder / "b.tgz").exists()
    return error


def host_of(file: Path) -> str:
    [host] = re.findall(r"^AAA,host,(\w+)", file.read_text(), re.MULTILINE)
    return str(host)


def figures(file: Path, *options: str) -> list[tuple[object, ...]]:
    """Return what `look --records` prints of a file, without what depends on names."""
    rows = map(json.loads, CliRunner().invoke(cli, ["look", "--records", *options, str(file)]).stdout.splitlines())
    return [
        (row.get("dataset"), row.get("reject"), row.get("ts"), *(v for v in row.values() if not isinstance(v, str)))
        for row in rows
    ]


def test_no_name_is_left_and_every_figure_is_the_same(tmp_path: Path) -> None:
    source = tmp_path / "bankprod7_260302.nmon"
    text = AIX.read_text().partition("ZZZZ,T0010")[0]
    secrets = ("bankprod7", "payroll", "10.77.3.19", "0a:1b:2c:3d:4e:5f", "/srv/payroll/ledger", "hunter2")
    text = text.replace("aixgen01", "bankprod7").replace("db2sysc", "payroll")
    text += 'BBBP,900,ifconfig,"en0: inet 10.77.3.19 ether 0a:1b:2c:3d:4e:5f"\n'
    text += 'BBBP,901,mount,"/srv/payroll/ledger on /dev/fslv00"\n'
    text += "UARG,T0001,4000000,4000000,0,payroll,1,payroll,payroll --password hunter2\npayroll was here\n"
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
    assert len(host_of(file)) == len("bankprod7")
    assert f"{file.name}: 2 lines were refused" in result.stderr, "a late row, and what is none"
    assert f"{host_of(file)}_260302.nmon" in file.name, "a file's name is replaced as its text is"
    with tarfile.open(out) as tar:
        assert {(entry.uname, entry.uid, entry.mtime) for entry in tar} == {("", 0, 0)}


def test_a_feed_of_an_hmc_keeps_no_name_of_what_it_manages(tmp_path: Path) -> None:
    source = golden("hmc_feed/partitions_and_ports").written(tmp_path)
    [file] = bundled(tmp_path, source)
    for name in ("PROD01", "hmc1", "11111111-2222-4333-8444-555555555502", "8ACA227C6E00", "WZS0485"):
        assert name in source.read_text()
        assert name not in file.read_text()
    assert figures(file) == figures(source)


@pytest.mark.parametrize(("encoding", "name"), [("utf-8", "KÖLN7"), ("latin-1", "KÖLN7"), ("cp1252", "ŠKODA7")])
def test_a_name_beyond_ascii_is_replaced_in_the_encoding_of_its_file(tmp_path: Path, encoding: str, name: str) -> None:
    """As formats read them: each line in UTF-8, else in 1252."""
    text = golden("ibmi_tables/qapmjobmi_alone").input.decode().replace("\r\n", "\n")
    assert text.count("ORDERS") > 1
    source = tmp_path / f"QAPMJOBMI_{name}.csv"
    source.write_bytes(text.replace("ORDERS", name).encode(encoding))
    [file] = bundled(tmp_path, source, "--system", "SYSA")
    assert name not in file.read_bytes().decode(encoding)
    assert name not in file.name
    assert figures(file, "--system", "SYSA") == figures(source, "--system", "SYSA")


@pytest.mark.parametrize("written", [b"k\\u00f6ln", "köln".encode("latin-1")], ids=["escaped", "not UTF-8"])
def test_a_name_that_a_text_holds_in_another_form_is_refused(tmp_path: Path, written: bytes) -> None:
    samples = golden("njmon/one_sample_a_line").input
    assert samples.count(b'"lnx1"') > 0
    source = tmp_path / "a.json"
    source.write_bytes(samples.replace(b'"lnx1"', b'"' + written + b'"'))
    assert "would be left in the archive" in refused(tmp_path, source).message


@pytest.mark.parametrize(
    ("host", "name"),
    [
        *(("db1", name) for name in ("db1_260101_0000.nmon", "DB1.nmon", "perf-db1.2601.nmon", "of_db1.nmon")),
        ("prod_db_1", "prod_db_1_260101.nmon"),
    ],
)
def test_a_short_name_is_replaced_in_the_name_of_its_file_and_within_longer_words(
    tmp_path: Path, host: str, name: str
) -> None:
    source = tmp_path / name
    text = PLAIN.read_text().replace("AAA,host,vm", f"AAA,host,{host}")
    source.write_text(f"{text}BBBP,900,lparstat,copy of prod_db_1_old\n")
    [file] = bundled(tmp_path, source)
    assert host not in file.read_text() + file.name.lower()
    assert host_of(file) in file.name
    assert len(file.name) == len(f"001-{name}")


def test_every_notation_of_an_address_is_replaced(tmp_path: Path) -> None:
    addresses = ("2001:db8::1", "fe80::a9:1234", "2001:DB8:0:1:2:3:4:5", "2001:db8:0:1::25", "192.168.101.102")
    others = ("10:20:30", "::1", "127.0.0.1", "10:20:30:123", "AAA::x")
    source = tmp_path / "a.nmon"
    lines = [f"BBBP,{900 + n},ifconfig,inet {text}/64 up" for n, text in enumerate((*addresses, *others))]
    source.write_text("\n".join([PLAIN.read_text().rstrip("\n"), *lines, ""]))
    [file] = bundled(tmp_path, source)
    sent = re.findall(r"^BBBP,9\d\d,ifconfig,inet (\S+)/64 up$", file.read_text(), re.MULTILINE)
    assert sent[len(addresses) :] == list(others)
    for address, new in zip(addresses, sent, strict=False):
        assert new != address
        assert re.sub(r"[0-9a-fA-F]", "x", new) == re.sub(r"[0-9a-fA-F]", "x", address)


def test_one_name_is_one_name_in_all_files_and_another_in_the_next_bundle(tmp_path: Path) -> None:
    hosts = []
    (tmp_path / "again.nmon").write_bytes(PLAIN.read_bytes())
    for number in (1, 2):
        out = tmp_path / f"{number}.tgz"
        assert bundle(PLAIN, tmp_path / "again.nmon", "--out", out).exit_code == 0
        files = unpacked(out, tmp_path / str(number))
        [host] = {host_of(file) for file in files}
        hosts.append(host)
    assert hosts[0] != "vm"


def test_words_of_the_user_are_replaced_or_kept(tmp_path: Path) -> None:
    disks = set(re.findall(r"vda\w*", PLAIN.read_text()))
    [file] = bundled(tmp_path, PLAIN, "--replace", "vda", "--keep", "vm")
    assert not disks & set(re.findall(r"\w+", file.read_text()))
    assert host_of(file) == "vm"


def test_no_name_stands_for_another(tmp_path: Path) -> None:
    """Slots and ports have names of two characters, so a random name is soon that of another port."""
    slots = {f"{letter}{digit}" for letter in "CDPT" for digit in range(1, 10)}
    source = tmp_path / "ports.nmon"
    rows = [f"BBBP,{number:03},lscfg,U78D2.001.WZS0001-{slot}" for number, slot in enumerate(sorted(slots))]
    source.write_text("\n".join(["AAA,progname,topas_nmon", "AAA,host,aix1", *rows]) + "\n")
    options = [part for slot in slots for part in ("--replace", slot)]
    [file] = bundled(tmp_path, source, *options, "--unread")
    assert not slots & set(re.findall(r"\w+", file.read_text()))


def test_what_cannot_be_searched_is_refused(tmp_path: Path) -> None:
    ebcdic = tmp_path / "spool"
    ebcdic.write_bytes("WORK WITH DISK STATUS   BANKPROD  10/10/26\n".encode("cp037") * 9)
    assert "is not text, so its names cannot be found" in refused(tmp_path, ebcdic).message


def test_a_file_without_a_record_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """No record names what is a name in it; one message has all such files."""
    notes = tmp_path / "notes.txt"
    notes.write_text("seen on host bankprod7 by user meier\n")
    jobs = golden("ibmi_tables/qapmjobmi_alone").written(tmp_path)
    disks = golden("wrkdsksts/date_in_two_readings").written(tmp_path)
    error = refused(tmp_path, PLAIN, notes, jobs, disks)
    assert error.exit_code == 2
    reasons = error.message.splitlines()
    assert len(reasons) == 4
    for reason, file, way_out in zip(reasons[1:], (notes, jobs, disks), ("", "--system", "--date-order"), strict=True):
        assert str(file) in reason
        assert way_out in reason


def test_a_file_without_a_record_is_packed_on_request(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("seen on host prod-bank by user meier of 10.77.3.19, next to berta\n")
    out = tmp_path / "b.tgz"
    words = ("--replace", "prod-bank", "--replace", "meier")
    result = bundle(notes, PLAIN, "--unread", *words, "--out", out)
    assert result.exit_code == 0, result.exception
    assert "not read: 001-notes.txt" in result.output
    assert "not read: 001-linux_16n_plain.nmon" not in result.output
    sent = next(file for file in unpacked(out, tmp_path / "unpacked") if file.name == "001-notes.txt").read_text()
    assert re.fullmatch(r"seen on host \w{4}-\w{4} by user \w{5} of [\d.]{10}, next to berta\n", sent)
    assert not {"prod", "bank", "meier", "10.77.3.19"} & set(re.split(r"[\s,-]", sent))


def test_a_word_of_the_user_that_would_stay_is_refused(tmp_path: Path) -> None:
    assert "--replace 4711" in refused(tmp_path, PLAIN, "--replace", "4711").message


COLUMNS = """\
MIRROR_INFO IASP_NAME,REPLICATION_STATE,PRIMARY_NODE,SECONDARY_NODE *SYSBAS,ACTIVE,SYSA,BANK2 BANK2
MIRROR_INFO IASP_NAME,REPLICATION_STATE,PRIMARY_NODE,SECONDARY_NODE BANKASP,ACTIVE,SYSA,SYSA BANKASP
PRESTART_JOB_INFO SUBSYSTEM_DESCRIPTION,PRESTART_JOB_PROGRAM,USER_PROFILE QUSRWRK,QZDASOINIT,ANNA ANNA
NETSTAT_INTERFACE_INFO INTERNET_ADDRESS,LINE_DESCRIPTION 10.1.2.3,BANKLINE BANKLINE
RECORD_LOCK_INFO JOB_NAME,SYSTEM_TABLE_SCHEMA,SYSTEM_TABLE_NAME 1/ANNA/NIGHT,BANKLIB,LEDGER LEDGER
QAPMJOBMI INTNUM,DTETIM,INTSEC,DTECEN,JBUSER,JBTDE,JBCPU 1,260716001500,900,1,ANNA,00000000000000A1,none ANNA
"""


@pytest.mark.parametrize("case", COLUMNS.splitlines())
def test_columns_that_no_dataset_has_and_rows_that_are_refused_hold_names_too(tmp_path: Path, case: str) -> None:
    """No record has them, but a column is known by its heading."""
    table, header, row, name = case.split()
    source = tmp_path / f"{table}.csv"
    source.write_text(f"SAMPLE_TIME,{header}\n2026-03-02-08.00.00.000000,{row}\n")
    [file] = bundled(tmp_path, source, "--system", "SYSA", "--unread")
    assert name not in file.read_text()
    assert file.read_text().splitlines()[0] == f"SAMPLE_TIME,{header}"
    for special in ("*SYSBAS", "QUSRWRK"):
        assert (special in file.read_text()) == (special in row), "what IBM named stays"


def test_folders_are_searched_but_for_the_last_archive_and_what_describes_them(tmp_path: Path) -> None:
    folder = tmp_path / "perf[1]"
    (folder / "day").mkdir(parents=True)
    (folder / "day/a.nmon").write_bytes(PLAIN.read_bytes())
    (folder / "README.md").write_text("recorded on bankprod7\n")
    (folder / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    out = folder / "b.tgz"
    for number in ("1", "2"):
        result = bundle(folder, "--out", out)
        assert result.exit_code == 0, result.exception
        assert "README.md is no recording" in result.stderr
        assert [file.name for file in unpacked(out, tmp_path / number)] == ["001-a.nmon"]


def test_every_file_of_an_archive_is_read_as_a_recording(tmp_path: Path) -> None:
    """Its manifest is none, and no command takes it for one."""
    out = tmp_path / "b.tgz"
    assert bundle(PLAIN, "--out", out).exit_code == 0
    result = CliRunner().invoke(cli, ["look", "--summary", str(out)])
    assert result.exit_code == 0, result.output
    assert "bundle.json" not in result.output
    with tarfile.open(out) as tar:
        manifest = json.load(tar.extractfile(".bundle.json"))  # type: ignore[arg-type]
    assert list(manifest["files"]) == ["001-linux_16n_plain.nmon"]
    assert manifest["unread"] == []


ALSO = ("ibmi_tables/jobs_joined", "ibmi_tables/qapmjobwtd", "ibmi_tables/workbook")
SOME = [*(golden(f"{name}/{page.example}") for name, page in examples().items()), *map(golden, ALSO)]


@pytest.mark.parametrize("case", SOME, ids=lambda case: case.name)
def test_whatever_the_layout_it_gives_the_same_figures(case: Case, tmp_path: Path) -> None:
    """An archive is written after its check, or refused in one sentence."""
    options = ["--zone", case.given["zone"]]
    for name in ("system", "date_order"):
        options += [f"--{name.replace('_', '-')}", case.given[name]] if name in case.given else []
    out = tmp_path / "b.tgz"
    (tmp_path / "given").mkdir()
    given = case.written(tmp_path / "given")
    result = bundle(*given.parent.iterdir(), *options, "--unread", "--out", out)
    if result.exit_code:
        assert "is not text" in str(result.exception), result.exception
        return
    [file] = [file for file in unpacked(out, tmp_path / "unpacked") if file.name.endswith(given.name)]
    assert figures(file, *options) == figures(given, *options)
