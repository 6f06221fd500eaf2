"""The built wheel in an environment that has nothing else: it brings all that the command needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rowkind.version import version

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")


def run(*words: str | Path) -> str:
    """In an environment that knows nothing of this one."""
    env = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    done = subprocess.run([str(w) for w in words], cwd="/", env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.matrix
def test_the_wheel_runs_the_demo(tmp_path: Path) -> None:
    run(UV, "build", "--quiet", "--wheel", "--out-dir", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("rowkind-*.whl")
    clean = tmp_path / "clean"
    run(UV, "venv", "--quiet", "--python", sys.executable, clean)
    run(UV, "pip", "install", "--quiet", "--python", clean / "bin/python", wheel)
    rowkind = clean / "bin/rowkind"
    assert run(rowkind, "--version").strip() == version()
    assert "RowkindJobDown" in run(rowkind, "metrics", "alerts", "-")
    installed = run(clean / "bin/python", "-c", "import rowkind; print(rowkind.__file__)")
    assert installed.startswith(str(clean))
    licence = next(clean.glob("lib/python3*/site-packages/rowkind-*.dist-info/licenses/LICENSE"))
    assert "Apache License" in licence.read_text()
    shown = run(rowkind, "demo")
    assert "10,010 page views made" in shown
