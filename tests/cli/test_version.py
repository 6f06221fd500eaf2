"""The version, by the command and in Python."""

from __future__ import annotations

import tomllib
from pathlib import Path

from typer.testing import CliRunner

import rowkind
from rowkind.cli import app


def test_both_tell_the_version_of_the_package() -> None:
    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["version"]
    done = CliRunner().invoke(app, ["--version"])
    assert (done.exit_code, done.stdout.strip()) == (0, declared)
    assert rowkind.__version__ == declared
