"""Expressions over the fields of a table, evaluated for many rows at once, column by column.

`DSRDS`, `DSBLKR * SECTOR / 1024`, `DSSRVT / (DSRDS + DSWRTS)`, `POSIZB or POSIZ`, `task(JBTDE)`, `'all'`. A figure is
null where one of its fields is missing or null, or a divisor is 0; `a or b` is the first that is not null;
`a == b` is true or false. Functions are those of `Known`. Anything else is refused when the expression is read.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

DECIMALS = 6
"""Computed figures are rounded to this many decimals: further ones only reflect binary fractions."""

Column = Sequence[Any]


@dataclass(frozen=True)
class Field:
    """The values of a field."""

    name: str


@dataclass(frozen=True)
class Constant:
    """The same value in every row."""

    value: object


@dataclass(frozen=True)
class Operation:
    """Two figures combined: a sum, a quotient, a comparison."""

    apply: Callable[[Any, Any], object]
    left: Node
    right: Node


@dataclass(frozen=True)
class Rounded:
    """A product or quotient."""

    of: Node


@dataclass(frozen=True)
class Either:
    """The first of some values that is not null."""

    values: tuple[Node, ...]


@dataclass(frozen=True)
class Call:
    """The result of a function."""

    function: str
    arguments: tuple[Node, ...]


Node = Field | Constant | Operation | Rounded | Either | Call


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


def parsed(expression: str, functions: Container[str]) -> Node:
    """Return the nodes of an expression that calls only these functions.

    Raises
    ------
    ValueError, SyntaxError : it is not an expression.
    """
    return _whole(ast.parse(expression.strip(), mode="eval").body, functions)


def _whole(node: ast.expr, functions: Container[str]) -> Node:
    found = _part(node, functions)
    return Rounded(found) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div) else found


def _part(node: ast.expr, functions: Container[str]) -> Node:
    match node:
        case ast.Name(id=name):
            return Field(name)
        case ast.Constant(value=value):
            return Constant(value)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return Operation(_OPERATORS[type(op)], _part(left, functions), _part(right, functions))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return Operation(_OPERATORS[type(op)], _part(left, functions), _part(right, functions))
        case ast.BoolOp(op=ast.Or(), values=values):
            return Either(tuple(_whole(value, functions) for value in values))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as arguments, keywords=[]) if name in functions:
            return Call(name, tuple(_whole(argument, functions) for argument in arguments))
    raise ValueError(f"not an expression over fields: {ast.unparse(node)}")


def fields(node: Node) -> Iterator[str]:
    match node:
        case Field(name):
            yield name
        case Rounded(of):
            yield from fields(of)
        case Operation(_, left, right):
            yield from fields(left)
            yield from fields(right)
        case Either(parts) | Call(_, parts):
            for part in parts:
                yield from fields(part)


def within(node: Node, present: Container[str]) -> Node | None:
    """Return the expression over the fields that are present; None where one that it needs is missing.

    A missing alternative is left out. A missing argument is null, unless all arguments are missing.
    """
    match node:
        case Field(name):
            return node if name in present else None
        case Rounded(of):
            found = within(of, present)
            return found and Rounded(found)
        case Operation(apply, left, right):
            one, other = within(left, present), within(right, present)
            return Operation(apply, one, other) if one and other else None
        case Either(values):
            known = tuple(value for part in values if (value := within(part, present)))
            return Either(known) if known else None
        case Call(function, arguments):
            given = [within(argument, present) for argument in arguments]
            if not any(given):
                return None
            return Call(function, tuple(argument or Constant(None) for argument in given))
    return node


class Columns:
    """The columns of some rows by the names of their fields; a call that several expressions share is made once."""

    def __init__(self, rows: int, known: Mapping[str, Column], functions: Mapping[str, Callable[..., object]]) -> None:
        self.rows = rows
        self._known, self._functions = known, functions
        self._called: dict[Call, Column] = {}

    def of(self, node: Node) -> Column:
        match node:
            case Field(name):
                return self._known[name]
            case Constant(value):
                return [value] * self.rows
            case Rounded(of):
                return [None if value is None else round(value, DECIMALS) for value in self.of(of)]
            case Operation(apply, left, right):
                pairs = zip(self.of(left), self.of(right), strict=True)
                return [None if a is None or b is None else apply(a, b) for a, b in pairs]
            case Either((value, *others)):
                found = self.of(value)
                for other in others:
                    found = [b if a is None else a for a, b in zip(found, self.of(other), strict=True)]
                return found
            case Call(function, arguments):
                if node not in self._called:
                    given = [self.of(argument) for argument in arguments]
                    self._called[node] = list(map(self._functions[function], *given))
                return self._called[node]
        raise AssertionError(node)

    def where(self, kept: Sequence[bool], names: Sequence[str]) -> Columns:
        known = {name: list(compress(self._known[name], kept)) for name in names}
        return Columns(sum(kept), known, self._functions)
