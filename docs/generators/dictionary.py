"""The part `datasets` of the data dictionary: each column in words, with the counter of each source that fills it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from counterflow.schemas.definition import Column, Dataset, envelope
from counterflow.schemas.mapping import Mappings, counters_by_source
from docs.generators import table


def data_dictionary(definitions: Iterable[Dataset], mappings: Mappings) -> str:
    """Return the datasets, in Markdown, below a list of links to them."""
    pages = list(definitions)
    links = "\n".join(f"- [{d.dataset}](#{d.dataset}): {d.row}" for d in pages)
    roles = ("counter", "result", "view")
    common = (f"## Columns of every {role} dataset\n\n{_columns(envelope(role))}" for role in roles)
    return "\n".join([links, "", *common, *(_page(d, mappings) for d in pages)])


def _page(dataset: Dataset, mappings: Mappings) -> str:
    if dataset.role == "view":
        made_by, filled = "A view", f"\n```sql\n{dataset.select}```\n"
    else:
        by = "computed by a job" if dataset.role == "result" else "published by agents as frames"
        made_by, filled = f"Topic `{dataset.topic}`, {by}", _filled(dataset, mappings)
    return f"""\
## {dataset.dataset}

{dataset.row} {made_by}. Key: {", ".join(f"`{name}`" for name in dataset.key)}.

{_columns(dataset.columns)}{filled}
"""


def _filled(dataset: Dataset, mappings: Mappings) -> str:
    return "\n".join(
        f"\n### {dataset.dataset} from {source}\n\n"
        + table(
            ("column", "filled from"),
            ((f"`{name}`", counters[name]) for name in dataset.columns if name in counters),
        )
        for source, counters in counters_by_source(dataset.dataset, mappings).items()
    )


def _columns(columns: Mapping[str, Column]) -> str:
    rows = (
        (f"`{name}`", column.type, column.unit, column.kind, _meaning(column), column.null_when)
        for name, column in columns.items()
    )
    return table(("column", "type", "unit", "kind", "meaning", "null when"), rows)


def _meaning(column: Column) -> str:
    return f"{column.text} One of {', '.join(f'`{v}`' for v in column.values)}." if column.values else column.text
