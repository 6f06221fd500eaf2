"""Java programs shown in the documentation compile against the Kafka of the tests."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from rowkind.broker.broker import LOCK as BROKER
from rowkind.broker.download import fetch
from rowkind.broker.java import require_java
from tests.docs import pages as p
from tests.servers.ktable import STREAMS

COMPILER = STREAMS.with_name("compiler.lock")
BLOCKS = [block for page in p.pages_with("java") for block in p.of("java", page)]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_a_program_compiles(block: p.Block, tmp_path: Path) -> None:
    name = re.search(r"public class (\w+)", block.text)
    assert name, f"{block.place}: no public class"
    source = tmp_path / f"{name[1]}.java"
    source.write_text(block.text)
    jars = [*fetch(BROKER, "Kafka"), *fetch(STREAMS, "Kafka Streams")]
    # Eclipse's compiler: a Java that only runs programs has none of its own.
    compiler = [require_java(), "-XX:TieredStopAtLevel=1", "-jar", *fetch(COMPILER, "a Java compiler")]
    done = subprocess.run(
        [*compiler, "-17", "-failOnWarning", "-d", tmp_path, "-cp", os.pathsep.join(map(str, jars)), source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{block.place}\n{done.stdout}{done.stderr}"
