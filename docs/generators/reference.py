"""The commands of the command line, the settings of stack and agent, and the parameters of rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import click

from counterflow.cli._times import GRAMMAR
from counterflow.collectors.agent.config import Config
from counterflow.pipelines.rules import Rule
from counterflow.stack.settings import StackSettings
from docs.generators import table

WIDTH = 80


def commands(root: click.Group) -> str:
    """Return what a `TIME` is, and the help of all commands below `root`, in Markdown."""
    return "\n".join([f"A `TIME` is one of {GRAMMAR}.\n", *_commands(root, "counterflow")])


def _commands(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[str]:
    context = click.Context(command, parent, name, terminal_width=WIDTH, **command.context_settings)
    path = context.command_path
    yield f"{'##' if path.count(' ') < 2 else '###'} {path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            if found := command.get_command(context, each):
                yield from _commands(found, each, context)


def stack_settings() -> str:
    """Return a table of the variables of the one-machine stack, in Markdown."""
    rows = (
        (f"`COUNTERFLOW_{name.upper()}`", _type(about), _default(about), about["description"])
        for name, about in StackSettings.model_json_schema()["properties"].items()
    )
    return table(("variable", "type", "default", "meaning"), rows)


def parameters(rule: Rule[Any, Any, Any]) -> str:
    """Return a table of the parameters of a rule, in Markdown."""
    rows = ((f"`{f.name}`", f.default, f.metadata["meaning"], f.metadata["source"]) for f in fields(rule.parameters))
    return table(("parameter", "default", "meaning", "source"), rows)


def agent_settings() -> str:
    """Return the keys of the agent's configuration, a section for each of its parts, in Markdown."""
    agent = Config.model_json_schema()
    return "\n".join(_section(schema) for schema in (agent, *agent["$defs"].values()))


def _section(schema: dict[str, Any]) -> str:
    needed = schema.get("required", ())
    rows = (
        (f"`{name}`", _type(about), "required" if name in needed else _default(about))
        for name, about in schema["properties"].items()
    )
    about = " ".join(schema["description"].split())
    return f"### {schema['title']}\n\n{about}\n\n{table(('key', 'type', 'default'), rows)}"


def _type(about: dict[str, Any]) -> str:
    """Describe a value's type and limits from its JSON Schema."""
    if "$ref" in about:
        title = about["$ref"].rpartition("/")[2]
        return f"[{title}](#{title.lower()})"
    if several := about.get("anyOf", about.get("oneOf")):
        return " or ".join(_type(one) for one in several if one.get("type") != "null")
    if values := about.get("enum") or ([about["const"]] if "const" in about else []):
        return ", ".join(f"`{value}`" for value in values)
    if about["type"] == "array":
        return f"list of {_type(about['items'])}"
    if about["type"] == "object":
        return f"mapping to {_type(about['additionalProperties'])}"
    if about.get("format") == "path":
        return "path"
    signs = {"exclusiveMinimum": ">", "minimum": "≥", "maximum": "≤"}
    limits = (f"{sign} {about[name]:,}" for name, sign in signs.items() if name in about)
    return ", ".join((about["type"], *limits))


def _default(about: dict[str, Any]) -> str:
    match about.get("default"):
        case None:
            return "none" if "default" in about else ""
        case bool(value):
            return f"`{str(value).lower()}`"
        case list(values):
            return f"`[{', '.join(values)}]`"
        case dict(values):
            return "its own" if values else "none"
        case value:
            return f"`{value}`"
