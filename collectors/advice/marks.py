"""Marks of files that no format reads: what each looks like, and what would help. The first match counts."""

from __future__ import annotations

import re
from typing import NamedTuple

from counterflow.collectors.formats.ibmi_tables.headers import NAMES
from counterflow.collectors.formats.sysstat import WRITTEN_BY

NOTHING = "zeros or blanks alone: there is nothing in it, copy it again"
ANYTHING_ELSE = "`counterflow look --formats` lists what is read"
NAMED = f"export with column names: {NAMES}"
_RECORD = "record with `nmon -f -t -s 15 -c 5760`"
_SADF = f"give `{WRITTEN_BY}` (before sysstat 12.4 with -p)"
_SADF_OR_NMON = f"{_SADF}, or {_RECORD}"
_PCP = f"scrape pmproxy, http://HOST:44322/metrics, or {_RECORD}"
_PICTURE = "a picture holds no counters: get the file it was drawn from"
_UNPACK = "unpack it, and give the files in it"
_MONITOR_TABLES = "export IBMQREP_APPLYMON, IBMQREP_CAPMON and IBMQREP_CAPQMON with column names"
_LOG = "print OMEGAMON's statistics report with LOG ACTIVITY, or export the counters of IFCID 1 and 369 as CSV"
_DDS = "query its Distributed Data Server (docs/collectors/rmf-dds.md)"
_YCSB = "run YCSB with -s, or write the work done as a table: time_utc,workload,run_id,unit_of_work,done"
_PARTITIONS = "SR-IOV ports and partitions are read: `lshwres -r sriov --rsubtype logport`, `lssyscfg -r lpar`"


class Binary(NamedTuple):
    """What a file that begins with `magic` looks like, and what would help."""

    magic: bytes
    looks: str
    way_out: str


class Text(NamedTuple):
    """What a text that contains `mark` looks like, and what would help."""

    mark: re.Pattern[str]
    looks: str
    way_out: str


def _text(mark: str, looks: str, way_out: str) -> Text:
    return Text(re.compile(mark, re.MULTILINE), looks, way_out)


