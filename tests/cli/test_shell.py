"""`rowkind sql` as somebody at a terminal uses it, and its parts without one."""

from __future__ import annotations

import sys
from pathlib import Path

import pexpect
import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from rowkind.cli.shell.prompt import SqlCompleter
from rowkind.cli.shell.statements import Action, ShellStatement, complete, expanded, parse
from rowkind.errors import RowkindError
from rowkind.sql import statements as s
from tests.cli.command import SECONDS, run
from tests.kafka_client import KafkaClient, TopicFactory

PROMPT = "rowkind> "
TABLES = """
CREATE TABLE numbers (n INT, s STRING) WITH (
    'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{kafka}',
    'scan.startup.mode' = 'earliest-offset', 'format' = 'json');
CREATE TABLE copies (n INT, s STRING, PRIMARY KEY (n) NOT ENFORCED) WITH (
    'connector' = 'upsert-kafka', 'topic' = '{topic}-copies', 'properties.bootstrap.servers' = '{kafka}',
    'key.format' = 'json', 'value.format' = 'json');
"""


def test_statements_of_the_shell_and_of_sql_mix() -> None:
    found = parse("SHOW TABLES; show jobs; STOP JOB 'a' WITH DRAIN; SOURCE 'f.sql'; quit")
    assert isinstance(found[0], s.ShowTables)
    assert found[1:] == [
        ShellStatement(Action.SHOW_JOBS),
        ShellStatement(Action.STOP_JOB, "a"),
        ShellStatement(Action.SOURCE, "f.sql"),
        ShellStatement(Action.QUIT),
    ]
    with pytest.raises(RowkindError) as error:
        parse("SHOW JOBS x")
    assert error.value.condition == "SQL_SYNTAX"
    with pytest.raises(RowkindError) as error:
        parse("USE CATALOG x")
    assert error.value.condition == "STATEMENT_NOT_SUPPORTED"


@pytest.mark.parametrize(
    ("text", "sent"),
    [("SELECT 1", False), ("SELECT 1;", True), ("", True), ("\\d", True), ("quit", True), ("SELECT\n1 ; ", True)],
)
def test_enter_sends_what_is_complete(text: str, sent: bool) -> None:
    assert complete(text) is sent


def test_short_names() -> None:
    assert [expanded(short) for short in ("\\d", "\\d t;", "\\q")] == ["SHOW TABLES", "DESCRIBE t", "QUIT"]


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("SEL", ["SELECT"]),
        ("SELECT * FROM ord", ["ORDER", "orders"]),
        ("CREATE TABLE t (a INT) WITH ('conn", ["connector"]),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'up", ["upsert-kafka"]),
    ],
)
def test_completion(text: str, offered: list[str]) -> None:
    options = {"connector": ("kafka", "upsert-kafka"), "format": ("json",)}
    completer = SqlCompleter(lambda: ["orders", "UPPER"], lambda: options)
    found = completer.get_completions(Document(text), CompleteEvent())
    assert [completion.text for completion in found] == offered


def shell(folder: Path, *arguments: str) -> pexpect.spawn[str]:
    command = ["-c", "from rowkind.cli import main; main()", "sql", *arguments]
    env = {"PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "dumb", "XDG_STATE_HOME": str(folder)}
    import os

    return pexpect.spawn(
        sys.executable, command, env={**os.environ, **env}, encoding="utf-8", timeout=SECONDS, dimensions=(40, 160)
    )


@pytest.mark.kafka
@pytest.mark.spark
@pytest.mark.fault
def test_a_session_at_a_terminal(tmp_path: Path, kafka_client: KafkaClient, topic: TopicFactory) -> None:
    source = topic()
    kafka_client.produce(source, [(None, '{"n":1,"s":"NULL"}'), (None, '{"n":2}')])
    (tmp_path / "tables.sql").write_text(TABLES.format(topic=source, kafka=kafka_client.bootstrap))
    terminal = shell(tmp_path)
    terminal.expect_exact(PROMPT)
    terminal.sendline(f"SOURCE '{tmp_path}/tables.sql';")
    terminal.expect_exact(PROMPT)
    terminal.sendline("\\d")
    terminal.expect_exact("| numbers")
    terminal.sendline("SELECT x FROM numbers;")
    terminal.expect_exact("UNKNOWN_COLUMN")
    terminal.expect(r"\| +\^")
    terminal.sendline("SELECT * FROM numbers;")
    terminal.expect(r"\| \+I \| 1 +\| 'NULL' ")
    terminal.expect(r"\| \+I \| 2 +\| NULL ")
    terminal.sendintr()
    terminal.expect_exact("2 rows, ")
    terminal.sendline("INSERT INTO copies SELECT * FROM numbers;")
    terminal.expect_exact("Job 'copies' runs in the background")
    terminal.sendline("SHOW JOBS;")
    terminal.expect(r"\| copies +\| running")
    terminal.sendline("STOP JOB 'copies';")
    terminal.expect_exact("Job 'copies' is stopped.")
    terminal.sendline("\\q")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    assert "SHOW JOBS" in (tmp_path / "rowkind" / "history").read_text()


def test_the_prompt_does_not_wait_for_spark(tmp_path: Path) -> None:
    terminal = shell(tmp_path, "--master", "spark://nowhere.invalid:1")
    terminal.expect_exact(PROMPT)
    terminal.sendline("\\h")
    terminal.expect_exact("SHOW JOBS; STOP JOB")
    terminal.sendline("\\q")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0


@pytest.mark.parametrize(("text", "code"), [("SHOW FUNCTIONS;", 0), ("SELEC 1;", 1)])
def test_a_text_of_the_command_line(tmp_path: Path, text: str, code: int) -> None:
    done = run(tmp_path / "o", "sql", "-e", text, "--master", "spark://nowhere.invalid:1", "--format", "csv")
    assert done.process.returncode == code, done.err
    assert ("UPPER" in done.out.splitlines()) is (code == 0)
    assert ("[SQL_SYNTAX]" in done.err) is (code == 1)
