"""`python -m helm`, which `make chart` runs: writes the files that the chart takes from the rest of the repository.

Where Helm is built (`make helm` builds it), it also writes the table of the chart's README.
"""

from __future__ import annotations

from helm import files, needs
from helm.examples import TOOLS

files.write()
if (TOOLS / "helm").exists():
    needs.README.write_text(needs.page(needs.README.read_text()))
