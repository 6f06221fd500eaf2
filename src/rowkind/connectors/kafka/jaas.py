"""The text of `sasl.jaas.config`: one login module, a flag, and options."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from rowkind.errors import RowkindError

_FLAGS = ("required", "requisite", "sufficient", "optional")
_TOKEN = re.compile(r"""\s*(?:(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<sign>[=;])|(?P<word>[^\s=;"']+))""")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class Token(NamedTuple):
    """A word or a value; `sign` tells the semicolon of the text from one inside quotes."""

    text: str
    sign: bool = False


END, EQUALS = Token(";", True), Token("=", True)


@dataclass(frozen=True, slots=True)
class LoginModule:
    """A login module by its short class name, with its options."""

    name: str
    options: dict[str, str] = field(repr=False)


def parse(text: str) -> LoginModule:
    """Read the one login module of a JAAS text. The text is secret, so no error quotes it.

    >>> parse('a.b.PlainLoginModule required username="ann" password="x";').options["username"]
    'ann'
    """
    tokens = _tokens(text)
    if len(tokens) < 3 or tokens[-1] != END:
        raise _malformed("it must be a login module, a flag such as required, options, and a final semicolon")
    module, flag, *rest = tokens[:-1]
    if flag.text.lower() not in _FLAGS:
        raise _malformed(f"the word after the login module must be one of {', '.join(_FLAGS)}")
    if END in rest:
        raise _malformed("it must hold exactly one login module")
    return LoginModule(module.text.rpartition(".")[2], _options(rest))


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    text, end = text.strip(), 0
    while end < len(text):
        match = _TOKEN.match(text, end)
        if not match:
            raise _malformed("a quoted value is not closed")
        word = _unquoted(match["quoted"]) if match["quoted"] else match["word"]
        found.append(Token(match["sign"], True) if match["sign"] else Token(word))
        end = match.end()
    return found


def _unquoted(token: str) -> str:
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), token[1:-1], flags=re.DOTALL)


def _options(tokens: list[Token]) -> dict[str, str]:
    names, signs, values = tokens[0::3], tokens[1::3], tokens[2::3]
    if len(tokens) % 3 or any(s != EQUALS for s in signs) or any(t.sign for t in names + values):
        raise _malformed('options must be written name="value", separated by blanks')
    return {name.text: value.text for name, value in zip(names, values, strict=True)}


def _malformed(reason: str) -> RowkindError:
    return RowkindError("KAFKA_JAAS_MALFORMED", reason=reason)
