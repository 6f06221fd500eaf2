"""The graph of packages, drawn from every import, those inside functions and those for types alone included."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import takewhile
from pathlib import Path

import pytest

import rowkind

SOURCE = Path(rowkind.__file__).parent

KAFKA = "connectors.kafka"
RUNTIME_KNOWS_KAFKA = {
    "runtime.driver.ingest.runner",
    "runtime.driver.ingest.tables",
    "runtime.driver.ingest.topics",
    "runtime.worker.ingest_steps",
}
"""Who still imports Kafka though connectors are to be met by their contract alone. These may only become fewer."""

NOT_TO_IMPORT = {
    "sql": ("catalog", "plan", "runtime", "connectors", "formats", "cli"),
    "catalog": ("plan", "runtime", KAFKA, "cli"),
    "plan": ("runtime", "operators", "state", KAFKA, "cli"),
    "operators": ("plan", "runtime", "catalog", "formats", "connectors", "cli"),
    "state": ("operators", "plan", "runtime", "cli"),
    "formats": ("catalog", "connectors", "plan", "runtime", "cli"),
    "connectors": ("ingest", "catalog", "plan", "runtime", "operators", "cli"),
    "runtime": ("cli",),
    "runtime.worker": ("runtime.driver",),
}
"""What a layer has no business with."""


@cache
def modules() -> dict[str, Path]:
    """Every module by its name without `rowkind.`; packages too."""
    return {_name(file): file for file in SOURCE.rglob("*.py") if file.parent != SOURCE or file.stem != "__init__"}


def _name(file: Path) -> str:
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports() -> frozenset[tuple[str, str]]:
    """Who imports whom."""
    return frozenset(
        (module, found)
        for module, file in modules().items()
        for name in _imported(ast.parse(file.read_text()))
        if (found := _known(name)) not in (None, module)
    )


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports name the whole path"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _known(name: str) -> str | None:
    """The module that an import reaches: what is imported, or what it is imported from."""
    parts = name.split(".")
    if parts[0] != "rowkind":
        return None
    paths = (".".join(parts[1:end]) for end in range(len(parts), 1, -1))
    return next((path for path in paths if path in modules()), None)


def within(module: str, package: str) -> bool:
    return (module + ".").startswith(package + ".")


@cache
def graphs() -> dict[str, dict[str, set[str]]]:
    """By package which of the packages directly below it import which; at the top, modules count as well."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for importer, imported in imports():
        a, b = importer.split("."), imported.split(".")
        shared = [x for x, y in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))]
        ends = [".".join(path[: len(shared) + 1]) for path in (a, b)]
        if not shared or all(_is_package(end) and len(end) > len(".".join(shared)) for end in ends):
            found[".".join(shared)][ends[0]].add(ends[1])
    return found


def _is_package(name: str) -> bool:
    return modules()[name].name == "__init__.py"


def test_packages_form_no_circle() -> None:
    for graph in graphs().values():
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            circle = error.args[1]
            pytest.fail(f"{' <- '.join(circle)}:\n" + "\n".join(_between(circle)))


def test_modules_form_no_circle() -> None:
    """The grammar of SQL is one, and so is what starts a job and is started by it; nothing else is."""
    graph: dict[str, set[str]] = defaultdict(set)
    for importer, imported in imports():
        if not importer.startswith(("sql.", "runtime.driver.")):
            graph[importer].add(imported)
    TopologicalSorter(graph).prepare()


def _between(circle: list[str]) -> list[str]:
    steps = list(zip(circle[1:], circle, strict=False))
    return sorted(f"{a} imports {b}" for a, b in imports() for to, by in steps if within(a, to) and within(b, by))


def test_the_graph_is_drawn() -> None:
    """The two that everybody looks at first, so that no mistake above makes all others pass."""
    assert {"sql", "catalog", "formats", "operators"} <= graphs()[""]["runtime"] | graphs()[""]["plan"]
    assert graphs()["runtime"] == {"runtime.driver": {"runtime.worker"}}


@pytest.mark.parametrize("layer", NOT_TO_IMPORT)
def test_a_layer_keeps_to_itself(layer: str) -> None:
    others = NOT_TO_IMPORT[layer]
    inside = [pair for pair in sorted(imports()) if within(pair[0], layer)]
    assert [(a, b) for a, b in inside if any(within(b, other) for other in others)] == []


def test_no_more_modules_know_kafka() -> None:
    """If a module is missing here: ask the contract instead. If one is too many: leave it out of the list above."""
    assert {a for a, b in imports() if within(a, "runtime") and within(b, KAFKA)} == RUNTIME_KNOWS_KAFKA


def test_every_folder_of_modules_is_a_package() -> None:
    assert [file.parent for file in SOURCE.rglob("*.py") if not (file.parent / "__init__.py").exists()] == []


def test_the_architecture_names_files_that_exist() -> None:
    text = (SOURCE.parent.parent / "ARCHITECTURE.md").read_text("utf-8")
    named = {name for name in re.findall(r"`([\w/]+\.py)`", text) if "/" in name}
    roots = (SOURCE, SOURCE.parent.parent)
    assert [name for name in sorted(named) if not any((root / name).is_file() for root in roots)] == []
    assert len(named) > 25
