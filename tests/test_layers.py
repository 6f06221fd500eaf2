"""What the layers may know of each other, and the catalogue of errors."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import rowkind
from tests.test_packages import modules

SOURCE = Path(rowkind.__file__).parent
WITH_SPARK = ("runtime", "cli")

BLOCKED = """
import importlib, sys

class NoSpark:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pyspark", "py4j"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoSpark())
for module in sys.argv[1:]:
    importlib.import_module(f"rowkind.{module}")
"""


def test_everything_but_the_runtime_imports_with_spark_absent() -> None:
    names = [name for name in sorted(modules()) if not name.startswith(WITH_SPARK)]
    done = subprocess.run([sys.executable, "-c", BLOCKED, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(names) > 250


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
