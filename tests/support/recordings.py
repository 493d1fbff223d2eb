"""The recordings of `samples/`, unpacked for tests that change, cut or count their lines."""

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

_PACKED = Path(__file__).parents[2] / "samples/nmon"
_folder = TemporaryDirectory(prefix="counterflow-recordings-")

RECORDINGS = Path(_folder.name)
"""A folder with the plain recordings, such as `linux_16n_plain.nmon`; it goes when the tests end."""

for _path in _PACKED.glob("*.gz"):
    (RECORDINGS / _path.stem).write_bytes(gzip.decompress(_path.read_bytes()))
