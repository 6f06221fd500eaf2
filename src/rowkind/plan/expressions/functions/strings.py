"""String functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rowkind import types as t
from rowkind.plan.expressions.casts import convert
from rowkind.plan.expressions.common import common_type
from rowkind.plan.expressions.functions.call import Call, Function, alias, as_first, mapped, special
from rowkind.plan.expressions.functions.printf import PRINTF
from rowkind.plan.expressions.functions.regexes import REGEXES, literally, quoted
from rowkind.plan.expressions.typed import Typed, any_nullable, once, text
from rowkind.types import DataType, Root

_LETTERS, _DIGITS = r"^\p{L}+\z", r"^\p{Nd}+\z"
STRINGS_ARRAY = t.array(t.STRING)


def _varying(args: Sequence[Typed]) -> DataType:
    """VARCHAR as long as the first argument."""
    return DataType(Root.VARCHAR, nullable=any_nullable(args), length=args[0].type.length)


def _trim(call: Call, args: list[Typed]) -> Typed:
    if len(args) == 1:
        return Typed(f"trim(BOTH ' ' FROM {args[0].sql})", _varying(args))
    side, characters, value = args
    if value.root not in t.CHARACTERS or characters.root not in t.CHARACTERS:
        raise call.wrong_type(3, "a string", value.type)
    return Typed(f"trim({side.constant} {characters.sql} FROM {value.sql})", _varying([value, characters]))


def _one_side(function: str) -> Function:
    side = {"LTRIM": "LEADING", "RTRIM": "TRAILING", "BTRIM": "BOTH"}[function]

    def emit(args: Sequence[Typed]) -> str:
        return f"trim({side} {args[1].sql if len(args) > 1 else text(' ')} FROM {args[0].sql})"

    return mapped(function, "text, text?", t.STRING if function == "BTRIM" else _varying, emit)


def _overlay(args: Sequence[Typed]) -> str:
    """Nothing is replaced where the position is outside the text; what follows is kept only where something is cut out
    before it, and not at all with a length of 0, as in Flink."""
    return once(args[0].sql, lambda value: _overlaid(value, args))


def _overlaid(value: str, args: Sequence[Typed]) -> str:
    piece, start = (a.sql for a in args[1:3])
    length = args[3].sql if len(args) > 3 else f"char_length({piece})"
    rest = (
        f"IF({length} > 0 AND {start} + {length} <= char_length({value}), substring({value}, {start} + {length}), '')"
    )
    replaced = f"concat(left({value}, {start} - 1), {piece}, {rest})"
    unknown = " OR ".join(f"{sql} IS NULL" for sql in (value, *(a.sql for a in args[1:])))
    inside = f"{start} BETWEEN 1 AND char_length({value})"
    return f"CASE WHEN {unknown} THEN NULL WHEN {inside} THEN {replaced} ELSE {value} END"


def _overlay_type(args: Sequence[Typed]) -> DataType:
    length = min((args[0].type.length or 0) + (args[1].type.length or 0), t.MAX_LENGTH)
    return DataType(Root.VARCHAR, nullable=any_nullable(args), length=length)


def _substring(args: Sequence[Typed]) -> str:
    """A start before the text gives nothing at all, where Spark takes what is left of the piece."""
    value, start = args[0].sql, args[1].sql
    length = "" if len(args) == 2 else f", {args[2].sql}"
    found = f"IF({start} < -char_length({value}), '', substring({value}, {start}{length}))"
    return found if len(args) == 2 else f"IF({args[2].sql} < 0, NULL, {found})"


def _pad(function: str) -> Function:
    def emit(args: Sequence[Typed]) -> str:
        value, length, pad = (a.sql for a in args)
        return f"IF({length} < 0 OR {pad} = '', NULL, {function.lower()}({value}, {length}, {pad}))"

    return mapped(function, "text, int, text", t.STRING, emit)


def _replace(args: Sequence[Typed]) -> str:
    """Nothing is found everywhere: between all characters and at both ends."""
    value, wanted, replacement = (a.sql for a in args)
    plain = f"replace({value}, {wanted}, {replacement})"
    if args[1].constant:
        return plain
    return f"IF({wanted} = '', regexp_replace({value}, '', {literally(replacement)}), {plain})"


def _initcap(args: Sequence[Typed]) -> str:
    """Every run of letters and digits is a word; Spark looks at spaces only."""
    words = f"regexp_extract_all({args[0].sql}, '[A-Za-z0-9]+|[^A-Za-z0-9]+', 0)"
    word = "concat(upper(left(__w, 1)), lower(substring(__w, 2)))"
    return f"array_join(transform({words}, __w -> IF(__w RLIKE '^[A-Za-z0-9]', {word}, __w)), '')"


def _locate(args: Sequence[Typed]) -> str:
    if len(args) == 2:
        return f"locate({args[0].sql}, {args[1].sql})"
    return f"locate({args[0].sql}, {args[1].sql}, greatest({args[2].sql}, 1))"


def _split_index(args: Sequence[Typed]) -> str:
    """Without a separator the text is cut at white space."""
    value, separator, index = args
    if separator.root in t.INTEGERS:
        pieces = f"IF({separator.sql} BETWEEN 1 AND 255, split({value.sql}, {quoted(f'chr({separator.sql})')}), NULL)"
    else:
        spaces = text(r"\s+")
        pieces = f"split({value.sql}, IF({separator.sql} = '', {spaces}, {quoted(separator.sql)}))"
    return f"IF({value.sql} = '', NULL, get({pieces}, {index.sql}))"


def _split(args: Sequence[Typed]) -> str:
    value, separator = args[0].sql, args[1].sql
    return f"IF({separator} = '', regexp_extract_all({value}, '(?s).', 0), split({value}, {quoted(separator)}, -1))"


def _translate(args: Sequence[Typed]) -> str:
    """Without characters to replace the text stays, without replacements they are left out."""
    return f"translate({args[0].sql}, coalesce({args[1].sql}, ''), coalesce({args[2].sql}, ''))"


def _ascii(args: Sequence[Typed]) -> str:
    """The first byte, which is negative for any character that is not in ASCII."""
    value = args[0].sql
    first = f"CAST(conv(left(hex({value}), 2), 16, 10) AS INT)"
    return f"IF(ascii({value}) > 127, {first} - 256, ascii({value}))"


def _str_to_map(args: Sequence[Typed]) -> str:
    """Empty pairs at the end are left out, as Java splits texts."""
    pairs = args[1].sql if len(args) > 1 else "','"
    members = args[2].sql if len(args) > 2 else "'='"
    trimmed = f"regexp_replace({args[0].sql}, concat('(?:', {pairs}, ')+$'), '')"
    empty = "CAST(map() AS MAP<STRING, STRING>)"
    return once(trimmed, lambda value: f"IF({value} = '', {empty}, str_to_map({value}, {pairs}, {members}))")


def _parse_url(args: Sequence[Typed]) -> str:
    """Java's URL takes characters that its URI does not; others stand for them meanwhile."""
    odd = ' "<>\\^`{|}'
    stands = text("".join(chr(0xE000 + i) for i in range(len(odd))))
    url = f"translate({args[0].sql}, {text(odd)}, {stands})"
    return f"translate(try_parse_url({', '.join([url, *(a.sql for a in args[1:])])}), {stands}, {text(odd)})"


