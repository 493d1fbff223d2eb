"""Expressions over the fields of a table, evaluated for many rows at once, column by column.

`DSRDS`, `DSBLKR * SECTOR / 1024`, `DSSRVT / (DSRDS + DSWRTS)`, `POSIZB or POSIZ`, `task(JBTDE)`, `'all'`. A figure is
null where one of its fields is missing or null, or a divisor is 0; `a or b` is the first that is not null;
`a == b` is true or false. Functions are those of `Known`. Anything else is refused when the expression is read.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import compress
from typing import Any

from counterflow.collectors.formats.ibmi_tables.known import FUNCTIONS

DECIMALS = 6
"""Computed figures are rounded to this many decimals: further ones only reflect binary fractions."""

Column = Sequence[Any]


def _divided(left: float, right: float) -> float | None:
    return left / right if right else None


_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divided,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Gt: operator.gt,
}


def parsed(expression: str) -> ast.expr:
    """Return the expression that a text holds.

    Raises
    ------
    ValueError, SyntaxError : it is not an expression over fields.
    """
    node = ast.parse(expression.strip(), mode="eval").body
    is_known(node, ())
    return node


def fields(node: ast.expr) -> list[str]:
    names = (part.id for part in ast.walk(node) if isinstance(part, ast.Name))
    return [name for name in names if name not in FUNCTIONS]


def is_known(node: ast.expr, present: Container[str]) -> bool:
    """Return whether an expression may have a value where these fields are present.

    A sum needs all of its fields, a choice or a function one of them.
    """
    match node:
        case ast.Name(id=name):
            return name in present
        case ast.Constant():
            return True
        case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]) if (
            type(op) in _OPERATORS
        ):
            needed = [is_known(part, present) for part in (left, right)]
            return all(needed)
        case ast.BoolOp(op=ast.Or(), values=parts):
            given = [is_known(part, present) for part in parts]
            return any(given)
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as parts, keywords=[]) if name in FUNCTIONS:
            given = [is_known(part, present) for part in parts]
            return any(given)
    raise ValueError(f"not an expression over fields: {ast.unparse(node)}")


class Columns:
    """The columns of some rows by the names of their fields; a call that several expressions share is made once."""

    def __init__(self, rows: int, known: Mapping[str, Column], functions: Mapping[str, Callable[..., object]]) -> None:
        self.rows = rows
        self._known, self._functions = known, functions
        self._called: dict[str, Column] = {}

    def of(self, node: ast.expr) -> Column:
        """Return the values of an expression; products and quotients are rounded."""
        found = self._part(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
            return [None if value is None else round(value, DECIMALS) for value in found]
        return found

    def _part(self, node: ast.expr) -> Column:
        if not is_known(node, self._known):
            return [None] * self.rows
        match node:
            case ast.Name(id=name):
                return self._known[name]
            case ast.Constant(value=value):
                return [value] * self.rows
            case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]):
                apply = _OPERATORS[type(op)]
                pairs = zip(self._part(left), self._part(right), strict=True)
                return [None if a is None or b is None else apply(a, b) for a, b in pairs]
            case ast.BoolOp(values=[value, *others]):
                found = self.of(value)
                for other in others:
                    found = [b if a is None else a for a, b in zip(found, self.of(other), strict=True)]
                return found
            case ast.Call(func=ast.Name(id=name), args=arguments):
                written = ast.unparse(node)
                if written not in self._called:
                    given = [self.of(argument) for argument in arguments]
                    self._called[written] = list(map(self._functions[name], *given))
                return self._called[written]
        raise AssertionError(node)

    def where(self, kept: Sequence[bool], names: Iterable[str]) -> Columns:
        known = {name: list(compress(self._known[name], kept)) for name in names if name in self._known}
        return Columns(sum(kept), known, self._functions)
