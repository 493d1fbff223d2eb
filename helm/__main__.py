"""`python -m helm`, which `make chart` runs: writes the files that the chart takes from the rest of the repository."""

from __future__ import annotations

from helm import files

files.write()
