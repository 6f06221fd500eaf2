"""Java is checked before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowkind.broker.java import java_version, require_java
from rowkind.errors import RowkindError


def pretend_java(home: Path, version: str) -> Path:
    """A `java` program that only knows its version."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("version", "feature"), [("1.8.0_402", 8), ("11.0.2", 11), ("17.0.15", 17), ("21", 21), ("25-ea", 25)]
)
def test_the_feature_release_is_read(tmp_path: Path, version: str, feature: int) -> None:
    assert java_version(pretend_java(tmp_path, version)) == feature


def test_a_program_that_is_no_java_has_no_version(tmp_path: Path) -> None:
    program = tmp_path / "java"
    program.write_text("not a program")
    assert java_version(program) is None


def test_java_home_is_preferred(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = pretend_java(tmp_path, "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert require_java() == program


def test_an_old_java_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pretend_java(tmp_path, "11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(RowkindError) as refused:
        require_java()
    assert refused.value.condition == "JAVA_TOO_OLD"
    assert refused.value.params["version"] == 11


@pytest.mark.parametrize("home", [None, "nowhere"])
def test_no_java_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: str | None) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if home:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / home))
    else:
        monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(RowkindError) as refused:
        require_java()
    assert refused.value.condition == "JAVA_MISSING"
