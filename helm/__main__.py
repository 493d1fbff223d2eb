"""`python -m helm`, which `make chart` runs: write what the chart carries of the rest of the repository."""

from __future__ import annotations

from helm import files

files.write()
