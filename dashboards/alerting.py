"""Alerts as they are written, `alerts/<alert>/alert.yaml`, and the rules of Prometheus and Grafana made of them.

An alert has a PromQL expression, or SQL for Grafana, or both. `[[figure]]` in a description stands for the newest value
of that figure of the verdict (`counterflow_verdict_figure`) when the alert is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import Any, Literal, NamedTuple, Self

import yaml
from pydantic import Field, model_validator

from counterflow.base.strict import Strict
from counterflow.dashboards.definition import FOLDER, PLATFORMS, boards, read_models

ALERTS = FOLDER / "alerts"
EXAMPLES = FOLDER / "prometheus"
"""Configuration of Prometheus and Alertmanager, which each site adapts."""

PROMETHEUS = "prometheus/rules.yml"
GRAFANA = "grafana/provisioning/alerting/counterflow.yaml"

_HEAD = "# Made of dashboards/alerts/ by `counterflow dev dashboards build`.\n"
_DATASOURCE = "counterflow-ch"
_DURATION = r"^\d+[smh]$"
_FIGURE = (
    '{{ with printf "counterflow_verdict_figure{rule=%q,system=%q,entity_type=%q,entity=%q,figure=%q}"'
    " $labels.rule $labels.system $labels.entity_type $labels.entity "
    r'"\1" | query }}{{ $figure := . | first | value }}'
    '{{ if ge $figure 1000.0 }}{{ humanize $figure }}{{ else }}{{ printf "%.4g" $figure }}{{ end }}'
    "{{ else }}unknown{{ end }}"
)

_AT = '{{{{ with query "1e3 * (time() - time() % 3600 {})" }}}}{{{{ first . | value | printf "%.0f" }}}}{{{{ end }}}}'
_RANGE = f"from={_AT.format('- 10800')}&to={_AT.format('+ 3600')}"
"""From three hours before the hour in which the alert is sent to the end of that hour. The range is fixed for those who
look a day later, and does not change at each evaluation, which would send the alert anew."""
_GRAFANA_RANGE = "from=now-3h&to=now"  # Grafana's templates have no queries
_PLATFORM = f"""\
SELECT
  *,
  if(system IN (SELECT system FROM counterflow.config WHERE item = '' AND {PLATFORMS["AIX"]}), 'AIX', '') AS platform
