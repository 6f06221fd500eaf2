"""A statement as a row of tokens, cut by sqlglot's MySQL dialect, and the small steps of reading them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot.errors import SqlglotError

from rowkind.connectors.mysql.schemas import TableId

_BEFORE = "- "


class Unparsed(Exception):
    """A statement that does not read as expected; the text says where."""


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    kind: str
    """word, name (quoted), string, number or sign."""

    @property
    def word(self) -> str:
        """What it is as a keyword; a quoted name is none."""
        return self.text.upper() if self.kind == "word" else ""


class Tokens:
    """A place in the tokens of one statement."""

    def __init__(self, text: str, tokens: list[Token] | None = None, folds: bool = False) -> None:
        self.text = text
        self._folds = folds
        self._tokens = _cut(text) if tokens is None else tokens
        self._at = 0

    @property
    def done(self) -> bool:
        return self._at >= len(self._tokens)

    def peek(self, ahead: int = 0) -> Token:
        place = self._at + ahead
        return self._tokens[place] if place < len(self._tokens) else Token("", "sign")

    def take(self) -> Token:
        if self.done:
            raise Unparsed("it ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def accept(self, *words: str) -> bool:
        """Take these words if they come next, all of them."""
        if all(self.peek(i).word == word or self.peek(i).text == word for i, word in enumerate(words)):
            self._at += len(words)
            return True
        return False

    def accept_any(self, *words: str) -> str | None:
        return next((word for word in words if self.accept(word)), None)

    def expect(self, *words: str) -> None:
        if not self.accept(*words):
            raise Unparsed(f"expected {' '.join(words)} at {self.peek().text!r}")

    def name(self) -> str:
        """An identifier."""
        token = self.take()
        if token.kind not in ("word", "name", "string"):
            raise Unparsed(f"expected a name at {token.text!r}")
        return token.text

    def table(self, database: str) -> TableId:
        """A table's name, with its database or in the current one."""
        first = self.name()
        found = TableId(first, self.name()) if self.accept(".") else TableId(database, first)
        return found.lower() if self._folds else found

    def parenthesis(self) -> Tokens:
        """What stands between the next pair of parentheses."""
        self.expect("(")
        first, depth = self._at, 1
        while depth:
            text = self.take()
            depth += (text.text == "(" and text.kind == "sign") - (text.text == ")" and text.kind == "sign")
        return Tokens(self.text, self._tokens[first : self._at - 1], self._folds)

    def parts(self) -> list[Tokens]:
        """The rest, cut at commas that are in no parentheses."""
        found: list[list[Token]] = [[]]
        depth = 0
        while not self.done:
            token = self.take()
            if token.kind == "sign":
                depth += (token.text == "(") - (token.text == ")")
                if token.text == "," and not depth:
                    found.append([])
                    continue
            found[-1].append(token)
        return [Tokens(self.text, tokens, self._folds) for tokens in found if tokens]


def _cut(text: str) -> list[Token]:
    import sqlglot

    try:
        # At the very start RENAME would be a command, whose rest is one token.
        found = sqlglot.tokenize(_BEFORE + text, read="mysql")[1:]
    except SqlglotError as error:
        raise Unparsed(str(error).splitlines()[0]) from error
    return [token for each in found for token in _tokens(each)]


def _tokens(token: Any) -> list[Token]:
    kind = token.token_type.name
    if kind == "IDENTIFIER":
        return [Token(token.text, "name")]
    if kind in ("STRING", "NATIONAL_STRING", "RAW_STRING", "HEX_STRING", "BIT_STRING"):
        return [Token(token.text, "string")]
    if kind == "NUMBER":
        return [Token(token.text, "number")]
    wordlike = token.text[:1].isalpha() or token.text[:1] in "_$" or ord(token.text[:1] or " ") > 127
    # Some keywords of several words, such as PRIMARY KEY, are one token.
    return [Token(text, "word" if wordlike else "sign") for text in token.text.split()]
