"""String functions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rowkind import types as t
from rowkind.plan.expressions.common import common_type
from rowkind.plan.expressions.functions.call import Call, Function, alias, as_first, mapped, special
from rowkind.plan.expressions.typed import Typed, any_nullable, text
from rowkind.types import DataType, Root

_BACKSLASH = chr(92)
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
    """Nothing is replaced where the position is outside the text."""
    value, piece, start = (a.sql for a in args[:3])
    length = args[3].sql if len(args) > 3 else f"char_length({piece})"
    inside = f"{start} BETWEEN 1 AND char_length({value})"
    return f"IF({inside}, overlay({value} PLACING {piece} FROM {start} FOR {length}), {value})"


def _overlay_type(args: Sequence[Typed]) -> DataType:
    length = min((args[0].type.length or 0) + (args[1].type.length or 0), t.MAX_LENGTH)
    return DataType(Root.VARCHAR, nullable=any_nullable(args), length=length)


def _substring(args: Sequence[Typed]) -> str:
    if len(args) == 2:
        return f"substring({args[0].sql}, {args[1].sql})"
    return f"IF({args[2].sql} < 0, NULL, substring({args[0].sql}, {args[1].sql}, {args[2].sql}))"


def _pad(function: str) -> Function:
    def emit(args: Sequence[Typed]) -> str:
        value, length, pad = (a.sql for a in args)
        return f"IF({length} < 0 OR {pad} = '', NULL, {function.lower()}({value}, {length}, {pad}))"

    return mapped(function, "text, int, text", t.STRING, emit)


def _regexp_extract(args: Sequence[Typed]) -> str:
    """NULL where nothing fits, or where there is no such group."""
    value, regex = args[0].sql, args[1].sql
    group = args[2].sql if len(args) > 2 else "0"
    if len(args) > 2 and _no_such_group(args[1].constant, args[2].constant):
        return "CAST(NULL AS STRING)"
    return f"get(regexp_extract_all({value}, {regex}, {group}), 0)"


def _no_such_group(regex: object, group: object) -> bool:
    if not isinstance(regex, str) or not isinstance(group, int):
        return False
    try:
        return not 0 <= group <= re.compile(regex).groups
    except re.error:
        # Java's expressions are richer than Python's: Spark decides.
        return False


def _replace(args: Sequence[Typed]) -> str:
    """Nothing is found everywhere: between all characters and at both ends."""
    value, wanted, replacement = (a.sql for a in args)
    plain = f"replace({value}, {wanted}, {replacement})"
    if args[1].constant:
        return plain
    return f"IF({wanted} = '', regexp_replace({value}, '', {_literally(replacement)}), {plain})"


def _initcap(args: Sequence[Typed]) -> str:
    """Every run of letters and digits is a word; Spark looks at spaces only."""
    words = f"regexp_extract_all({args[0].sql}, '[A-Za-z0-9]+|[^A-Za-z0-9]+', 0)"
    word = "concat(upper(left(__w, 1)), lower(substring(__w, 2)))"
    return f"array_join(transform({words}, __w -> IF(__w RLIKE '^[A-Za-z0-9]', {word}, __w)), '')"


def _literally(sql: str) -> str:
    """A replacement in which neither the backslash nor the dollar sign means anything."""
    backslash = f"replace({sql}, {text(_BACKSLASH)}, {text(_BACKSLASH * 2)})"
    return f"replace({backslash}, '$', {text(_BACKSLASH + '$')})"


def _locate(args: Sequence[Typed]) -> str:
    if len(args) == 2:
        return f"locate({args[0].sql}, {args[1].sql})"
    return f"locate({args[0].sql}, {args[1].sql}, greatest({args[2].sql}, 1))"


def _split_index(args: Sequence[Typed]) -> str:
    value, separator, index = args
    mark = f"chr({separator.sql})" if separator.root in t.INTEGERS else separator.sql
    return f"get(split({value.sql}, {_quoted(mark)}), {index.sql})"


def _quoted(sql: str) -> str:
    """A text as a regular expression for itself."""
    return f"concat({text(_BACKSLASH + 'Q')}, {sql}, {text(_BACKSLASH + 'E')})"


def _split(args: Sequence[Typed]) -> str:
    value, separator = args[0].sql, args[1].sql
    return f"IF({separator} = '', regexp_extract_all({value}, '(?s).', 0), split({value}, {_quoted(separator)}, -1))"


def _str_to_map(args: Sequence[Typed]) -> str:
    pairs = args[1].sql if len(args) > 1 else "','"
    members = args[2].sql if len(args) > 2 else "'='"
    return f"IF({args[0].sql} = '', CAST(map() AS MAP<STRING, STRING>), str_to_map({args[0].sql}, {pairs}, {members}))"


def _elt(call: Call, args: list[Typed]) -> Typed:
    index, *values = args
    type = common_type([v.type for v in values])
    if type is None or type.root not in t.CHARACTERS | t.BINARIES:
        raise call.wrong_type(2, "strings, or all of them bytes", ", ".join(str(v.type) for v in values))
    return Typed(f"get(array({', '.join(v.sql for v in values)}), {index.sql} - 1)", type.as_nullable())


def _printf(args: Sequence[Typed]) -> str:
    """Java's formats know no decimals of Spark's, so they go in as doubles."""
    members = (f"CAST({a.sql} AS DOUBLE)" if a.root is Root.DECIMAL else a.sql for a in args)
    return f"format_string({', '.join(members)})"


def _is(args: Sequence[Typed], pattern: str) -> str:
    return f"coalesce({args[0].sql} RLIKE {text(pattern)}, FALSE)"


def _never_null(args: Sequence[Typed]) -> DataType:
    """IS_ALPHA and its like are FALSE for NULL."""
    return t.BOOLEAN.not_null()


_CHAR_LENGTH = mapped("CHAR_LENGTH", "text", t.INT, "char_length({0})")
_SUBSTRING = mapped("SUBSTRING", "text, int, int?", _varying, _substring, nullable=True)

STRINGS: tuple[Function, ...] = (
    mapped("UPPER", "text", as_first, "upper({0})"),
    mapped("LOWER", "text", as_first, "lower({0})"),
    _CHAR_LENGTH,
    alias("CHARACTER_LENGTH", _CHAR_LENGTH),
    mapped("POSITION", "text, text", t.INT, "locate({0}, {1})"),
    mapped("PRINTF", "text, any*", t.STRING, _printf, nullable=True),
    special("TRIM", "any, text?, text?", _trim),
    _one_side("LTRIM"),
    _one_side("RTRIM"),
    _one_side("BTRIM"),
    mapped("REPEAT", "text, int", t.STRING, "repeat({0}, {1})"),
    mapped(
        "REGEXP_REPLACE",
        "text, text, text",
        t.STRING,
        lambda a: f"regexp_replace({a[0].sql}, {a[1].sql}, {_literally(a[2].sql)})",
        note="the replacement is taken literally",
    ),
    mapped("OVERLAY", "text, text, int, int?", _overlay_type, _overlay),
    mapped("STARTSWITH", "text, text", t.BOOLEAN, "startswith({0}, {1})"),
    mapped("ENDSWITH", "text, text", t.BOOLEAN, "endswith({0}, {1})"),
    _SUBSTRING,
    alias("SUBSTR", _SUBSTRING),
    mapped("REPLACE", "text, text, text", t.STRING, _replace),
    mapped("REGEXP_COUNT", "text, text", t.INT, "regexp_count({0}, {1})", nullable=True),
    mapped("REGEXP_EXTRACT", "text, text, int?", t.STRING, _regexp_extract, nullable=True),
    mapped(
        "REGEXP_EXTRACT_ALL",
        "text, text, int?",
        STRINGS_ARRAY,
        lambda a: f"regexp_extract_all({a[0].sql}, {a[1].sql}, {a[2].sql if len(a) > 2 else 1})",
        nullable=True,
    ),
    mapped("REGEXP_INSTR", "text, text", t.INT, "regexp_instr({0}, {1})", nullable=True),
    mapped("REGEXP_SUBSTR", "text, text", t.STRING, "regexp_substr({0}, {1})", nullable=True),
    mapped("REGEXP", "text, text", t.BOOLEAN, "({1} <> '' AND {0} RLIKE {1})"),
    mapped("TRANSLATE", "text, text, text", t.STRING, "translate({0}, {1}, {2})"),
    mapped("INITCAP", "text", as_first, _initcap),
    mapped("CONCAT", "text, text*", t.STRING, "concat({all})"),
    mapped("CONCAT_WS", "text, text*", t.STRING, "concat_ws({all})"),
    _pad("LPAD"),
    _pad("RPAD"),
    mapped("FROM_BASE64", "text", t.STRING, "decode(to_binary({0}, 'base64'), 'UTF-8')"),
    mapped("TO_BASE64", "text_or_bytes", t.STRING, "base64(CAST({0} AS BINARY))"),
    mapped("ASCII", "text", t.INT, "ascii({0})"),
    mapped("CHR", "bigint", t.STRING, "chr({0})", nullable=True),
    mapped("DECODE", "bytes, text", t.STRING, "decode({0}, {1})"),
    mapped("ENCODE", "text, text", t.BYTES, "encode({0}, {1})"),
    mapped("INSTR", "text, text", t.INT, "instr({0}, {1})"),
    mapped("LEFT", "text, int", _varying, "left({0}, greatest({1}, 0))", nullable=True),
    mapped("RIGHT", "text, int", _varying, "right({0}, greatest({1}, 0))", nullable=True),
    mapped("LOCATE", "text, text, int?", t.INT, _locate),
    mapped("URL_DECODE", "text", t.STRING, "try_url_decode({0})", nullable=True),
    mapped("URL_ENCODE", "text", t.STRING, "url_encode({0})", nullable=True),
    mapped("PARSE_URL", "text, text, text?", t.STRING, "try_parse_url({all})", nullable=True),
    mapped("REVERSE", "text", t.STRING, "reverse({0})", nullable=True),
    mapped("SPLIT_INDEX", "text, text_or_int, int", t.STRING, _split_index, nullable=True),
    mapped("STR_TO_MAP", "text, text?, text?", t.map_of(t.STRING, t.STRING), _str_to_map, nullable=True),
    special("ELT", "int, text_or_bytes, text_or_bytes*", _elt),
    mapped("SPLIT", "text, text", STRINGS_ARRAY, _split),
    mapped("IS_ALPHA", "text", _never_null, lambda a: _is(a, _LETTERS)),
    mapped("IS_DIGIT", "text", _never_null, lambda a: _is(a, _DIGITS)),
    mapped("IS_DECIMAL", "text", _never_null, "(TRY_CAST({0} AS DOUBLE) IS NOT NULL)"),
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