FROM
(
{{sql}}
)"""
"""Adds the label that chooses between `board` and `aix_board`."""

Json = dict[str, Any]
Severity = Literal["critical", "warning", "info", "none"]


class Site(NamedTuple):
    """Where the links of alerts lead at a site: the address of its Grafana, and of a runbook (`{alert}` is its name).

    The defaults suit one machine: the Grafana of its stack, and the runbook's file.
    """

    grafana: str = "http://127.0.0.1:13000"
    runbooks: str = f"{(FOLDER.resolve() / 'alerts').as_uri()}/{{alert}}/README.md"


ONE_MACHINE = Site()


class Sql(Strict):
    """The query of an alert in Grafana: one number, and texts as labels. It fires `above` a limit, or `below` one."""

    sql: str
    above: float | None = None
    below: float | None = None
    description: str

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if (self.above is None) == (self.below is None):
            raise ValueError("expected one of `above` and `below`")
        return self

    @property
    def evaluator(self) -> Json:
        """The condition as Grafana writes it."""
        return {"type": "lt", "params": [self.below]} if self.above is None else {"type": "gt", "params": [self.above]}


class Alert(Strict):
    """One alert.

    Parameters
    ----------
    name : of its folder, where its runbook is, too, and in Grafana's uid.
    group : of rules that are evaluated together.
    severity : `critical` wakes somebody, `warning` is looked at today, `info` is a notice, `none` reaches nobody.
    expr : PromQL; every series that it returns fires. None where only SQL can judge.
    pending, keep_firing_for : how long the condition holds before the alert fires, and how long it fires afterwards; as
        long in the groups `links` and `figures`.
    summary : one line; the only annotation that both have in common, so it uses labels alone.
    description : the numbers, for Prometheus.
    grafana : the same condition in SQL, where that is simple.
    board : the board that shows the alert's subject; that of the pipeline for its group.
    aix_board : the board for systems of AIX, which `board` does not show; only for alerts that Grafana alone has.
    variables : of the board, each with the labels whose values, joined by ` / `, set it; by default `system`, except in
        the group `pipeline`.
    """

    name: str
    group: Literal["verdicts", "links", "figures", "pipeline"]
    severity: Severity = "warning"
    expr: str | None = None
    pending: str = Field("0s", alias="for", pattern=_DURATION)
    keep_firing_for: str | None = Field(None, pattern=_DURATION)
    summary: str
    description: str | None = None
    grafana: Sql | None = None
    board: str
    aix_board: str | None = None
    variables: dict[str, tuple[str, ...]] = {}

    @model_validator(mode="before")
    @classmethod
    def _of_group(cls, written: Json) -> Json:
        if written.get("group") == "pipeline":
            return {"board": "cf-pipeline", **written}
        held = {"keep_firing_for": written.get("for")} if written.get("group") in ("links", "figures") else {}
        return {"variables": {"system": ["system"]}, **held, **written}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.expr is None and self.grafana is None:
            raise ValueError("an alert has `expr`, or `grafana`, or both")
        if (self.expr is None) != (self.description is None):
            raise ValueError("`expr` and `description` go together")
        if self.aix_board and self.expr:
            raise ValueError("`aix_board` is of an alert without `expr`: metrics know no platform")
        for board in filter(None, (self.board, self.aix_board)):
            if board not in boards():
                raise ValueError(f"`{board}` is no board")
            if unknown := self.variables.keys() - {*boards()[board].variables}:
                raise ValueError(f"`{board}` has no variable {', '.join(sorted(unknown))}")
        return self

    @property
    def title(self) -> str:
        return "Counterflow" + "".join(word.capitalize() for word in self.name.split("-"))

    def links(self, site: Site, reach: str) -> dict[str, str]:
        """Return the annotations that link to the board, at the range `reach`, and to the runbook."""
        texts = {
            name: "+%2F+".join(f"{{{{ $labels.{label} | urlquery }}}}" for label in labels)
            for name, labels in self.variables.items()
        }
        chosen = "".join(f"&var-{name}={text}" for name, text in texts.items())
        if chosen and reach == _GRAFANA_RANGE:
            chosen = f"{{{{ if $values }}}}{chosen}{{{{ end }}}}"
        board = self.board
        if self.aix_board:
            board = f'{{{{ if eq $labels.platform "AIX" }}}}{self.aix_board}{{{{ else }}}}{board}{{{{ end }}}}'
        return {
            "dashboard_url": f"{site.grafana.rstrip('/')}/d/{board}?{reach}{chosen}",
            "runbook_url": site.runbooks.replace("{alert}", self.name),
        }


@cache
def alerts() -> dict[str, Alert]:
    """Return every alert by its name, sorted.

    Raises
    ------
    CounterflowError : names each file that is wrong, and its mistakes.
    """
    paths = {path.parent.name: path for path in sorted(ALERTS.glob("*/alert.yaml"))}
    return read_models(Alert, paths, key="name", hint="see docs/alerts.md")


def files(site: Site = ONE_MACHINE) -> dict[str, str]:
    """Return the text of each generated file, and of the examples that name them, by its path."""
    examples = {f"prometheus/{path.name}": path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.yml"))}
    return {PROMETHEUS: _HEAD + _yaml(prometheus(site)), GRAFANA: _HEAD + _yaml(grafana(site)), **examples}


def prometheus(site: Site = ONE_MACHINE) -> Json:
    expressed = [alert for alert in alerts().values() if alert.expr]
    groups = [
        {"name": f"counterflow-{name}", "rules": [_rule(alert, site) for alert in members]}
        for name, members in _grouped(expressed)
    ]
    return {"groups": groups}


def grafana(site: Site = ONE_MACHINE) -> Json:
    """Return the rules as Grafana provisions them, in a folder apart from the dashboards."""
    queried = [alert for alert in alerts().values() if alert.grafana]
    groups = [
        {
            "orgId": 1,
            "name": f"counterflow-{name}",
            "folder": "Counterflow alerts",
            "interval": "1m",
            "rules": [_provisioned(alert, alert.grafana, site) for alert in members if alert.grafana],
        }
        for name, members in _grouped(queried)
    ]
    return {"apiVersion": 1, "groups": groups}


def _grouped(chosen: list[Alert]) -> Iterator[tuple[str, list[Alert]]]:
    ordered = sorted(chosen, key=lambda alert: (alert.group, alert.name))
    for name, members in groupby(ordered, lambda alert: alert.group):
        yield name, list(members)


def _rule(alert: Alert, site: Site) -> Json:
    return {
        "alert": alert.title,
        "expr": alert.expr,
        **({} if alert.pending == "0s" else {"for": alert.pending}),
        **({"keep_firing_for": alert.keep_firing_for} if alert.keep_firing_for else {}),
        "labels": {"severity": alert.severity},
        "annotations": {
            "summary": alert.summary,
            "description": re.sub(r"\[\[(\w+)\]\]", _FIGURE, alert.description or ""),
            **alert.links(site, _RANGE),
        },
    }


def _provisioned(alert: Alert, condition: Sql, site: Site) -> Json:
    sql = _PLATFORM.format(sql=condition.sql) if alert.aix_board else condition.sql
    query = {"editorType": "sql", "queryType": "table", "format": 1, "pluginVersion": "4.0.0", "rawSql": sql}
    threshold = {"type": "threshold", "expression": "A"}
    return {
        "uid": f"cf-{alert.name}",
        "title": alert.title,
        "condition": "C",
        "for": alert.pending,
        **({"keepFiringFor": alert.keep_firing_for} if alert.keep_firing_for else {}),
        "noDataState": "OK",  # no rows, nothing wrong: silence has alerts of its own
        "execErrState": "Error",
        "labels": {"severity": alert.severity},
        "annotations": {
            "summary": _with_values(alert.summary, f"{alert.title}: nothing was collected that it judges"),
            "description": _with_values(condition.description, "Its query has no rows of the last hour."),
            **alert.links(site, _GRAFANA_RANGE),
        },
        "data": [
            {
                "refId": "A",
                "datasourceUid": _DATASOURCE,
                "relativeTimeRange": {"from": 3600, "to": 0},
                "model": {"refId": "A", **query, "intervalMs": 60_000, "maxDataPoints": 100},
            },
            {
                "refId": "C",
                "datasourceUid": "__expr__",
                "model": {
                    "refId": "C",
                    **threshold,
                    "conditions": [{"evaluator": condition.evaluator}],
                },
            },
        ],
    }


def _with_values(text: str, without: str) -> str:
    """Return a template: `text` where the query has rows, `without` where it has none, thus no labels and no values.

    Values have four digits; Grafana would write all digits of a float.
    """
    rounded = re.sub(r"\$values\.(\w+)\b", r'printf "%.4g" $values.\1.Value', text)
    return f"{{{{ if $values }}}}{rounded}{{{{ else }}}}{without}{{{{ end }}}}"


class _Dumper(yaml.SafeDumper):
    """Writes a text of several lines as a block."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def _yaml(content: Json) -> str:
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
