"""`python -m helm`: write what is generated for the chart, and its examples as Helm renders them."""

from __future__ import annotations

from helm import examples, files

files.write()
examples.write()
