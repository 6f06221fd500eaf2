"""Cut a SQL script into statements, for Flink."""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|`(?:[^`]|``)*`|(?P<begin>\bBEGIN\b)|(?P<end>\bEND\b)|(?P<semicolon>;)""",
    re.DOTALL | re.IGNORECASE,
)


def split(script: str) -> list[str]:
    """Statements without their semicolons; a statement set stays in one piece.

    >>> split("SELECT ';'; -- a remark;\\nSELECT 2")
    ["SELECT ';'", '-- a remark;\\nSELECT 2']
    """
    statements: list[str] = []
    start, block = 0, False
    for match in TOKEN.finditer(script):
        if match["begin"]:
            block = True
        elif match["end"] and _ends_block(script, match.end()):
            block = False
        elif match["semicolon"] and not block:
            statements.append(script[start : match.start()])
            start = match.end()
    statements.append(script[start:])
    return [statement.strip() for statement in statements if TOKEN.sub(_blank_comment, statement).strip()]


def _ends_block(script: str, position: int) -> bool:
    """CASE … END is followed by anything, the END of a statement set by a semicolon or nothing."""
    return re.match(r"\s*(;|$)", script[position:]) is not None


def _blank_comment(match: re.Match[str]) -> str:
    return " " if match[0].startswith(("--", "/*")) else match[0]
