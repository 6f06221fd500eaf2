"""Java regular expressions as Python's, for topic names; what Python cannot express is refused by name.

Topic names hold ASCII letters, digits, `.`, `_` and `-` only, so ASCII forms of the named classes are exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_CLASSES = {
    **dict.fromkeys(("Lower", "Ll", "javaLowerCase", "IsLowercase", "IsLl"), "a-z"),
    **dict.fromkeys(("Upper", "Lu", "javaUpperCase", "IsUppercase", "IsLu"), "A-Z"),
    **dict.fromkeys(("Alpha", "L", "IsAlphabetic", "IsL", "javaLetter", "javaAlphabetic"), "a-zA-Z"),
    **dict.fromkeys(("Digit", "N", "Nd", "IsDigit", "IsN", "IsNd", "javaDigit"), "0-9"),
    **dict.fromkeys(("Alnum", "javaLetterOrDigit"), "a-zA-Z0-9"),
    **dict.fromkeys(("Punct", "P", "IsPunctuation"), r"!-/:-@\[-`{-~"),
    "Graph": "!-~",
    "Print": " -~",
    "ASCII": r"\x00-\x7f",
    "XDigit": "0-9a-fA-F",
    "Blank": r" \t",
    "Space": r" \t-\r",
    "Cntrl": r"\x00-\x1f\x7f",
}
_PLAIN = frozenset("dDwWsSbBA")
_CONTROL = {"t": r"\t", "n": r"\n", "r": r"\r", "f": r"\f", "a": r"\x07", "e": r"\x1b"}
_NOT_IN_PYTHON = {
    "G": "the end of the previous match (\\G)",
    "R": "a line break (\\R)",
    "X": "a grapheme (\\X)",
    "N": "a character by name (\\N)",
    "h": "horizontal white space (\\h)",
    "H": "no horizontal white space (\\H)",
    "v": "vertical white space (\\v)",
    "V": "no vertical white space (\\V)",
    "c": "a control character (\\c)",
}


def python_pattern(java: str) -> re.Pattern[str]:
    """The pattern, to be used with `fullmatch`. ValueError says what cannot be expressed, or what is wrong.

    >>> bool(python_pattern("orders-\\\\p{Digit}+").fullmatch("orders-17"))
    True
    """
    try:
        return re.compile("".join(_Translation(java)), re.ASCII)
    except re.error as error:
        raise ValueError(f"{error}") from None


class _Translation:
    """One pass over a pattern, piece by piece."""

    def __init__(self, java: str) -> None:
        self.java = java
        self.at = 0

    def __iter__(self) -> Iterator[str]:
        steps: dict[str, Callable[[], str]] = {
            "\\": lambda: self._escape(in_class=False),
            "[": self._class,
            "(": self._group,
            "{": self._repetition,
        }
        while self.at < len(self.java):
            step = steps.get(self.java[self.at])
            yield step() if step else self._take(1)

    def _take(self, count: int) -> str:
        piece = self.java[self.at : self.at + count]
        self.at += count
        return piece

    def _take_match(self, pattern: str) -> re.Match[str] | None:
        match = re.compile(pattern, re.DOTALL).match(self.java, self.at)
        if match:
            self.at = match.end()
        return match

    def _escape(self, in_class: bool) -> str:
        if match := self._take_match(r"\\Q(.*?)(?:\\E|$)"):
            return re.escape(match[1])
        if match := self._take_match(r"\\([pP])(?:\{(\^?)(\w+)\}|(\w))"):
            return self._named_class(match, in_class)
        if match := self._take_match(r"\\k<(\w+)>"):
            return f"(?P={match[1]})"
        if match := self._take_match(r"\\x\{([0-9a-fA-F]+)\}|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})"):
            return re.escape(chr(int(match[1] or match[2] or match[3], 16)))
        if match := self._take_match(r"\\0([0-3]?[0-7]{1,2})"):
            return re.escape(chr(int(match[1], 8)))
        if match := self._take_match(r"\\b\{g\}"):
            raise ValueError("Python cannot express a grapheme boundary (\\b{g})")
        return self._simple_escape()

    def _simple_escape(self) -> str:
        letter = self._take(2)[1:]
        if not letter:
            raise ValueError("it ends in a lone backslash")
        if letter in _NOT_IN_PYTHON:
            raise ValueError(f"Python cannot express {_NOT_IN_PYTHON[letter]}")
        if letter in "zZ":
            return r"\Z"
        if letter in _CONTROL:
            return _CONTROL[letter]
        if letter in _PLAIN or letter.isdigit():
            return "\\" + letter
        if letter.isalpha() and letter.isascii():
            raise ValueError(f"\\{letter} is not a known escape")
        return re.escape(letter)

    def _named_class(self, match: re.Match[str], in_class: bool) -> str:
        name = match[3] or match[4]
        if name not in _CLASSES:
            raise ValueError(f"Python cannot express the character class \\{match[1]}{{{name}}}")
        negated = (match[1] == "P") != (match[2] == "^")
        if in_class and negated:
            raise ValueError(f"Python cannot express the negated class \\{match[1]}{{{name}}} inside [ ]")
        return _CLASSES[name] if in_class else f"[{'^' if negated else ''}{_CLASSES[name]}]"

    def _class(self) -> str:
        """A character class; Java's unions and intersections of classes have no counterpart."""
        opening = self._take_match(r"\[\^?")
        assert opening
        parts = [opening[0]]
        while self.at < len(self.java):
            letter = self.java[self.at]
            if letter == "]" and len(parts) > 1:
                return "".join([*parts, self._take(1)])
            if letter == "[":
                raise ValueError("Python cannot express a union of character classes ([a[b]])")
            if self.java.startswith("&&", self.at):
                raise ValueError("Python cannot express an intersection of character classes ([a&&[b]])")
            # Python warns about these pairs, which it keeps free for set operations.
            parts.append(self._escape(in_class=True) if letter == "\\" else self._class_letter(letter))
        raise ValueError("a character class is not closed")

    def _class_letter(self, letter: str) -> str:
        self.at += 1
        return "\\" + letter if letter in "]&~|" else letter

    def _group(self) -> str:
        if match := self._take_match(r"\(\?<([a-zA-Z]\w*)>"):
            return f"(?P<{match[1]}>"
        if match := self._take_match(r"\(\?(?:[:=!>]|<[=!])"):
            return match[0]
        if match := self._take_match(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])"):
            return self._flags(match)
        if self.java.startswith("(?", self.at):
            raise ValueError(f"'{self.java[self.at : self.at + 3]}' does not start a group")
        return self._take(1)

    def _flags(self, match: re.Match[str]) -> str:
        """Flags about Unicode and line ends make no difference to topic names."""
        on, off = ("".join(f for f in flags or "" if f not in "duU") for flags in (match[1], match[2]))
        if match[3] == ":":
            return f"(?{on}{'-' + off if off else ''}:"
        if match.start() != 0:
            raise ValueError(f"Python cannot express flags in the middle of a pattern ({match[0]}); use (?i:…)")
        return f"(?{on})" if on else ""

    def _repetition(self) -> str:
        match = self._take_match(r"\{\d+(,\d*)?\}")
        if not match:
            raise ValueError("'{' does not start a repetition such as {2,3}; write \\{")
        return match[0]
