"""Expressions over the fields of a table, translated into Python once per file instead of evaluated once per value.

`DSRDS`, `DSBLKR * SECTOR / 1024`, `DSSRVT / (DSRDS + DSWRTS)`, `POSIZB or POSIZ`, `task(JBTDE)`, `'all'`. A figure is
null where one of its fields is missing or null, or a divisor is 0; `a or b` is the first that is not null;
`a == b` is true or false. Functions are those of `functions`. Anything else is refused when the description is read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

_OPERATORS: dict[type[ast.AST], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_COMPARISONS: dict[type[ast.AST], str] = {ast.Eq: "==", ast.NotEq: "!=", ast.Gt: ">"}
DECIMALS = 6
"""Computed figures are rounded to this many decimals: further ones only reflect binary fractions."""


@dataclass
class Translation:
    """Python for the expressions of one table with certain columns.

    `variable` gives the Python name of a field, or None where the file has no such column. `statements` must run
    before the values are used. `used` are the fields that occur. With `remember`, a call that several expressions share
    is made once.
    """

    variable: Callable[[str], str | None]
    functions: Mapping[str, object]
    statements: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    remember: bool = True
    remembered: dict[str, str] = field(default_factory=dict)
    _temporaries: int = 0

    def value(self, expression: str) -> str | None:
        """Return Python whose value is that of the expression, None where a column it needs is missing.

        Raises
        ------
        ValueError : it is not an expression.
        """
        tree = ast.parse(expression.strip(), mode="eval").body
        return self._whole(tree)

    def _whole(self, node: ast.expr) -> str | None:
        """Return Python that is None where a field is null."""
        if isinstance(node, ast.BoolOp | ast.Call | ast.Name):
            return self._plain(node)
        part = self._part(node)
        if part is None:
            return None
        code, guards = part
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Add | ast.Sub):
            code = f"round({code}, {DECIMALS})"
        return f"({code} if {' and '.join(dict.fromkeys(guards))} else None)" if guards else code

    def _plain(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            found = [code for value in node.values if (code := self._whole(value)) is not None]
            if len(found) < 2:
                return found[0] if found else None
            names = [self._temporary(code) for code in found]
            chain = names[-1]
            for name in reversed(names[:-1]):
                chain = f"({name} if {name} is not None else {chain})"
            return chain
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.functions:
            arguments = [self._whole(argument) or "None" for argument in node.args]
            if node.args and all(argument == "None" for argument in arguments):
                return None
            code = f"{node.func.id}({', '.join(arguments)})"
            if not self.remember:
                return code
            written = ast.unparse(node)
            if written not in self.remembered:
                self.remembered[written] = self._temporary(code)
            return self.remembered[written]
        raise ValueError(f"not an expression over fields: {ast.unparse(node)}")

    def _part(self, node: ast.expr) -> tuple[str, list[str]] | None:
        """Return Python and the conditions under which it has a value."""
        if isinstance(node, ast.Constant):
            return repr(node.value), []
        if isinstance(node, ast.Name):
            name = self._name(node)
            return name and (name, [f"{name} is not None"])  # type: ignore[return-value]
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = self._part(node.left), self._part(node.right)
            if left is None or right is None:
                return None
            guards = [*left[1], *right[1]]
            if isinstance(node.op, ast.Div) and not isinstance(node.right, ast.Constant):
                guards.append(right[0])
            return f"({left[0]} {_OPERATORS[type(node.op)]} {right[0]})", guards
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            left, right = self._part(node.left), self._part(node.comparators[0])
            if left is None or right is None:
                return None
            return f"({left[0]} {_COMPARISONS[type(node.ops[0])]} {right[0]})", [*left[1], *right[1]]
        code = self._plain(node)
        if code is None:
            return None
        name = self._temporary(code)
        return name, [f"{name} is not None"]

    def _name(self, node: ast.Name) -> str | None:
        self.used.add(node.id)
        return self.variable(node.id)

    def _temporary(self, code: str) -> str:
        if code.isidentifier():
            return code
        self._temporaries += 1
        name = f"x{self._temporaries}"
        self.statements.append(f"{name} = {code}")
        return name
