"""Facts that no counter provides: a person states them in a YAML or JSON file; every mistake is reported by line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from counterflow.analysis.checks.communications import SECURITIES, Traffic
from counterflow.analysis.checks.definition import NonNegative, Positive, Subject, Text
from counterflow.analysis.checks.saves import DEVICES, Data, DeviceClass, DeviceName
from counterflow.base.errors import CounterflowError

PoolNumber = Annotated[Text, AfterValidator(lambda number: number.lstrip("0 "))]


def _fact(description: str) -> Any:
    return Field(None, description=description)


class _Facts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


class Pool(_Facts):
    """Facts of a memory pool."""

    paging: Literal["*FIXED", "*CALC", "USRDFN"] | None = _fact("Paging option; `*CALC` is expert cache.")
    holds_objects: bool | None = _fact("SETOBJACC brings objects into the pool, to stay there.")
    java: bool | None = _fact("Java work runs in the pool.")
    java_heap_mb: NonNegative | None = _fact("Sum of the heaps of its Java virtual machines, MB.")


class Save(_Facts):
    """Facts of a save or restore; the name of a device stands for what table 9.1 states about it."""

    gb_per_h: NonNegative | None = _fact("Its measured rate, GB/h.")
    device: DeviceName | None = _fact(f"The device: one of {', '.join(f'`{d}`' for d in DEVICES)}.")
    device_mb_per_s: Positive | None = _fact("Rate of the device, MB/s; without it that of `device`.")
    device_class: DeviceClass | None = _fact(
        "Performance of the device: headings of 9.5 to 9.7; without it that of `device`, if named there."
    )
    data: Data | None = _fact("Kind of the saved data, as in the tables of 9.5 to 9.7.")
    compaction: Positive | None = _fact(
        "Compaction factor; without it that of `device`. 1 without compaction, about 1.5 for files of the integrated "
        "file system (9.3)."
    )

    @model_validator(mode="before")
    @classmethod
    def _of_device(cls, stated: Any) -> Any:
        device = DEVICES.get(str(stated.get("device"))) if isinstance(stated, dict) else None
        return {**device._asdict(), **stated} if device else stated


class Iop(_Facts):
    """Facts of an I/O processor."""

    iop_busy_pct: NonNegative | None = _fact("Mean utilization, %.")


class System(_Facts):
    """Facts of one system."""

    pools: dict[PoolNumber, Pool] = Field({}, description="Facts of a memory pool, by its number.")
    saves: dict[str, Save] = Field({}, description="Facts of a save or restore, by any name.")
    iops: dict[str, Iop] = Field({}, description="Facts of an I/O processor, by its name.")
    partitioned: bool | None = _fact("The server has other partitions, with peaks at the same time.")
    dedicated_processors: bool | None = _fact("The partition's processors are dedicated.")
    performance_adjustment: Literal[0, 1, 2, 3] | None = _fact("System value QPFRADJ.")
    multitasking: Literal[0, 1, 2] | None = _fact("System value QPRCMLTTSK.")
    disk_response_goal_ms: NonNegative | None = _fact("Response of disks that your work needs, ms.")
    full_opens_goal_per_s: NonNegative | None = _fact("Full opens you accept, a second.")
    fc_paths: NonNegative | None = _fact("Fibre Channel paths of the storage's host group that has fewest.")
    vios: bool | None = _fact("Disks are attached through a Virtual I/O Server.")
    vios_processors: NonNegative | None = _fact("Processors of the VIOS.")
    vios_dedicated_processors: bool | None = _fact("The processors of the VIOS are dedicated.")
    vios_memory_mb: NonNegative | None = _fact("Memory of the VIOS, MB.")
    vios_disks_per_adapter: NonNegative | None = _fact("Virtual disks of the fullest virtual SCSI adapter.")
    vios_queue_depth: NonNegative | None = _fact("`queue_depth` of its disks, the smallest.")
    vios_num_cmd_elems: NonNegative | None = _fact("`num_cmd_elems` of its adapter, the smallest.")
    shares_physical_disks: bool | None = _fact("Other partitions use the same physical disks.")
    journal_receivers_apart: bool | None = _fact("Journal receivers are in a separate ASP.")
    hosts_disks: bool | None = _fact("The partition hosts virtual disks of others.")
    hosted_disks: NonNegative | None = _fact("Disks of the ASP that holds the network storage spaces.")
    network_server_descriptions: Positive | None = _fact("Network server descriptions for these disks.")
    iscsi: bool | None = _fact("Integrated servers are attached by iSCSI.")
    iscsi_pool_mb: NonNegative | None = _fact("Size of the iSCSI shared data pool, MB; 0 without one.")
    iscsi_added_mb: NonNegative | None = _fact("Memory added for iSCSI to machine and base pool, MB.")
    iscsi_targets: NonNegative | None = _fact("iSCSI targets.")
    iscsi_nwsds: NonNegative | None = _fact("Network server descriptions of integrated servers.")
    iscsi_ops_per_s: NonNegative | None = _fact("Disk operations of integrated servers, a second.")
    iscsi_target: Literal["hardware", "software"] | None = _fact("Kind of iSCSI target.")
    iscsi_cpw: NonNegative | None = _fact("CPW reserved for the disk operations of integrated servers.")
    iscsi_digests: bool | None = _fact("iSCSI digests are enabled.")
    iscsi_jumbo_frames: bool | None = _fact("iSCSI uses jumbo frames.")
    planned_traffic: Traffic | None = _fact(
        f"Planned traffic, transactions/s by `request_response`, `connect_request_response` or `stream`, a slash, and "
        f"{', '.join(f'`{name}`' for name in SECURITIES)}."
    )
    new_connections_per_s: NonNegative | None = _fact("New TCP connections at the peak, a second.")
    tcp_close_timeout_s: Positive | None = _fact("TCPCLOTIMO of CHGTCPA, s.")
    virtual_ethernet_mtu: NonNegative | None = _fact("MTU of the virtual Ethernet, bytes.")
    crypto_coprocessors: NonNegative | None = _fact("Cryptographic coprocessors that do RSA for TLS.")
    rsa_key_bits: Literal[1024, 2048] | None = _fact("RSA key length of the certificates.")
    http_server: bool | None = _fact("An HTTP server with significant load runs here.")
    http_max_threads: NonNegative | None = _fact("Its maximum number of threads.")
    http_cpw: NonNegative | None = _fact("CPW used for it.")
    http_keep_alive: bool | None = _fact("KeepAlive is on.")
    http_access_log: bool | None = _fact("It writes an access log.")
    http_file_system: Literal["root", "qopensys", "qdls", "qsys", "other"] | None = _fact("File system of most pages.")
    http_name_lookups: bool | None = _fact("HostNameLookups is on.")
    mirrored: bool | None = _fact("The system is a node of Db2 Mirror; implied by counters of its groups.")
    runs_applications: bool | None = _fact("Applications run on this node as well as on the other.")
    application_pool: PoolNumber | None = _fact("Number of the memory pool of the application.")
    qdbmsrvr_inljobs: NonNegative | None = _fact("INLJOBS of the prestart job entry QDBMSRVR.")
    qdbmsrvr_threshold: NonNegative | None = _fact("THRESHOLD of it.")
    qdbmsrvr_adljobs: NonNegative | None = _fact("ADLJOBS of it.")
    qdbmsrvr_maxuse: Text | None = _fact("MAXUSE of it: `*NOMAX` or a number.")
    journals_open_close: bool | None = _fact("Journals of mirrored files contain open and close entries.")
    journals_before_images: bool | None = _fact("Journals of mirrored files contain before images.")
    journal_cache: bool | None = _fact("Journals of mirrored files cache their entries: CHGJRN JRNCACHE(*YES).")
    mirror_distance_km: NonNegative | None = _fact("Length of the line between the nodes, km.")
    storage: Literal["nvme", "ssd", "hdd"] | None = _fact("Storage of mirrored data.")


INSTANCES: dict[Subject, type[BaseModel]] = {"pool": Pool, "save": Save, "iop": Iop}
"""Subjects of facts below a system; `pools`, `saves` and `iops` hold them by name."""


class Facts(_Facts):
    """The whole file."""

    systems: dict[str, System]


def load(path: Path) -> Facts:
    """Read a file of facts.

    Raises
    ------
    CounterflowError : names, for every mistake, file, line and what was expected; exit code 2.
    """
    try:
        text = path.read_text(encoding="utf-8")
        tree, content = yaml.compose(text, Loader=yaml.SafeLoader), yaml.safe_load(text)
        return Facts.model_validate(content)
    except OSError as error:
        mistakes = [f"{path}: {error.strerror}"]
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        mistakes = [f"{path}: not YAML or JSON: {error}"]
    except ValidationError as error:
        mistakes = [
            f"{path}:{_line(tree, e['loc'])}: {'.'.join(map(str, e['loc'])) or 'the file'}: {e['msg']}"
            for e in error.errors()
        ]
    raise CounterflowError("\n".join(mistakes), hint="docs/doctor.md lists the facts", exit_code=2)


def _line(node: Any, place: tuple[int | str, ...]) -> int:
    """Return the line of the deepest key of `place` that exists in the file."""
    line = node.start_mark.line + 1 if node is not None else 1
    for step in place:
        found = [(key, value) for key, value in getattr(node, "value", ()) if key.value == str(step)]
        if not found:
            break
        line, node = found[0][0].start_mark.line + 1, found[0][1]
    return line
