"""Variables in a script: `${NAME}` and `${NAME:-default}`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rowkind.errors import nearest
from rowkind.sql.errors import Source

_VARIABLE = re.compile(r"\$(?P<literal>\$)?\{(?P<name>[A-Za-z_][A-Za-z0-9_.\-]*?)(?::-(?P<default>[^}]*))?\}")


def substitute(text: str, variables: Mapping[str, str], file: str | None = None) -> str:
    """The script with its variables filled in; `$${NAME}` stays as `${NAME}`.

    >>> substitute("SET 'topic' = '${T:-orders}'", {})
    "SET 'topic' = 'orders'"
    """

    def value(match: re.Match[str]) -> str:
        if match["literal"]:
            return match[0][1:]
        if match["name"] in variables:
            return variables[match["name"]]
        if match["default"] is not None:
            return match["default"]
        suggestion = nearest(match["name"], variables)
        raise Source(text, file).error("UNKNOWN_VARIABLE", match.start(), name=match["name"], suggestion=suggestion)

    return _VARIABLE.sub(value, text)
