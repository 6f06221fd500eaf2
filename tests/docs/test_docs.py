"""Every block shown in README, ARCHITECTURE and docs does what the page says."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer

from rowkind.cli import app
from rowkind.errors import RowkindError, condition_in
from tests.cli.command import SHORT_LIVED
from tests.docs import pages as p
from tests.docs.playground import PageSession, Playground
from tests.kafka_client import KafkaClient

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BIN = Path(sys.executable).parent


@pytest.mark.parametrize("page", p.pages())
def test_no_block_goes_unchecked(page: str) -> None:
    for block in p.blocks(page):
        assert block.language in p.LANGUAGES, f"{block.place}: nothing checks a block in '{block.language}'"


@pytest.mark.parametrize("page", p.pages())
def test_links_lead_somewhere(page: str) -> None:
    for target in p.links(page):
        assert ((p.ROOT / page).parent / target).exists(), f"{page} links to {target}"


COLLECTED = """
import json, sys, pytest
chosen = json.loads(sys.argv[1])
sys.exit(any([pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *words]) for words in chosen]))
"""


@pytest.mark.parametrize("page", p.pages_with("console"))
def test_commands_exist(page: str) -> None:
    tests = []
    for block in p.of("console", page):
        for command in block.commands:
            program, *arguments = itertools.dropwhile(
                lambda word: re.match(r"[A-Z_]+=", word), shlex.split(command.words)
            )
            match program.rpartition("/")[2]:
                case "make":
                    check = subprocess.run(["make", "-n", *arguments], cwd=p.ROOT, capture_output=True, check=False)
                    assert check.returncode == 0, f"{block.place}: {command.words}"
                case "rowkind":
                    check_arguments(arguments, block.place)
                case "pytest":
                    tests.append(arguments)
                case other:
                    assert other in {"git", "cd", "kcat"}, f"{block.place}: nothing checks '{other}'"
    if tests:  # each finds something; in one process, which imports everything once
        found = [sys.executable, "-c", COLLECTED, json.dumps(tests)]
        check = subprocess.run(found, cwd=p.ROOT, capture_output=True, text=True, check=False)
        assert check.returncode == 0, f"{page}: {check.stdout[-2000:]}{check.stderr[-2000:]}"


def check_arguments(words: list[str], place: str) -> None:
    """The command of these words, with these options, is there; each option that takes a value has one."""
    found: Any = typer.main.get_command(app)
    while commands := getattr(found, "commands", None):
        assert words[:1] in [[name] for name in commands], f"{place}: no command '{' '.join(words)}'"
        found, words = commands[words[0]], words[1:]
    flags = {
        name: getattr(o, "is_flag", False)
        for o in found.params
        for name in (*o.opts, *o.secondary_opts)
        if name.startswith("-")
    }
    places = [o for o in found.params if o.param_type_name == "argument"]
    rest = iter(words)
    given = []
    for word in rest:
        if word.startswith("-"):
            assert word in flags, f"{place}: there is no option {word}"
            assert flags[word] or next(rest, None) is not None, f"{place}: {word} needs a value"
        else:
            given.append(word)
    needed = [o for o in places if o.required]
    assert len(needed) <= len(given) <= len(places), f"{place}: takes {[o.name for o in places]}, given {given}"


@pytest.mark.kafka
@pytest.mark.spark
@pytest.mark.parametrize("page", [page for page in p.pages_with("sql") if page not in p.followed()])
def test_sql(page: str, spark: SparkSession, kafka_client: KafkaClient) -> None:
    session = PageSession(spark, Playground(kafka_client))
    try:
        wrong = [text for block in p.of("sql", page) if (text := difference(session, block))]
    finally:
        session.close()
    assert not wrong, "\n\n".join(wrong)


def difference(session: PageSession, block: p.Block) -> str | None:
    """What a block really does, where that is not what the page shows."""
    wanted = (block.output or "").splitlines()
    try:
        shown = session.run(block.text)
    except RowkindError as error:
        as_shown = "error" in block.words and error.condition == condition_in(f"{wanted[0]} ")
        return None if as_shown else f"{block.place}: {error}"
    if "error" in block.words:
        return f"{block.place}: was not refused"
    if block.output is None or sorted(shown) == sorted(wanted):
        return None
    return f"{block.place}:\n" + "\n".join(shown)


PROGRAMS = """
import json, sys
for page, program in json.loads(sys.argv[1]).items():
    print(f"=== {page}")
    exec(compile(program, page, "exec"), {"__name__": "__main__"})
"""


@pytest.mark.kafka
@pytest.mark.spark
def test_python(kafka_client: KafkaClient, tmp_path: Path) -> None:
    """The blocks of a page are one program; the programs run one after the other, so that Java starts once."""
    programs = {
        page: Playground(kafka_client).localised("\n".join(block.text for block in p.of("python", page)))
        for page in p.pages_with("python")
    }
    done = run([sys.executable, "-c", PROGRAMS, json.dumps(programs)], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    said = dict(part.split("\n", 1) for part in done.stdout.split("=== ")[1:])
    for page in programs:
        for block in p.of("python", page):
            for line in (block.output or "").splitlines():
                assert line in said[page].splitlines(), f"{block.place}:\n{said[page]}{done.stderr}"


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **SHORT_LIVED, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
