"""What is imported is declared, and what runs only in tests or benchmarks is not asked of users."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
OWN = {"rowkind", "tests", "benchmarks", "tools"}
ELSEWHERE = {"pyflink", "evaluator"}
"""Imported by programs that run in an environment of their own (tools/flink/requirements.txt), and from beside them."""
CAME_ALONG = {"alibabacloud-tea", "alibabacloud-tea-openapi", "darabonba-core"}
"""Parts of the SDK of an extra, which depends on them and hands out their classes."""


@cache
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def names(requirements: list[str]) -> set[str]:
    return {normal(re.split(r"[^\w.-]", requirement, maxsplit=1)[0]) for requirement in requirements}


def normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def modules(folder: str) -> Iterator[str]:
    """The top-level modules that the files of a folder import, Python's own left out."""
    for file in (ROOT / folder).rglob("*.py"):
        if ".venv" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0]


def imported(*folders: str) -> set[str]:
    """The distributions of those modules; a module that none has is told by its own name."""
    known = packages_distributions()
    found = {m for folder in folders for m in modules(folder)} - sys.stdlib_module_names - OWN - ELSEWHERE
    return {normal(known.get(module, [module])[0]) for module in found}


def test_what_the_package_imports_is_declared_and_nothing_else() -> None:
    project = pyproject()["project"]
    extras = [requirement for extra in project["optional-dependencies"].values() for requirement in extra]
    assert imported("src") - CAME_ALONG == names([*project["dependencies"], *extras])


def test_what_tests_and_benchmarks_import_is_declared() -> None:
    declared = names(pyproject()["project"]["dependencies"]) | names(pyproject()["dependency-groups"]["dev"])
    assert imported("tests", "benchmarks", "tools") - CAME_ALONG - declared == set()
