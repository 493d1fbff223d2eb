"""`python -m helm`, which `make chart` runs: writes what the chart takes from the rest of the repository.

Where Helm is built (`make helm` builds it), the table of the chart's README too.
"""

from __future__ import annotations

from helm import files, needs
from helm.examples import TOOLS

files.write()
if (TOOLS / "helm").exists():
    needs.README.write_text(needs.page(needs.README.read_text()))