BINARIES = (
    Binary(b"\x89PNG\r\n\x1a\n", "a PNG", _PICTURE),
    Binary(b"\xff\xd8\xff", "a JPEG", _PICTURE),
    Binary(b"%PDF-", "a PDF", "a printed report is not read: get the file or the export it was made from"),
    Binary(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old workbook or document of Office", "save the sheet as CSV"),
    Binary(b"PAR1", "a Parquet file", "export as CSV, with the names of the columns"),
    Binary(b"SQLite format 3\x00", "an SQLite database", "export the table as CSV, with the names of the columns"),
    Binary(b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    Binary(b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    Binary(b"\x1f\x9d", "a file of compress", "unpack it: uncompress"),
    Binary(b"\x00\x00\x00\x84\x50\x05\x26", "an archive of Performance Co-Pilot", _PCP),
    Binary(b"\x00\x00\x03\x28\x50\x05\x26", "an archive of Performance Co-Pilot", _PCP),
    Binary(b"\x96\xd5", "a data file of sar", _SADF),
    Binary(
        b"\xd5\x96",
        "a data file of sar, of a machine with another byte order",
        f"`{WRITTEN_BY}` there, or here with sysstat 11.7.1 or newer",
    ),
)
SMF = (
    (range(70, 80), "query RMF's Distributed Data Server (docs/collectors/rmf-dds.md)"),
    (range(100, 103), _LOG),
    (range(256), f"no format reads SMF: {ANYTHING_ELSE}"),
)
"""The way out for a dump of SMF records, by record type."""

TEXTS = (
    _text(
        r"\Aversion https://git-lfs\.github\.com/spec/", "a pointer of Git LFS", "fetch the file itself: git lfs pull"
    ),
    _text(r"\A\s*(?:<!--[^>]*-->\s*)?(?i:<!doctype html|<html)", "an HTML page", "save the data it links to, or shows"),
    _text(
        r"\A\s*<(?:\?xml[^>]*>\s*<)*ddsml\b",
        "a report of RMF's postprocessor",
        "request a report of Monitor III: /gpm/rmfm3?report=SYSINFO&resource=,SYSTEM,MVS_IMAGE",
    ),
    _text(
        r"\A\s*<(?:\?xml[^>]*>\s*<)?(?:\w+:)?feed\b",
        "a list of an HMC, which links to the metrics",
        "fetch each document that a `link` in it has as `href`, and give those of ProcessedMetrics",
    ),
    _text(
        r"\A\s*<\?xml[^>]*>\s*(?:<!DOCTYPE [^>]*>\s*)?<sysstat\b|\A\s*<sysstat\b"  # -x
        r"|\A# hostname;interval;timestamp|\A[^\s;]+[\t;]-?\d+[\t;]"  # -d, -p
        r"(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: [A-Za-z]\S*)?|\d{9,10})[\t;]"
        r"|\A# uptime_cs; \d|\A\d\d:\d\d:\d\d(?: \S+)?; (?:LINUX-RESTART|[A-Z]\S*(?:; [^;\n]*){3};)"  # -r
        r"|\A(?:System activity data file: |File created by sar/sadc)",  # -H
        "output of sadf that is not JSON",
        _SADF,
    ),
    _text(r"\A\s*(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE svg\b[^>]*>\s*)?<svg\b", "a picture in SVG", _PICTURE),
    _text(
        r"\A\s*(?:<\?xml[^>]*>\s*)?<(?:\w+:)?HttpErrorResponse\b",
        "an error that an HMC answered",
        "read it, and request again",
    ),
    _text(r"\A\s*<\?xml|\A\s*<\w+[\s>]", "XML", "no format is XML of this kind: export as CSV or JSON"),
    # AIX and Linux
    _text(
        r"^(?:CPU_ALL|CPU\d+|MEM|PROC|NET|NETPACKET|JFSFILE|DISK[A-Z]+\d*|LPAR|TOP)[,;]",
        "nmon data without its AAA lines and ZZZZ stamps",
        f"take the whole recording, or {_RECORD}",
    ),
    _text(
        r'\A\s*[\[{][^\0]*"(?:cpu_total|proc_meminfo|proc_vmstat|stat_counters|snapshot_loop)"\s*:',
        "JSON of njmon that does not begin a sample",
        "take the whole recording: a sample begins with its timestamp",
    ),
    _text(
        r'\A\s*[\[{][^\0]*?"timestamp_(?:datetime|UTC|snapshot_loop)"\s*:',
        "JSON of njmon -S, whose sections are parts of the names",
        "record without -S",
    ),
    _text(
        r'\A\s*\{\s*"sysstat"\s*:(?![^\0]*"file-date")(?:(?!"statistics")[^\0])*?"date"\s*:',
        "output of iostat, mpstat, pidstat or tapestat, as JSON",
        _SADF_OR_NMON,
    ),
    _text(
        r"\A\s*Linux \S+ \([^)\n]*\)\s+\d"
        r"|^\d\d:\d\d:\d\d(?: [AP]M)?\s+(?:CPU\s+%us|UID\s+T?G?PID\s|DEV\s+tps|IFACE\s+rxp|kbmemfree\s|runq-sz\s)",
        "a text of sar, iostat, mpstat or pidstat",
        _SADF_OR_NMON,
    ),
    _text(r"\A\s*AIX \S+ \d \d [0-9A-F]{12}", "a text of AIX's sar", _RECORD),
    _text(r"\A\s*procs -+memory|\bkthr\b +memory", "output of vmstat", _RECORD),
    _text(r"^Disks: +% tm_act|^Device:? +(?:tps|r/s|rrqm/s)|^avg-cpu: |^tty: +tin", "output of iostat", _RECORD),
    _text(r"\ANode Name +:|%entc +lbusy|^System configuration: type=", "output of lparstat", _RECORD),
    _text(r"^System configuration: lcpu=", "output of vmstat, iostat or mpstat", _RECORD),
    _text(r"\Atop - \d\d:\d\d|\A[^\n]*load averages?:", "output of top", _RECORD),
    _text(r"\A *(?:UID|USER|PID) [^\n]*\b(?:CMD|COMMAND)$", "output of ps", _RECORD),
    _text(r"\AUnit: \w+\n-+\n +size +inuse", "output of svmon", _RECORD),
    _text(r"\A#Monitor: xmtrend|\ATime=\"\d{4}/", "a report of topasout", "write it as nmon does: `topasout -a FILE`"),
    _text(r"\A#<-+CPU-+>|\A#\s*collectl|\A\"Dstat \d|^-+total-cpu-usage-+", "output of collectl or dstat", _RECORD),
    # workloads
    _text(
        r"(?i:\btakes\(s\))|^\*+ properties \*+$|^Run finished, takes \d|\Aoperation,timestamp_us,latency_us$"
        r"|^(?:Avg|Min|Max)  Lan\(us\): ",
        "output of go-ycsb or go-tpc, which has no time",
        _YCSB,
    ),
    _text(
        r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \d+ sec: \d+ operations;"
        r"|^(?:Load|Run) (?:runtime|throughput)\((?:sec|ops/sec)\): ",
        "output of YCSB-cpp, whose latencies cover the run up to each line",
        _YCSB,
    ),
    _text(
        r'"metric"\s*:\s*"[^"]*"\s*,\s*"measurement"\s*:',
        "an export of YCSB as JSON, which has no time",
        "give what YCSB prints with -s",
    ),
    _text(
        r"\bInterval_Compressed_Histogram\b|\A#\[(?:Logging for|Histogram log|StartTime|BaseTime|Created )"
        r"|^(?:Tag=[^,\n]*,)?[\d.]+,[\d.]+,[\d.]+,HIST\w"
        r"|\A\s*Value +Percentile +TotalCount",
        "a histogram of latencies, as YCSB and others log them",
        "give what YCSB itself prints with -s",
    ),
    _text(
        r'^[A-Za-z_:][\w:]*\{\w+="[^\n]*\} +(?:[-+\d.eE]+|NaN|[+-]Inf)(?: \d+)?$',
        "samples of Prometheus without their `# TYPE` lines",
        "keep all that the endpoint answers, comments too",
    ),
    # HMC
    _text(
        r"\A(?:[^\n]*\bls(?:hwres|syscfg|lparutil)\b[^\n]*\n)?\s*No results were found\.?\s*\Z",
        "the answer of an HMC that nothing matches",
        "check -m and --filter; a system without such ports, or with the collection off, lists none",
    ),
    _text(
        r'\A\s*[\[{][^\0]*"(?:utilInfo|utilSamples|serverUtil|lparsUtil|viosUtil|energyUtil)"\s*:',
        "JSON of an HMC without `systemUtil` around it",
        "keep the whole answer for processed metrics",
    ),
    _text(
        r'\A\s*[\[{][^\0]*?"(?:errorInfo|errId|reasonCode)"\s*:',
        "an error that an HMC answered, as JSON",
        "read it, and request ProcessedMetrics again",
    ),
    _text(
        r"\bresource_type=\w+,sys_time=|^time,.*\bcapped_cycles\b"
        r"|^(?:\w+,){0,3}\d\d/\d\d/\d{4} \d\d:\d\d:\d\d,[^=\n]*(?:,\d{9,}){2}",
        "a list of lslparutil without names or cycles of partitions",
        "`lslparutil -r lpar -m SYSTEM`, without -F",
    ),
    _text(r"\A[a-z]\w*=[^,\n]*(?:,\"?[a-z]\w*=[^\n]*){2,}", "a listing of lshwres or lssyscfg", _PARTITIONS),
    _text(  # times and commands, then a row with a location, a port, a kind or a state of partitions behind other cells
        r"\A(?>[^,\n]*\n|[^\n]*\bls(?:hwres|syscfg)\b[^\n]*\n)*+[^=\n]*,"
        r"(?:U[0-9A-Z]{4}\.[0-9A-Z]{3}\.[0-9A-Z]{7}(?:-[^,\n]*)?|[0-9A-F]{8},(?:ethc?|roce)|aixlinux|os400|vioserver"
        r"|\d{1,5},(?:Running|Not Activated|Open Firmware))\s*(?:,|$)",
        "a listing of lshwres or lssyscfg without the names of the attributes",
        "add --header to the command, or leave out -F",
    ),
    # z/OS and Db2
    _text(
        r'\A\s*\{[^\n]*"(?:table_name|product_code|write_time)"\s*:',
        "JSON of OMEGAMON Data Provider without its table or time",
        "forward `table_name` and `write_time` of each record",
    ),
    _text(
        r"C P U  +A C T I V I T Y|\bR M F\b|\bRMF V\d+R\d+\b|^ *Samples: *\d+ +System: "
        r"|\A(?=[^\n]*\b(?:Jobname|Service Class|MVS_IMAGE)\b)[^\n]*\b(?:ASID|CX|E?Appl%|Using|Delay|Workflow)"
        r"|\A\W*(?:Reporting Period|Data Point)\b|^Data Point[,;]",
        "a report, a screen or a table of RMF",
        _DDS,
    ),
    _text(
        r"\bOMEGAMON\b.*PERFORMANCE EXPERT(?s:.{0,400})\b(?:ACCOUNTING|RECORD TRACE|LOCKING|SQL ACTIVITY|AUDIT)\b",
        "a report of OMEGAMON that is not of statistics",
        "print the statistics report, with LOG ACTIVITY in it",
    ),
    _text(r"\bOMEGAMON\b", "a report of OMEGAMON without a LOG ACTIVITY block", "print the statistics report with it"),
    _text(r"\bLOG MAP OF THE BSDS\b|\bDSNJU004\b", "a log map that DSNJU004 printed", f"it has no counters: {_LOG}"),
    # Q Replication and MQ
    _text(r"\bASN\d{4}[IWE]\b", "a log of Q Replication, or a status of it", f"it has no intervals: {_MONITOR_TABLES}"),
    _text(
        r"\bAMQ\d{4}[IWES]?:|\bCSQ\w\d{3}[IWE]\b",
        "what MQ displays",
        f"the depth of queues is in the monitor tables: {_MONITOR_TABLES}",
    ),
    _text(
        r"\bDSN\w\d{3}[A-Z]\b",
        "console text of Db2 for z/OS without a listing of the log",
        "keep what -DISPLAY LOG answers, from DSNJ370I on",
    ),
    # IBM i
    _text(
        r"Work with Active Jobs|\bWRKACTJOB\b",
        "a print of WRKACTJOB",
        "query QSYS2.ACTIVE_JOB_INFO, or export QAPMJOBMI of Collection Services",
    ),
    _text(
        r"Work with System Status|\bWRKSYSSTS\b",
        "a print of WRKSYSSTS",
        "query QSYS2.SYSTEM_STATUS and QSYS2.MEMORY_POOL",
    ),
    _text(
        r"^.? *\d{1,5} *[0-9A-Z]{4} *\d{1,15}(?: *\d{0,15}[.,]\d){7} *\d{1,3}\b",
        "a print of WRKDSKSTS whose columns run together in every line",
        "put a print before it in which they stand apart, or query QSYS2.SYSDISKSTAT",
    ),
    _text(
        r"Work with Disk Status|\bWRKDSKSTS\b",
        "a print of WRKDSKSTS without a unit",
        "print it again: WRKDSKSTS OUTPUT(*PRINT)",
    ),
    _text(
        r"Display Log Contents|\bJob Log\b.*Page|^ *MSGID +TYPE +SEV\b",
        "a history log or a job log",
        "it holds messages and no counters: export QAPMJOBMI of Collection Services for what jobs used",
    ),
    _text(
        r"\bSystem Report\b +Page|\bComponent Report\b +Page|\bJob Interval Report\b|\bPool Interval Report\b",
        "a report of Performance Tools",
        "export the members of Collection Services that it was made from, QAPMDISK, QAPMJOBMI and the like",
    ),
    _text(
        r"\A\"?Date - Time\"?[,;\t]",
        "a chart of Performance Data Investigator as a table",
        f"export the members behind it: {NAMES}",
    ),
    _text(
        r"\A.? *57\d\d\w{3} +V\d+R\d+M\d+ +\d{6}\b",
        "a print of IBM i that is not of WRKDSKSTS",
        "save the result of a query as CSV, with column names",
    ),
    # anything
    _text(r"\A\s*[\[{]\s*[\"\[{\]}\d]", "JSON of something else", ANYTHING_ELSE),
)

LOG_STATISTICS = "log statistics of Db2"
COUNTER_OF_DB2 = re.compile(r"QJST[A-Z0-9]{2,6}")
CSVS = {
    "a log of queries": ("workload", "query", "start", "end"),
    "work done by a workload": ("time_utc", "workload", "run_id", "unit_of_work", "done"),
    LOG_STATISTICS: ("time_utc", "sysid", "ssid"),
    "a monitor table of Q Replication": ("monitor_time", "recvq"),
}
"""The columns that a table needs, by what it looks like."""
TIME = re.compile(r"\d{1,4}[-/.]\d\d?[-/.]\d{2,4}[T -]\d\d?[:.]\d\d.*")
"""A cell that holds a time is of a row, not of a header."""