def _elt(call: Call, args: list[Typed]) -> Typed:
    index, *values = args
    type = common_type([v.type for v in values])
    if type is None or type.root not in t.CHARACTERS | t.BINARIES:
        raise call.wrong_type(2, "strings, or all of them bytes", ", ".join(str(v.type) for v in values))
    return Typed(f"get(array({', '.join(v.sql for v in values)}), {index.sql} - 1)", type.as_nullable())


def _is(args: Sequence[Typed], pattern: str) -> str:
    return f"coalesce({args[0].sql} RLIKE {text(pattern)}, FALSE)"


def _never_null(args: Sequence[Typed]) -> DataType:
    """IS_ALPHA and its like are FALSE for NULL."""
    return t.BOOLEAN.not_null()


_CHAR_LENGTH = mapped("CHAR_LENGTH", "text", t.INT, "char_length({0})")
_SUBSTRING = mapped("SUBSTRING", "text, int, int?", _varying, _substring, nullable=True)

STRINGS: tuple[Function, ...] = (
    *REGEXES,
    mapped("UPPER", "text", as_first, "upper({0})"),
    mapped("LOWER", "text", as_first, "lower({0})"),
    _CHAR_LENGTH,
    alias("CHARACTER_LENGTH", _CHAR_LENGTH),
    mapped("POSITION", "text, text", t.INT, "locate({0}, {1})"),
    PRINTF,
    special("TRIM", "any, text?, text?", _trim),
    _one_side("LTRIM"),
    _one_side("RTRIM"),
    _one_side("BTRIM"),
    mapped("REPEAT", "text, int", t.STRING, "repeat({0}, {1})"),
    mapped("OVERLAY", "text, text, int, int?", _overlay_type, _overlay),
    mapped("STARTSWITH", "text_or_bytes, text_or_bytes", t.BOOLEAN, "startswith({0}, {1})"),
    mapped("ENDSWITH", "text_or_bytes, text_or_bytes", t.BOOLEAN, "endswith({0}, {1})"),
    _SUBSTRING,
    alias("SUBSTR", _SUBSTRING),
    mapped("REPLACE", "text, text, text", t.STRING, _replace),
    mapped("TRANSLATE", "text, text, text", lambda a: replace(t.STRING, nullable=a[0].nullable), _translate),
    mapped("INITCAP", "text", as_first, _initcap),
    mapped("CONCAT", "text, text*", t.STRING, "concat({all})"),
    mapped("CONCAT_WS", "text, text*", t.STRING, "concat_ws({all})"),
    _pad("LPAD"),
    _pad("RPAD"),
    mapped("FROM_BASE64", "text", t.STRING, "decode(to_binary({0}, 'base64'), 'UTF-8')"),
    mapped("TO_BASE64", "text_or_bytes", t.STRING, r"replace(base64(CAST({0} AS BINARY)), '\r\n', '')"),
    mapped("ASCII", "text", t.INT, _ascii),
    mapped("CHR", "bigint", t.STRING, "chr({0})", nullable=True),
    mapped("DECODE", "bytes, text", t.STRING, "decode({0}, {1})"),
    mapped("ENCODE", "text, text", t.BYTES, "encode({0}, {1})"),
    mapped("INSTR", "text, text", t.INT, "instr({0}, {1})"),
    mapped("LEFT", "text, int", _varying, "left({0}, {1})", nullable=True),
    mapped("RIGHT", "text, int", _varying, "right({0}, {1})", nullable=True),
    mapped("LOCATE", "text, text, int?", t.INT, _locate),
    mapped("URL_DECODE", "text", t.STRING, "try_url_decode({0})", nullable=True),
    mapped("URL_ENCODE", "text", t.STRING, "url_encode({0})", nullable=True),
    mapped("PARSE_URL", "text, text, text?", t.STRING, _parse_url, nullable=True),
    mapped("REVERSE", "text", t.STRING, "reverse({0})", nullable=True),
    mapped("SPLIT_INDEX", "text, text_or_int, int", t.STRING, _split_index, nullable=True),
    mapped("STR_TO_MAP", "text, text?, text?", t.map_of(t.STRING, t.STRING), _str_to_map, nullable=True),
    special("ELT", "int, text_or_bytes, text_or_bytes*", _elt),
    mapped("SPLIT", "text, text", STRINGS_ARRAY, _split),
    mapped("IS_ALPHA", "text", _never_null, lambda a: _is(a, _LETTERS)),
    mapped("IS_DIGIT", "text", _never_null, lambda a: _is(a, _DIGITS)),
    mapped("IS_DECIMAL", "text", _never_null, lambda a: f"({convert(a[0], t.DOUBLE, safe=True).sql} IS NOT NULL)"),
)

_LENGTHS = {"MD5": 32, "SHA1": 40, "SHA224": 56, "SHA256": 64, "SHA384": 96, "SHA512": 128}
_DIGESTS = {
    "MD5": "md5(CAST({0} AS BINARY))",
    "SHA1": "sha1(CAST({0} AS BINARY))",
    **{f"SHA{bits}": f"sha2(CAST({{0}} AS BINARY), {bits})" for bits in (224, 256, 384, 512)},
}


def _sha2(call: Call, args: list[Typed]) -> Typed:
    if args[1].constant not in (224, 256, 384, 512):
        raise call.bad_argument(2, "must be 224, 256, 384 or 512")
    type = DataType(Root.VARCHAR, nullable=any_nullable(args), length=128)
    return Typed(f"sha2(CAST({args[0].sql} AS BINARY), {args[1].sql})", type)


HASHES: tuple[Function, ...] = (
    *(mapped(name, "text", DataType(Root.CHAR, length=n), _DIGESTS[name]) for name, n in _LENGTHS.items()),
    special("SHA2", "text, int", _sha2),
)
