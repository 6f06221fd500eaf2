"""Java patterns for topic names."""

from __future__ import annotations

import pytest

from rowkind.options.java_regex import python_pattern


@pytest.mark.parametrize(
    ("java", "matches", "does_not"),
    [
        ("orders", ["orders"], ["orders2", "xorders"]),
        ("orders-.*", ["orders-", "orders-eu"], ["orders"]),
        ("a|b", ["a", "b"], ["ab"]),
        (r"t\.\d{2,3}", ["t.12", "t.123"], ["tx12", "t.1"]),
        (r"\Qa.b\E.*", ["a.b", "a.bc"], ["axb"]),
        (r"\Qa.b", ["a.b"], ["axb"]),
        (r"\p{Alpha}+\p{Digit}", ["ab1"], ["ab", "a-1"]),
        (r"\P{Digit}+", ["ab-"], ["a1"]),
        (r"[\p{Upper}_]+", ["A_B"], ["a_b"]),
        (r"\pL+", ["abC"], ["a1"]),
        (r"(?<env>dev|prod)-\k<env>", ["dev-dev"], ["dev-prod"]),
        (r"(dev|prod)-\1", ["dev-dev"], ["dev-prod"]),
        ("(?i)Orders", ["ORDERS", "orders"], ["order"]),
        ("a(?i:B)c", ["abc", "aBc"], ["Abc"]),
        ("(?!test)[a-z]+", ["prod"], ["testing"]),
        ("[^a-c]+", ["def"], ["dec"]),
        (r"[\w.\-]+", ["a_b.c-d"], [""]),
        ("a++b", ["aab"], ["b"]),
        ("(?>a|ab)c", ["ac"], ["abc"]),
        (r"\x{61}b\u0063\x64", ["abcd"], ["abc"]),
        (r"\Aabc\z", ["abc"], ["abcd"]),
        ("[]a]+", ["a", "]"], ["b"]),
    ],
)
def test_patterns(java: str, matches: list[str], does_not: list[str]) -> None:
    pattern = python_pattern(java)
    assert [m for m in matches if not pattern.fullmatch(m)] == []
    assert [m for m in does_not if pattern.fullmatch(m)] == []


@pytest.mark.parametrize(
    ("java", "reason"),
    [
        ("[a-z&&[^b]]", "intersection"),
        ("[a[b]]", "union"),
        (r"\p{IsGreek}", "IsGreek"),
        (r"\Gabc", "previous match"),
        (r"a\R", "line break"),
        ("a(?i)b", "middle"),
        ("a{x}", "repetition"),
        ("[abc", "not closed"),
        ("(abc", "missing"),
        ("*a", "nothing to repeat"),
        ("a\\", "backslash"),
        (r"\y", "escape"),
        ("(?<=a+)b", "look-behind"),
        (r"[\P{Digit}]", "negated"),
    ],
)
def test_what_cannot_be_had_is_named(java: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        python_pattern(java)
