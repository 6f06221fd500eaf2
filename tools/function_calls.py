"""Calls of every function, operator and cast, made at random from the pools of odd values.

The same seed makes the same calls. `python -m tools.record_functions` asks Flink about them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rowkind.plan.expressions.casts import castable
from rowkind.plan.expressions.functions.all import FUNCTIONS
from rowkind.sql import parse_type
from tools import call_pools as p
from tools.call_pools import Pool

LEFT_OUT = frozenset({
    "RAND", "RAND_INTEGER", "UUID", "CURRENT_TIMESTAMP", "NOW", "CURRENT_ROW_TIMESTAMP", "PROCTIME", "LOCALTIMESTAMP",
    "CURRENT_DATE", "CURRENT_TIME", "LOCALTIME", "JSON",
})  # fmt: skip
"""By chance, by the clock, or no call of its own."""

Slot = Pool | tuple[Pool, ...] | tuple[str, ...]
"""What may stand at a place: values of a pool, of one of several, or one of some words."""

_KINDS: dict[str, Slot] = {
    "text": p.TEXT, "int": p.SMALL, "bigint": (p.BIGINT, p.INT), "double": (p.DOUBLE, p.DOUBLE, *p.NUMBERS),
    "number": p.NUMBERS, "bool": p.BOOLEAN, "bytes": p.BYTES, "text_or_bytes": (p.TEXT, p.BYTES),
    "text_or_int": (p.TEXT, p.BIGINT), "point": (*p.POINTS, p.TIME), "date": p.POINTS, "clock": (p.TIME, *p.POINTS),
    "array": (p.INT_ARRAY, p.TEXT_ARRAY), "map": p.TEXT_MAP, "collection": (p.INT_ARRAY, p.TEXT_ARRAY, p.TEXT_MAP),
    "any": p.SIMPLE,
}  # fmt: skip
_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
_FIELDS = (*_UNITS, "DOY", "DOW", "ISODOW", "ISOYEAR", "DECADE", "CENTURY", "MILLENNIUM", "EPOCH", "MILLISECOND")
_ROUND_TO = (*_UNITS, "DECADE", "CENTURY", "MILLENNIUM", "MILLISECOND")
_PATHS = tuple(p.quoted(path) for path in p.JSON_PATH)
_ON = ("NULL", "DEFAULT 'x'", "NULL")
_JSON_ON = ("", "", "", *(f" {e} ON EMPTY {f} ON ERROR" for e in _ON for f in _ON))
_QUERY_ON = ("", " EMPTY ARRAY ON ERROR", " EMPTY OBJECT ON EMPTY", " WITH WRAPPER", " WITH CONDITIONAL WRAPPER")

_FORMS: dict[str, tuple[tuple[str, tuple[Slot, ...]], ...]] = {
    "EXTRACT": (("EXTRACT({} FROM {})", (_FIELDS, (*p.POINTS, p.TIME))),),
    "CEIL": (("CEIL({})", (p.NUMBERS,)), ("CEIL({1} TO {0})", (_ROUND_TO, p.POINTS))),
    "FLOOR": (("FLOOR({})", (p.NUMBERS,)), ("FLOOR({1} TO {0})", (_ROUND_TO, p.POINTS))),
    "TIMESTAMPADD": (("TIMESTAMPADD({}, {}, {})", (_UNITS, p.SMALL, p.POINTS)),),
    "TIMESTAMPDIFF": (
        ("TIMESTAMPDIFF({}, {}, {})", (_UNITS, p.TIMESTAMP, (p.TIMESTAMP, p.DATE))),
        ("TIMESTAMPDIFF({}, {}, {})", (_UNITS, p.DATE, p.DATE)),
    ),
    "TRIM": (("TRIM({})", (p.TEXT,)), ("TRIM({} {} FROM {})", (("BOTH", "LEADING", "TRAILING"), p.SHORT, p.TEXT))),
    "POSITION": (("POSITION({} IN {})", (p.SHORT, p.TEXT)),),
    "OVERLAY": (
        ("OVERLAY({} PLACING {} FROM {})", (p.TEXT, p.SHORT, p.SMALL)),
        ("OVERLAY({} PLACING {} FROM {} FOR {})", (p.TEXT, p.SHORT, p.SMALL, p.SMALL)),
    ),
    "JSON_EXISTS": (
        ("JSON_EXISTS({}, {}{})", (p.JSON, _PATHS, ("", " TRUE ON ERROR", " FALSE ON ERROR", " UNKNOWN ON ERROR"))),
    ),
    "JSON_VALUE": (
        ("JSON_VALUE({}, {}{})", (p.JSON, _PATHS, _JSON_ON)),
        ("JSON_VALUE({}, {} RETURNING {})", (p.JSON, _PATHS, ("STRING", "BOOLEAN", "INTEGER", "DOUBLE"))),
    ),
    "JSON_QUERY": (("JSON_QUERY({}, {}{})", (p.JSON, _PATHS, _QUERY_ON)),),
    "JSON_OBJECT": (
        ("JSON_OBJECT('k' VALUE {}, 'a' VALUE {}{})", (p.SIMPLE, p.SIMPLE, ("", " ABSENT ON NULL", " NULL ON NULL"))),
    ),
    "JSON_ARRAY": (("JSON_ARRAY({}, {}{})", (p.SIMPLE, p.SIMPLE, ("", " ABSENT ON NULL", " NULL ON NULL"))),),
    "JSON_STRING": (("JSON_STRING({})", ((*p.SIMPLE, *p.NESTED),)),),
    "JSON_QUOTE": (("JSON_QUOTE({})", (p.TEXT,)),),
    "JSON_UNQUOTE": (("JSON_UNQUOTE({})", ((p.JSON, p.TEXT),)),),
    "TO_TIMESTAMP": (("TO_TIMESTAMP({})", (p.TIME_TEXT,)), ("TO_TIMESTAMP({}, {})", (p.TIME_TEXT, p.FORMAT))),
    "TO_TIMESTAMP_LTZ": (
        ("TO_TIMESTAMP_LTZ({}, {})", ((p.INT, p.DOUBLE), ("0", "3"))),
        ("TO_TIMESTAMP_LTZ({})", (p.TIME_TEXT,)),
        ("TO_TIMESTAMP_LTZ({}, {}, {})", (p.TIME_TEXT, p.FORMAT, p.ZONE)),
    ),
    "TO_DATE": (("TO_DATE({})", (p.TIME_TEXT,)), ("TO_DATE({}, {})", (p.TIME_TEXT, p.FORMAT))),
    "UNIX_TIMESTAMP": (
        ("UNIX_TIMESTAMP({})", (p.TIME_TEXT,)),
        ("UNIX_TIMESTAMP({}, {})", (p.TIME_TEXT, p.FORMAT)),
    ),
    "FROM_UNIXTIME": (("FROM_UNIXTIME({}, {})", (p.BIGINT, p.FORMAT)), ("FROM_UNIXTIME({})", (p.INT,))),
    "DATE_FORMAT": (("DATE_FORMAT({}, {})", ((p.TIMESTAMP, p.TIMESTAMP_6, p.INSTANT, p.TIME_TEXT), p.FORMAT)),),
    "CONVERT_TZ": (("CONVERT_TZ({}, {}, {})", (p.TIME_TEXT, p.ZONE, p.ZONE)),),
    "REGEXP": (("REGEXP({}, {})", (p.TEXT, p.REGEX)),),
    "REGEXP_REPLACE": (("REGEXP_REPLACE({}, {}, {})", (p.TEXT, p.REGEX, p.SHORT)),),
    "REGEXP_COUNT": (("REGEXP_COUNT({}, {})", (p.TEXT, p.REGEX)),),
    "REGEXP_INSTR": (("REGEXP_INSTR({}, {})", (p.TEXT, p.REGEX)),),
    "REGEXP_SUBSTR": (("REGEXP_SUBSTR({}, {})", (p.TEXT, p.REGEX)),),
    "REGEXP_EXTRACT": (
        ("REGEXP_EXTRACT({}, {})", (p.TEXT, p.REGEX)),
        ("REGEXP_EXTRACT({}, {}, {})", (p.TEXT, p.REGEX, p.SMALL)),
    ),
    "REGEXP_EXTRACT_ALL": (
        ("REGEXP_EXTRACT_ALL({}, {})", (p.TEXT, p.REGEX)),
        ("REGEXP_EXTRACT_ALL({}, {}, {})", (p.TEXT, p.REGEX, p.SMALL)),
    ),
    "IF": (("IF({}, {}, {})", (p.BOOLEAN, p.INT, p.INT)), ("IF({}, {}, {})", (p.BOOLEAN, p.TEXT, p.SHORT))),
    "MAP": (("MAP[{}, {}]", (p.SHORT, p.NUMBERS)),),
    "ARRAY": (("ARRAY[{}, {}]", (p.NUMBERS, p.NUMBERS)), ("ARRAY[{}, {}]", (p.TEXT, p.SHORT))),
    "ROW": (("ROW({}, {})", (p.SIMPLE, p.SIMPLE)),),
    "ELEMENT": (("ELEMENT({})", (p.INT_ARRAY,)),),
    "MAP_FROM_ARRAYS": (("MAP_FROM_ARRAYS({}, {})", (p.TEXT_ARRAY, p.TEXT_ARRAY)),),
    "ARRAY_JOIN": (("ARRAY_JOIN({}, {}, {})", (p.TEXT_ARRAY, p.SHORT, p.SHORT)),),
    "ELT": (("ELT({}, {}, {})", (p.SMALL, p.TEXT, p.SHORT)),),
    "PRINTF": (("PRINTF({}, {})", (p.PRINT_FORMAT, (p.INT, p.TEXT, p.DOUBLE))),),
    "SHA2": (("SHA2({}, {})", (p.TEXT, ("224", "256", "512"))),),
    "TYPEOF": (("TYPEOF({})", ((*p.SIMPLE, *p.NESTED),)),),
    "CURRENT_DATABASE": (),
    "PI": (("PI()", ()),),
    "E": (("E()", ()),),
    "REPEAT": (("REPEAT({}, {})", (p.SHORT, p.SMALL)),),
}

_SLOTS: dict[tuple[str, int], Slot] = {
    ("PARSE_URL", 0): p.URL, ("PARSE_URL", 2): p.SHORT, ("URL_DECODE", 0): p.URL_TEXT,
    ("URL_ENCODE", 0): p.URL_TEXT, ("FROM_BASE64", 0): p.BASE64, ("UNHEX", 0): p.HEX_TEXT, ("DECODE", 1): p.CHARSET,
    ("ENCODE", 1): p.CHARSET, ("SPLIT_INDEX", 1): (p.SHORT, p.SMALL), ("IS_DECIMAL", 0): p.NUMBER_TEXT,
    ("PARSE_URL", 1): ("'HOST'", "'PATH'", "'QUERY'", "'REF'", "'PROTOCOL'", "'FILE'", "'AUTHORITY'", "'USERINFO'"),
}  # fmt: skip

_FORMS["CEILING"] = _FORMS["CEIL"]
_ALIKE: tuple[tuple[Slot, ...], ...] = (
    (p.NUMBERS, p.NUMBERS), (p.TEXT, p.SHORT), (p.TIMESTAMP, p.TIMESTAMP_6), (p.DATE, p.DATE), (p.BOOLEAN, p.BOOLEAN),
    (p.WHOLE, p.EXACT),
)  # fmt: skip
for _name in ("COALESCE", "IFNULL", "NULLIF", "GREATEST", "LEAST"):
    _FORMS[_name] = tuple((f"{_name}({{}}, {{}})", slots) for slots in _ALIKE)
for _name in ("ARRAY_APPEND", "ARRAY_PREPEND", "ARRAY_CONTAINS", "ARRAY_POSITION", "ARRAY_REMOVE"):
    _FORMS[_name] = (
        (f"{_name}({{}}, {{}})", (p.INT_ARRAY, p.SMALL)),
        (f"{_name}({{}}, {{}})", (p.TEXT_ARRAY, p.SHORT)),
    )
for _name in ("ARRAY_UNION", "ARRAY_EXCEPT", "ARRAY_INTERSECT", "ARRAY_CONCAT"):
    _FORMS[_name] = tuple((f"{_name}({{}}, {{}})", (pool, pool)) for pool in (p.INT_ARRAY, p.TEXT_ARRAY))

_COMPARED = (*_ALIKE, (p.BYTES, p.BYTES), (p.TIME, p.TIME))
_OPERATORS: tuple[tuple[str, tuple[Slot, ...]], ...] = (
    *((f"{{}} {sign} {{}}", (p.NUMBERS, p.NUMBERS)) for sign in "+-*/"),
    *((f"{{}} {sign} {{}}", (p.DECIMAL, (p.LARGE, p.FRACTION, p.WHOLE[2]))) for sign in "+-*/"),
    ("{} % {}", (p.EXACT, p.EXACT)),
    *((f"{{}} {sign} {{}}", slots) for sign in ("=", "<>", "<", ">=") for slots in _COMPARED),
    *((f"{{}} IS {no}DISTINCT FROM {{}}", slots) for no in ("", "NOT ") for slots in _ALIKE),
    *((f"{{}} {no}BETWEEN {{}} AND {{}}", (*slots, slots[1])) for no in ("", "NOT ") for slots in _ALIKE),
    *((f"{{}} {no}IN ({{}}, {{}})", (*slots, slots[1])) for no in ("", "NOT ") for slots in _ALIKE),
    *((f"{{}} {sign} {{}}", (p.POINTS, (p.DAY_TIME, p.YEAR_MONTH))) for sign in "+-"),
    *((f"{{}} {word} {{}}", (p.BOOLEAN, p.BOOLEAN)) for word in ("AND", "OR")),
    *((f"{{}} IS {what}", (p.BOOLEAN,)) for what in ("TRUE", "NOT TRUE", "FALSE", "UNKNOWN", "NOT NULL")),
    *((f"{{}} IS {what}", (p.JSON,)) for what in ("JSON", "JSON OBJECT", "JSON ARRAY", "NOT JSON SCALAR")),
    ("NOT {}", (p.BOOLEAN,)),
    ("- {}", (p.NUMBERS,)),
    ("{} || {}", (p.TEXT, p.SHORT)),
    ("{} LIKE {}", (p.TEXT, ("'%a%'", "'_b_'", "'%'", "''", "'100!%_'", "'%\\%'", "'%\u00e9'"))),
    ("{} LIKE {} ESCAPE '!'", (p.TEXT, ("'100!%%'", "'%!_%'", "'a!!b'"))),
    ("{} SIMILAR TO {}", (p.TEXT, ("'(a|b)%'", "'[A-Z]%'", "'_*'", "'a+'"))),
    ("CASE WHEN {} THEN {} ELSE {} END", (p.BOOLEAN, p.NUMBERS, p.NUMBERS)),
    ("CASE {} WHEN {} THEN {} END", (p.SMALL, p.SMALL, p.TEXT)),
    ("{}[{}]", ((p.INT_ARRAY, p.TEXT_ARRAY), ("1", "2", "9"))),
    ("{}[{}]", (p.TEXT_MAP, p.SHORT)),
)
_TEXTS_FOR = {"BOOLEAN": p.BOOLEAN_TEXT, "DATE": p.TIME_TEXT, "TIME": p.TIME_TEXT}


@dataclass(frozen=True, slots=True)
class Call:
    """An expression whose values are literals, or columns by name."""

    expression: str
    columns: tuple[str, ...] = ()


class Calls:
    """Calls that a seed makes, and the columns that they use: a name, a type and a value."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.columns: dict[str, tuple[str, str]] = {}

    def make(self, count: int) -> list[Call]:
        """So many different calls: functions in turn, and among them operators and casts."""
        found: dict[str, Call] = {}
        makers = self._makers()
        while len(found) < count:
            call = next(makers)
            found.setdefault(call.expression, call)
        return list(found.values())

    def _makers(self) -> Iterator[Call]:
        names = sorted(FUNCTIONS.keys() - LEFT_OUT)
        while True:
            self._random.shuffle(names)
            for name in names:
                forms = _FORMS.get(name) or (_plain_form(name, self._random),)
                if name != "CURRENT_DATABASE":
                    yield self._call(*self._random.choice(forms))
            for _ in range(len(names) // 3):
                yield self._call(*self._random.choice(_OPERATORS))
                yield self._cast()

    def _cast(self) -> Call:
        target = self._random.choice(p.CASTS)
        root = target.partition("(")[0]
        texts = _TEXTS_FOR.get(root, p.TIME_TEXT if root.startswith("TIMESTAMP") else p.NUMBER_TEXT)
        source = self._random.choice((texts, *p.SIMPLE))
        if target in ("STRING", "VARCHAR(4)", "CHAR(6)"):
            source = self._random.choice((*p.SIMPLE, *p.NESTED, p.DAY_TIME, p.YEAR_MONTH))
        if not all(castable(parse_type(kind), parse_type(target)) for kind in _types(source)):
            return self._cast()
        # A text that does not fit ends a job: most of them are tried.
        word = "TRY_CAST" if source in (texts, p.TEXT) and self._random.random() < 0.9 else "CAST"
        return self._call(f"{word}({{}} AS {target})", (source,))

    def _call(self, form: str, slots: Sequence[Slot]) -> Call:
        as_columns = self._random.random() < 0.5
        shown: list[str] = []
        for slot in slots:
            choices: Sequence[Pool | str] = (slot,) if isinstance(slot, Pool) else slot
            word_or_pool = choices[0] if isinstance(slot, Pool) else self._random.choice(choices)
            if isinstance(word_or_pool, str):
                shown.append(word_or_pool)
            else:
                value = self._random.choice(word_or_pool.values)
                shown.append(self._column(word_or_pool, value) if as_columns else value)
        used = tuple(part for part in shown if part in self.columns)
        return Call(form.format(*shown), used)

    def _column(self, pool: Pool, value: str) -> str:
        entry = (pool.type, value)
        known = next((name for name, other in self.columns.items() if other == entry), None)
        name = known or f"c{len(self.columns)}"
        self.columns[name] = entry
        return name


def _types(slot: Slot) -> list[str]:
    return [slot.type] if isinstance(slot, Pool) else [pool.type for pool in slot if isinstance(pool, Pool)]


def _plain_form(name: str, chance: random.Random) -> tuple[str, list[Slot]]:
    """A call with the arguments that the table of functions declares."""
    parameters = FUNCTIONS[name].parameters
    most = len(parameters.kinds) + parameters.repeats
    count = chance.randint(max(parameters.required, 0), most)
    kinds = [parameters.kinds[min(i, len(parameters.kinds) - 1)] for i in range(count)]
    slots = [_SLOTS.get((name, i), p.SHORT if kind == "text" and i else _KINDS[kind]) for i, kind in enumerate(kinds)]
    return f"{name}({', '.join(['{}'] * count)})", slots
