"""`python -m counterflow.stack.sbom FILE`: add the parts from Maven and npm to a list of packages in CycloneDX.

`make sbom` has uv write the list of Python packages first. Versions and checksums are those of `pins/`.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from counterflow.stack.install import JARS, PINS, checksums

Component = dict[str, Any]


def components() -> Iterator[Component]:
    """Yield the pinned parts: jars by their place in a Maven repository, packages of npm by its lock."""
    for pin in JARS:
        for jar, sha256 in checksums(PINS / pin).items():
            *group, artifact, version, _ = jar.split("/")
            yield _component("maven", ".".join(group), artifact, version, "SHA-256", sha256)
    locked = json.loads((PINS / "clickhouse/package-lock.json").read_text())["packages"]
    for path, package in locked.items():
        if path:  # "" is the folder itself
            scope, _, name = path.removeprefix("node_modules/").rpartition("/")
            sha512 = base64.b64decode(package["integrity"].removeprefix("sha512-")).hex()
            yield _component("npm", scope, name, package["version"], "SHA-512", sha512)


def _component(registry: str, group: str, name: str, version: str, algorithm: str, checksum: str) -> Component:
    purl = f"pkg:{registry}/{quote(group, safe='.')}/{name}@{quote(version)}"
    hashes = [{"alg": algorithm, "content": checksum}]
    of = {"group": group, "name": name, "version": version}
    return {"type": "library", "bom-ref": purl, **of, "purl": purl, "hashes": hashes}


if __name__ == "__main__":
    file = Path(sys.argv[1])
    listed = json.loads(file.read_text())
    listed["components"] += components()
    file.write_text(json.dumps(listed, indent=1) + "\n")
