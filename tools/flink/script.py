"""Cut a SQL script into statements, for Flink."""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|`(?:[^`]|``)*`|(?P<begin>\b(?:BEGIN|CASE)\b)|(?P<end>\bEND\b)|(?P<semicolon>;)""",
    re.DOTALL | re.IGNORECASE,
)


def split(script: str) -> list[str]:
    """Statements without their semicolons; a statement set stays in one piece.

    >>> split("SELECT ';'; -- a remark;\\nSELECT 2")
    ["SELECT ';'", '-- a remark;\\nSELECT 2']
    """
    statements: list[str] = []
    start, depth = 0, 0
    for match in TOKEN.finditer(script):
        if match["begin"]:
            depth += 1
        elif match["end"]:
            depth -= 1
        elif match["semicolon"] and not depth:
            statements.append(script[start : match.start()])
            start = match.end()
    statements.append(script[start:])
    return [statement.strip() for statement in statements if TOKEN.sub(_blank_comment, statement).strip()]


def _blank_comment(match: re.Match[str]) -> str:
    return " " if match[0].startswith(("--", "/*")) else match[0]
