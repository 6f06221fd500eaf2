"""What the layers may know of each other, and the catalogue of errors."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import rowkind

SOURCE = Path(rowkind.__file__).parent
WITHOUT_SPARK = ("sql", "catalog", "plan", "formats", "kafka", "operators", "state", "ingest")

BLOCKED = """
import importlib, pkgutil, sys

class NoSpark:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "py4j"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoSpark())
count = 0
for package in sys.argv[1:]:
    root = importlib.import_module(f"rowkind.{package}")
    for module in pkgutil.walk_packages(root.__path__, root.__name__ + "."):
        importlib.import_module(module.name)
        count += 1
print(count)
"""


def test_everything_but_the_runtime_imports_with_spark_absent() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, *WITHOUT_SPARK], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100


def test_the_front_end_knows_nothing_of_the_runtime() -> None:
    """Front end -> plan -> runtime, and never back."""
    for package in WITHOUT_SPARK:
        for file in (SOURCE / package).rglob("*.py"):
            text = file.read_text()
            assert not re.search(r"^\s*(from|import) rowkind\.(runtime|cli)", text, re.MULTILINE), file


def declared() -> list[str]:
    return [name for file in sorted((SOURCE / "conditions").glob("*.toml")) for name in tomllib.loads(file.read_text())]


def test_every_condition_is_declared_once() -> None:
    assert [name for name, times in Counter(declared()).items() if times > 1] == []


def test_every_condition_is_used() -> None:
    code = "\n".join(file.read_text() for file in SOURCE.rglob("*.py"))
    assert [name for name in declared() if f'"{name}"' not in code] == []


def test_every_condition_that_is_raised_is_declared() -> None:
    known = set(declared())
    raised = re.compile(r'(?:RowkindError|\.error)\(\s*"([A-Z][A-Z0-9_]+)"')
    for file in SOURCE.rglob("*.py"):
        assert set(raised.findall(file.read_text())) <= known, file


def test_files_stay_small() -> None:
    long = {str(f.relative_to(SOURCE)): n for f in SOURCE.rglob("*.py") if (n := len(f.read_text().splitlines())) > 500}
    assert long == {}
