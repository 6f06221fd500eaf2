"""Every named error is raised by code that a user can reach: from the command, the session, or what Python calls."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import rowkind
from tests.test_layers import declared

SOURCE = Path(rowkind.__file__).parent
ENTRY_POINTS = {"main", "Session", "Job", "Broker"}
"""Where users come in: the command, and the classes that are documented."""
INGESTION = {"selected", "planned_tables", "evolved", "emptied", "fitted", "check_resumable"}
"""Where the runtime of ingestion comes in."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def names_in(tree: ast.AST) -> set[str]:
    """Everything that a piece of code may call, by its bare name; an import alone calls nothing."""
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return found | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def texts_in(tree: ast.AST) -> set[str]:
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def functions(tree: ast.AST) -> Iterator[Function]:
    """The outermost functions of a module, those of its classes included; inner ones belong to them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield node
        else:
            yield from functions(node)


class Code:
    """Who calls whom, by names alone: more is thought reachable than is, never less."""

    def __init__(self) -> None:
        self.calls: dict[str, set[str]] = defaultdict(set)
        self.raises: dict[str, set[str]] = defaultdict(set)
        self.starts: set[str] = ENTRY_POINTS | INGESTION
        conditions = set(declared())
        for file in SOURCE.rglob("*.py"):
            self._take(ast.parse(file.read_text()), conditions)

    def _take(self, module: ast.Module, conditions: set[str]) -> None:
        inside = list(functions(module))
        for function in inside:
            name = function.name
            self.calls[name] |= names_in(function)
            self.raises[name] |= texts_in(function) & conditions
            if function.decorator_list or (name.startswith("__") and name.endswith("__")):
                self.starts.add(name)
        # What a module does when it is imported, tables of functions and of "module:Class" among it.
        for function in inside:
            function.body = [ast.Pass()]
        self.starts |= names_in(module)
        self.starts |= {text.rpartition(":")[2] for text in texts_in(module) if text.startswith("rowkind.")}
        self.raises["<module>"] |= texts_in(module) & conditions

    def reachable(self) -> set[str]:
        found, new = set(), set(self.starts)
        while new:
            found |= new
            new = set().union(*(self.calls[name] for name in new if name in self.calls)) - found
        return found


def test_every_condition_is_raised_by_code_that_is_called() -> None:
    code = Code()
    reached = code.reachable() | {"<module>"}
    raised = set().union(*(conditions for name, conditions in code.raises.items() if name in reached))
    assert sorted(set(declared()) - raised) == []
    assert sorted(name for name, conditions in code.raises.items() if conditions and name not in reached) == []
