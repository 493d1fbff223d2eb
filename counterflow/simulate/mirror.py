"""Writes cases of Db2 Mirror as files of Collection Services, the views of Db2 Mirror and the HMC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from counterflow.simulate import layout, site
from counterflow.simulate.case import Case, Placed, SimulatedFile
from counterflow.simulate.collection import collect
from counterflow.simulate.hmc import lshwres, pcm
from counterflow.simulate.model import MirrorRun
from counterflow.simulate.rdma import samples

DISTANCE_KM = 10


class MirrorCase(Case[MirrorRun]):
    """Runs of jobs and links on partitions; the files are a folder per system, `HMC` and `SITE`."""

    document = "docs/studies/db2-mirror.md"

    def files(self, placed: Sequence[Placed[MirrorRun]], seed: str) -> Iterator[SimulatedFile]:
        systems = _systems(placed)
        for system, addresses in systems.items():
            random = Random(f"{seed}/{system}")  # noqa: S311 - noise
            tables = collect(system, placed, random) | samples(system, addresses, placed, random)
            for table, rows in tables.items():
                yield SimulatedFile(system, f"{table}.csv", layout.lines(table, rows))
        servers = [p.link.server for one in placed for p in one.run.partitions if p.link]
        for server in dict.fromkeys(servers):
            yield SimulatedFile(None, f"pcm_{server}.json", pcm(server, placed), "HMC")
            yield SimulatedFile(None, f"lshwres_{server}.csv", lshwres(server, placed), "HMC")
        line: site.Fields = {"systems": [*systems], "from": placed[0].begin, "distance_km": DISTANCE_KM}
        yield SimulatedFile(None, "site.yaml", site.lines([("mirrors", line)]))


def _systems(placed: Sequence[Placed[MirrorRun]]) -> dict[str, tuple[str, str]]:
    """Return the systems in order of appearance, with the addresses of both ends of their link, its own first.

    Partitions with links come in pairs: what one sends, the next receives.
    """
    systems = list(dict.fromkeys(partition.system for one in placed for partition in one.run.partitions))
    return {system: (f"192.0.2.{at + 1}", f"192.0.2.{(at ^ 1) + 1}") for at, system in enumerate(systems)}
