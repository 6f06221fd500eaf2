"""Flink's lexical rules, and a cursor over the tokens that every part of the grammar shares."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from difflib import get_close_matches
from typing import ClassVar, TypeVar

from sqlglot import exp
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from rowkind.errors import RowkindError
from rowkind.sql.errors import Source, line_starts

T = TypeVar("T")
Node = TypeVar("Node", bound=exp.Expr)

_DELIMITED = frozenset({TokenType.STRING, TokenType.IDENTIFIER, TokenType.UNICODE_STRING, TokenType.NATIONAL_STRING})
STRINGS = frozenset({TokenType.STRING, TokenType.UNICODE_STRING})


class FlinkTokenizer(Tokenizer):
    """Words are plain words: the grammar decides which of them are keywords where."""

    QUOTES: ClassVar = ["'"]
    STRING_ESCAPES: ClassVar = ["'"]
    IDENTIFIERS: ClassVar = ["`"]
    UNICODE_STRINGS: ClassVar = [("U&'", "'"), ("u&'", "'")]
    COMMENTS: ClassVar = ["--", "//", ("/*", "*/")]
    NESTED_COMMENTS = False
    COMMANDS: ClassVar = set()
    TOKENS_PRECEDING_HINT: ClassVar = {TokenType.VAR, TokenType.IDENTIFIER}
    KEYWORDS: ClassVar = {
        "/*+": TokenType.HINT,
        "||": TokenType.DPIPE,
        ">=": TokenType.GTE,
        "<=": TokenType.LTE,
        "<>": TokenType.NEQ,
        "!=": TokenType.NEQ,
        "=>": TokenType.FARROW,
    }


RESERVED = frozenset(
    word
    for line in (
        "ALL AND ANY ARRAY AS BETWEEN BY CASE CAST CONSTRAINT CREATE CROSS DISTINCT DROP ELSE END EXCEPT",
        "EXISTS FALSE FETCH FOR FROM FULL GROUP HAVING IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN",
        "LATERAL LEFT LIKE LIMIT MATCH_RECOGNIZE MINUS NATURAL NOT NULL OFFSET ON OR ORDER OUTER OVER",
        "PARTITION PRIMARY QUALIFY RIGHT ROW ROWS SELECT SIMILAR SOME TABLE TABLESAMPLE THEN TRUE TRY_CAST UNION",
        "UNNEST USING VALUES WATERMARK WHEN WHERE WINDOW WITH",
    )
    for word in line.split()
)
"""Words that are never names unless they stand in back quotes. Flink reserves more; these are the ones that must be."""


_OTHERS = ("COMMENT", "ENFORCED", "EXECUTE", "EXPLAIN", "METADATA", "OVERWRITE", "SHOW", "TABLES", "TEMPORARY", "VIEW")
_CLAUSES = sorted(w for w in (*RESERVED, *_OTHERS) if len(w) > 3)


def tokenize(source: Source) -> list[Token]:
    """All tokens; `line` and `col` are where a token starts in the script, from 1, `start` and `end` are offsets."""
    text = source.text
    try:
        tokens = FlinkTokenizer().tokenize(text.replace("\ufeff", " ", 1) if text.startswith("\ufeff") else text)
    except TokenError:
        raise _unterminated(source) from None
    starts = line_starts(text)
    for token in tokens:
        if token.token_type is TokenType.UNKNOWN:
            raise source.error("DOUBLE_QUOTES", token.start)
        row = bisect_right(starts, token.start) - 1
        token.line = source.line + row
        token.col = token.start - starts[row] + (source.column if row == 0 else 1)
    return tokens


_CLOSED = re.compile(r"'(?:[^']|'')*+'|`(?:[^`]|``)*+`|--[^\n]*|//[^\n]*|/\*.*?\*/", re.S)
_OPEN = {"'": ("string", "'"), "`": ("quoted name", "`"), "/*": ("comment", "*/")}


def _unterminated(source: Source) -> RowkindError:
    """The first quote or comment that is left when all closed ones are blanked out."""
    left = _CLOSED.sub(lambda m: " " * len(m[0]), source.text)
    match = re.search(r"'|`|/\*", left)
    assert match
    match = _first_open(source.text, match.start()) or match
    what, closing = _OPEN[match[0]]
    return source.error("UNTERMINATED_TEXT", match.start(), what=what, closing=closing)


_NEXT_STATEMENT = re.compile(
    r"(?:^|;)\s*(?:CREATE|INSERT|SELECT|SET|DROP|SHOW|EXPLAIN|DESCRIBE|EXECUTE|WITH)\b", re.I | re.M
)


def _first_open(text: str, last: int) -> re.Match[str] | None:
    """Where a quote was forgotten, the next one closes it and each after it opens: the last one has no partner.

    A text over several lines that other quotes or another statement follow on is the one that was meant to end before.
    """
    for closed in _CLOSED.finditer(text, 0, last):
        if closed[0][0] in "'`" and "\n" in closed[0] and not text[closed.end() : closed.end() + 1].isspace():
            return re.compile(r"'|`").match(text, closed.start())
        if closed[0][0] in "'`" and "\n" in closed[0] and _NEXT_STATEMENT.search(closed[0], closed[0].index("\n")):
            return re.compile(r"'|`").match(text, closed.start())
    return None


class Cursor:
    """A place in a list of tokens. Words and symbols are matched by text, in any case, unless they are quoted."""

    def __init__(self, source: Source, tokens: list[Token] | None = None, end: int | None = None) -> None:
        self.source = source
        self.tokens = tokenize(source) if tokens is None else tokens
        self.index = 0
        end = len(source.text) if end is None else end
        line, column = source.position(end)
        self._end = Token(TokenType.SENTINEL, "", line=line, col=column, start=end, end=end)

    @property
    def token(self) -> Token:
        return self.peek()

    def peek(self, ahead: int = 0) -> Token:
        index = self.index + ahead
        return self.tokens[index] if index < len(self.tokens) else self._end

    @property
    def done(self) -> bool:
        return self.index >= len(self.tokens)

    def word(self, ahead: int = 0) -> str:
        """The word or symbol ahead in upper case; nothing for a string or a quoted name."""
        token = self.peek(ahead)
        return "" if token.token_type in _DELIMITED else token.text.upper()

    def at(self, *words: str) -> bool:
        return all(self.word(i) == w for i, w in enumerate(words))

    def accept(self, *words: str) -> Token | None:
        """Step over these words and give the first of their tokens, or stay."""
        if not self.at(*words):
            return None
        first = self.token
        self.index += len(words)
        return first

    def accept_one(self, *words: str) -> str | None:
        """Step over one of several words."""
        if (word := self.word()) and word in words:
            self.index += 1
            return word
        return None

    def expect(self, *words: str) -> Token:
        for i, word in enumerate(words):
            if self.word(i) != word:
                self.index += i
                raise self.unexpected(f"{' '.join(words[i:])}")
        first = self.token
        self.index += len(words)
        return first

    def advance(self) -> Token:
        token = self.token
        self.index += 1
        return token

    def is_name(self, ahead: int = 0) -> bool:
        token = self.peek(ahead)
        if token.token_type is TokenType.VAR:
            return token.text.upper() not in RESERVED
        return token.token_type is TokenType.IDENTIFIER

    def name(self, what: str) -> exp.Identifier:
        """A plain or back-quoted name."""
        token = self.token
        if not self.is_name():
            if token.token_type is TokenType.VAR:
                raise self.error("RESERVED_WORD", token, word=token.text, expected=what)
            raise self.unexpected(what)
        self.index += 1
        if token.token_type is TokenType.IDENTIFIER and not token.text:
            raise self.error("SQL_SYNTAX", token, expected=what, found="an empty name")
        return placed(exp.Identifier(this=token.text, quoted=token.token_type is TokenType.IDENTIFIER), token)

    def string(self, what: str) -> str:
        token = self.token
        if token.token_type not in STRINGS:
            raise self.unexpected(what)
        self.index += 1
        return decode_unicode(self, token) if token.token_type is TokenType.UNICODE_STRING else token.text

    def integer(self, what: str) -> int:
        token = self.token
        if token.token_type is not TokenType.NUMBER or not token.text.isdigit():
            raise self.unexpected(what)
        self.index += 1
        return int(token.text)

    def separated(self, item: Callable[[], T]) -> list[T]:
        """One or more items with commas between them."""
        items = [item()]
        while self.accept(","):
            items.append(item())
        return items

    def wrapped(self, item: Callable[[], T]) -> list[T]:
        """The same in parentheses."""
        self.expect("(")
        items = self.separated(item)
        self.expect(")")
        return items

    def text_between(self, start: int, end: int) -> str:
        """The source of the tokens from index `start` up to, not including, `end`."""
        return self.source.text[self.tokens[start].start : self.tokens[end - 1].end + 1]

    def error(self, condition: str, token: Token | None = None, /, **params: object) -> RowkindError:
        return self.source.error(condition, (token or self.token).start, **params)

    def unexpected(self, expected: str) -> RowkindError:
        found = self.describe(self.token) + self._misspelt()
        return self.error("SQL_SYNTAX", expected=expected, found=found)

    def _misspelt(self) -> str:
        """A keyword that this word, or the one before it that was taken for an alias, may have been meant to be."""
        words = (self.word(), self.word(-1) if self.index else "")
        close = (get_close_matches(w, _CLAUSES, n=1, cutoff=0.7) for w in words if len(w) > 3 and w not in _CLAUSES)
        return next((f"; did you mean {c[0]}?" for c in close if c), "")

    def describe(self, token: Token) -> str:
        if token.token_type is TokenType.SENTINEL:
            return "the end of the text"
        return f"`{text}`" if "'" in (text := self.source.text[token.start : token.end + 1]) else f"'{text}'"


def placed(node: Node, token: Token) -> Node:
    """The node with the token's position in its `meta`: line, col, start, end."""
    node.update_positions(token)
    return node


def decode_unicode(cursor: Cursor, token: Token) -> str:
    """U&'\\00e9' [UESCAPE '!']: four hexadecimal digits after the escape character, or that character twice."""
    escape = "\\"
    if cursor.accept("UESCAPE"):
        escape = cursor.advance().text
    mark = re.escape(escape)

    def replace(match: re.Match[str]) -> str:
        if match[0] == escape * 2:
            return escape
        if match[1] is None:
            raise cursor.error("SQL_SYNTAX", token, expected=f"four hexadecimal digits after {escape}", found=match[0])
        return chr(int(match[1], 16))

    decoded = re.sub(f"{mark}(?:{mark}|([0-9A-Fa-f]{{4}})|)", replace, token.text)
    return decoded.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
