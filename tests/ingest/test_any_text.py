"""Whatever a job file holds, it is a job or a named error."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rowkind.errors import RowkindError
from rowkind.ingest.loading import parse_job
from rowkind.ingest.place import Place
from rowkind.ingest.projection import parse_filter, parse_projection
from rowkind.ingest.routes import expanded
from rowkind.ingest.selectors import route_pattern, selectors
from rowkind.ingest.variables import Text

PAGE = (Path(__file__).parent / "fixtures" / "vendor.yaml").read_text("utf-8").replace("${", "").replace("}", "")
PIECES = st.sampled_from(
    [
        "*",
        "&a",
        "!!x",
        "{",
        "}",
        "[",
        "- ",
        ": ",
        "${",
        "}",
        "\t",
        "\n",
        "|",
        ">",
        '"\\UFFFFFFFF"',
        "$1",
        "\\",
        "'",
        "\x00",
    ]
)
PATTERNS = st.text(alphabet="ab.*\\,(){}[]|^$+?-1 &p<:!", max_size=12)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(PAGE)), PIECES | st.text(max_size=5), st.integers(0, 12))
def test_a_damaged_job_file(at: int, piece: str, cut: int) -> None:
    with suppress(RowkindError):
        parse_job(PAGE[:at] + piece + PAGE[at + cut :], "job.yaml", checkpoint="/checkpoint")


@settings(max_examples=150, deadline=None)
@given(PATTERNS, PATTERNS)
def test_any_pattern(pattern: str, target: str) -> None:
    with suppress(ValueError):
        selectors(pattern).matches("ab", "a1")
    with suppress(ValueError, RowkindError):
        found = route_pattern(pattern)
        job = f"{_JOB}route:\n  - source-table: {_quoted(pattern)}\n    sink-table: {_quoted(target)}\n"
        (rule,) = parse_job(job).routes
        if match := found.match("ab", "a1"):
            expanded(rule.target, match)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab1 ,*.()'`=<>+-\\|;A", max_size=14))
def test_any_expression(text: str) -> None:
    for parse in (parse_projection, parse_filter):
        with suppress(RowkindError):
            parse(Text(text, Place("job.yaml", 3, 5)))


_JOB = """\
source: {type: mysql, hostname: h, username: u, password: p, tables: a.b}
sink: {type: print}
"""


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
