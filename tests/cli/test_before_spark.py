"""What is wrong with a script is told at its place, before Spark is started or any job runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rowkind.cli import app
from rowkind.cli.run import checked
from rowkind.errors import RowkindError

TABLE = """CREATE TABLE t (a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 't',
    'properties.bootstrap.servers' = 'nowhere:1',
    'key.format' = 'json', 'value.format' = 'json'
);
"""


def refused(tmp_path: Path, text: str, **more: Path) -> RowkindError:
    file = tmp_path / "job.sql"
    file.write_text(text)
    with pytest.raises(RowkindError) as error:
        checked([file], None, None, **more)
    assert f"{file}, line {error.value.params['line']}" in str(error.value)
    return error.value


@pytest.mark.parametrize(
    ("text", "condition", "line", "word"),
    [
        (TABLE.replace("'topic'", "'topik'") + "SELECT * FROM t;", "UNKNOWN_OPTION", 3, "'topik'"),
        (
            TABLE.replace("'upsert-kafka'", "'upsert-kafak'") + "SELECT * FROM t;",
            "UNKNOWN_CONNECTOR",
            2,
            "'upsert-kafak'",
        ),
        (TABLE.replace("KEY (a)", "KEY (x)"), "PRIMARY_KEY_COLUMN_MISSING", 1, "x)"),
        (TABLE + "SET 'table.dml-sync' = 'maybe';", "INVALID_SESSION_VALUE", 7, "'table.dml-sync'"),
        (TABLE + "SET 'tabel.dml-sync' = 'true';", "UNKNOWN_SESSION_OPTION", 7, "'tabel.dml-sync'"),
        (TABLE + "SELECT b FROM t;\nSELECT c FROM t WHERE UPPER(b) = 'X';", "UNKNOWN_COLUMN", 8, "c"),
        (TABLE + "SELECT UPPER(b) FROM t;\nINSERT INTO\n  u SELECT 1, 'a';", "NO_SUCH_TABLE", 8, "INSERT"),
        (
            TABLE + "SELECT b FROM t /*+ OPTIONS('scan.bounded.mod' = 'x') */;",
            "UNKNOWN_OPTION",
            7,
            "'scan.bounded.mod'",
        ),
    ],
)
def test_errors_have_their_place(tmp_path: Path, text: str, condition: str, line: int, word: str) -> None:
    error = refused(tmp_path, text)
    assert (error.condition, error.params["line"]) == (condition, line)
    shown = error.params["pointer"].splitlines()
    assert shown[0][shown[1].index("^") :].startswith(word)


def test_expressions_are_left_to_spark(tmp_path: Path) -> None:
    file = tmp_path / "job.sql"
    file.write_text(TABLE + "INSERT INTO t SELECT a + 1, my_function(b) || 'x' FROM t GROUP BY a, b;")
    assert len(checked([file], None, None)) == 1


def test_a_forgotten_quote_is_shown_where_it_opens(tmp_path: Path) -> None:
    error = refused(tmp_path, TABLE.replace("'topic' = 't'", "'topic' = 't") + "SELECT b FROM t WHERE b = 'x';\n")
    assert error.condition == "UNTERMINATED_TEXT"
    assert error.params["line"] in (3, 4)


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    file = tmp_path / "job.sql"
    file.write_bytes(b"SELECT 1;\nSELECT '\xe9';\n")
    with pytest.raises(RowkindError) as error:
        checked([file], None, None)
    assert (error.value.condition, error.value.params["line"]) == ("SCRIPT_NOT_UTF8", 2)


def test_an_empty_script_ends_at_once(tmp_path: Path) -> None:
    (tmp_path / "empty.sql").write_text("-- nothing\n;\n")
    done = CliRunner().invoke(app, ["run", str(tmp_path / "empty.sql")])
    assert (done.exit_code, done.output) == (0, "")


@pytest.mark.parametrize("checkpoint", ["{folder}/file", "nosuch://bucket/x"])
def test_a_checkpoint_that_cannot_be_is_refused(tmp_path: Path, checkpoint: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "job.sql").write_text("SELECT 1;")
    folder = checkpoint.replace("{folder}", str(tmp_path))
    done = CliRunner().invoke(app, ["run", str(tmp_path / "job.sql"), "--checkpoint", folder])
    assert isinstance(done.exception, RowkindError)
    assert done.exception.condition == "CHECKPOINT_UNUSABLE"


def test_secrets_of_a_file_and_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, secrets = tmp_path / "job.sql", tmp_path / "secrets.yaml"
    file.write_text("SELECT '${secret_values.one}', '${two}';")
    secrets.write_text("one: it's\n")
    secrets.chmod(0o600)
    monkeypatch.setenv("ROWKIND_SECRET_TWO", "2")
    [(_, text)] = checked([file], None, None, secrets)
    assert text == "SELECT 'it''s', '2';"


def test_help_explains_errors_and_options() -> None:
    told = CliRunner().invoke(app, ["help", "undecodable_message"]).output
    assert "scan.on-error" in told
    assert "scan.dead-letter.topic" in told
    assert "scan.startup.mode  (" in CliRunner().invoke(app, ["help", "options", "kafka"]).output
    wrong = CliRunner().invoke(app, ["help", "UNDECODABLE_MESAGE"])
    assert isinstance(wrong.exception, RowkindError)
    assert "UNDECODABLE_MESSAGE" in str(wrong.exception)


def test_shell_completion_is_offered() -> None:
    done = CliRunner().invoke(app, [], prog_name="rowkind", env={"_ROWKIND_COMPLETE": "source_bash"})
    assert "_ROWKIND_COMPLETE=complete_bash" in done.output
