"""Numbers as Java writes and reads them: the text that json and csv share with every Flink job on the same topic."""

from __future__ import annotations

import math
import re
from base64 import b64decode, b64encode
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np

_BLANK = "".join(map(chr, range(0x21)))
# Digits are matched in one way only: with two ways to divide them a long text of digits takes the square of its length.
_INTEGER = re.compile(r"[+-]?\d+")
_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?")
_FLOAT = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?")
_HEX_FLOAT = re.compile(r"([+-]?0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?")
_NOT_FINITE = re.compile(r"([+-]?)(NaN|Infinity)")
_QUAD = r"[A-Za-z0-9+/]"
_BASE64 = re.compile(rf"(?:[\x00-\x20]*(?:{_QUAD}{{4}}|{_QUAD}{{3}}=|{_QUAD}{{2}}==))*[\x00-\x20]*")
_EXACT = Context(prec=4000, rounding=ROUND_HALF_UP, Emax=999_999_999, Emin=-999_999_999)


def trimmed(text: str) -> str:
    """Java's String.trim: everything up to the space goes, and no other blank.

    >>> trimmed("\\t 7\\x00")
    '7'
    """
    return text.strip(_BLANK)


def integer(text: str) -> int:
    """Integer.parseInt without its range: a sign and digits of any script, nothing else."""
    if not _INTEGER.fullmatch(text) or (not text.isascii() and max(text) > "\uffff"):
        raise ValueError(f"'{text}' is not a whole number")
    if len(text) > 4000:
        raise ValueError(f"a number of {len(text)} digits is out of range")
    return int(text)


def double(text: str) -> float:
    """Double.parseDouble of a trimmed text: also `1d`, `.5`, `0x1p3`, `NaN`, `Infinity`."""
    return _floating(text)[0]


def single(text: str) -> float:
    """Float.parseFloat of a trimmed text: rounded once, from the text, not from the double."""
    nearest, digits = _floating(text)
    return round_single(nearest, digits)


def _floating(text: str) -> tuple[float, str | None]:
    if match := _FLOAT.fullmatch(text):
        return float(match[1]), match[1]
    if match := _HEX_FLOAT.fullmatch(text):
        return _from_hex(match[1]), None
    if match := _NOT_FINITE.fullmatch(text):
        value = math.inf if match[2] == "Infinity" else math.nan
        return -value if match[1] == "-" else value, None
    raise ValueError(f"'{text}' is not a number")


def _from_hex(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return -math.inf if text.startswith("-") else math.inf


def round_single(nearest: float, digits: str | None = None) -> float:
    """The 32-bit float of a decimal text whose 64-bit value is known; only a tie needs another look at the text."""
    with np.errstate(over="ignore"):
        rounded = np.float32(nearest)
        neighbour = np.nextafter(rounded, np.float32(-math.inf if float(rounded) > nearest else math.inf))
    if not math.isfinite(nearest) or float(rounded) == nearest:
        return float(rounded)
    low, high = sorted((float(rounded), float(neighbour)))
    middle = (max(low, -(2.0**128)) + min(high, 2.0**128)) / 2
    if middle != nearest or digits is None:
        return float(rounded)
    exact = Decimal(digits)
    if exact == Decimal(nearest):
        return float(rounded)
    return low if exact < Decimal(nearest) else high


def java_double(value: float) -> str:
    """Double.toString.

    >>> java_double(1e10), java_double(0.001), java_double(5e-324)
    ('1.0E10', '0.001', '4.9E-324')
    """
    if special := _not_a_decimal(value):
        return special
    if 1e-3 <= abs(value) < 1e7:
        return repr(value)
    two = f"{value:.1e}"
    return _scientific(two if float(two) == value else repr(value))


def java_float(value: float) -> str:
    """Float.toString of a value that a 32-bit float holds.

    >>> java_float(0.33333334), java_float(1e10), java_float(1.401298464324817e-45)
    ('0.33333334', '1.0E10', '1.4E-45')
    """
    if special := _not_a_decimal(value):
        return special
    number = np.float32(value)
    if 1e-3 <= abs(value) < 1e7:
        return np.format_float_positional(number, unique=True, trim="0")
    two = f"{value:.1e}"
    if np.float32(float(two)) == number:
        return _scientific(two)
    return _scientific(np.format_float_scientific(number, unique=True))


def _not_a_decimal(value: float) -> str | None:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    return None


def _scientific(text: str) -> str:
    sign, digits, _ = Decimal(text).as_tuple()
    figures = "".join(map(str, digits)).rstrip("0")
    return f"{'-' * sign}{figures[0]}.{figures[1:] or '0'}E{Decimal(text).adjusted()}"


def parse_decimal(text: str) -> Decimal:
    """new BigDecimal(text): no blanks, no NaN, an exponent that fits 32 bits."""
    match = _DECIMAL.fullmatch(text)
    if not match or abs(int(match[1] or 0)) > 2_147_483_647:
        raise ValueError(f"'{text[:80]}' is not a decimal number")
    return Decimal(text) if abs(int(match[1] or 0)) <= 999_999 else _clipped(text)


def _clipped(text: str) -> Decimal:
    """An exponent far outside any DECIMAL: a value on the same side of every limit."""
    figures, exponent = re.split("[eE]", text)
    return Decimal(figures + ("E999999" if int(exponent) > 0 else "E-999999"))


def fit_decimal(value: Decimal, precision: int, scale: int) -> Decimal | None:
    """The value at its column's scale, half up; None when it needs more digits than the column has.

    >>> fit_decimal(Decimal("1.005"), 5, 2), fit_decimal(Decimal("1000"), 5, 2)
    (Decimal('1.01'), None)
    """
    if not value or value.adjusted() < -scale - 1:
        return Decimal(0).scaleb(-scale)
    if value.adjusted() >= precision:
        return None
    fitted = value.quantize(Decimal(1).scaleb(-scale), context=_EXACT)
    if not fitted:
        return abs(fitted)
    return fitted if len(fitted.as_tuple().digits) <= precision else None


def short_decimal(value: Decimal) -> str:
    """BigDecimal.stripTrailingZeros().toString().

    >>> short_decimal(Decimal("100.00")), short_decimal(Decimal("1.50")), short_decimal(Decimal("0.00"))
    ('1E+2', '1.5', '0')
    """
    return str(_EXACT.create_decimal(value).normalize(_EXACT)) if value else "0"


def plain_decimal(value: Decimal) -> str:
    """BigDecimal.toPlainString()."""
    return f"{value:f}"


def base64_text(value: bytes) -> str:
    return b64encode(value).decode("ascii")


def from_base64(text: str) -> bytes:
    """Padded base64 as Jackson reads it: blanks may stand between groups of four, several padded groups may follow."""
    if not _BASE64.fullmatch(text):
        raise ValueError(f"'{text[:80]}' is not padded base64")
    groups = text.translate(dict.fromkeys(range(0x21)))
    return b"".join(b64decode(group) for group in re.findall(r"[^=]+={0,2}", groups))
