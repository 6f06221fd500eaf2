"""LIKE and SIMILAR TO. Flink has no default escape character, Spark's is the backslash."""

from __future__ import annotations

import re

from rowkind.plan.expressions.typed import Typed, text

_END = chr(92) + "z"


def like(value: Typed, pattern: Typed, escape: Typed | None) -> str | None:
    if escape is not None:
        return f"({value.sql} LIKE {pattern.sql} ESCAPE {escape.sql})" if escape.constant is not None else None
    if isinstance(pattern.constant, str):
        return f"({value.sql} LIKE {text(pattern.constant.replace(chr(92), chr(92) * 2))})"
    doubled = f"replace({pattern.sql}, {text(chr(92))}, {text(chr(92) * 2)})"
    return f"({value.sql} LIKE {doubled})"


def similar(value: Typed, pattern: Typed, escape: Typed | None) -> str | None:
    if not isinstance(pattern.constant, str) or (escape and not isinstance(escape.constant, str)):
        return None
    regex = similar_regex(pattern.constant, str(escape.constant) if escape else "")
    return f"({value.sql} RLIKE {text(f'^(?s:{regex})' + _END)})"


def similar_regex(pattern: str, escape: str) -> str:
    """A SQL regular expression as a Java one: % is .*, _ is any character; brackets and the rest are as they are.

    >>> similar_regex("a%(b|c)_", "")
    'a.*(b|c).'
    """
    found: list[str] = []
    in_brackets = False
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if escape and character == escape and position + 1 < len(pattern):
            position += 1
            found.append(re.escape(pattern[position]))
        elif in_brackets:
            in_brackets = character != "]"
            found.append(character)
        elif character == "[":
            in_brackets = True
            found.append(character)
        else:
            found.append({"%": ".*", "_": "."}.get(character, character))
        position += 1
    return "".join(found)
