"""A decoder that may take the fast path says what one that may not says: random columns, adversarial envelopes."""

from __future__ import annotations

import json
from typing import Any, cast

import pyarrow as pa
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from rowkind.formats.cdc.format import CdcJsonFormat
from rowkind.formats.contract import FormatChoice, FormatContext
from rowkind.formats.registry import format_named
from rowkind.types import Field
from tests.formats.suite import damaged, same
from tests.formats.test_json_fast_equals_exact import document, fields, scalar, types

NEVER = 10**9
OPERATIONS = {
    "debezium-json": ("op", ["c", "r", "u", "d", "t"]),
    "ogg-json": ("op_type", ["I", "U", "D", "T"]),
    "canal-json": ("type", ["INSERT", "UPDATE", "DELETE", "CREATE", "ALTER"]),
    "maxwell-json": ("type", ["insert", "update", "delete", "bootstrap-start"]),
}
METADATA = {
    "source": ['{"ts_ms":5,"db":"d"}', '{"ts_ms":"x"}', '{"table":null}', "{}", "null", "5", '{"a":{"b":1.5}}'],
    "ts_ms": ["5", '"6"', "1.5", "null", '"x"', "1e30"],
    "schema": ['"s"', "null", '{"a": 1}', "5"],
    "ts": ["5", "null", "9223372036854775807"],
    "es": ["5", "null"],
    "database": ['"shop"', '"other"', "null", "5", "{}"],
    "table": ['"orders"', "null", "true", "1.50"],
    "sqlType": ['{"a":4}', '{"a":"x"}', "null"],
    "pkNames": ['["a"]', "[]", "[null]", "5"],
    "primary_key_columns": ['["a"]', "null"],
    "primary_keys": ['["a"]', "null"],
    "op_ts": ['"2020-05-13 15:40:06.000000"', '"2020-05-13T15:40:06"', '"x"', "null", '"2021-02-30 24:00:00"'],
    "current_ts": ['"2020-05-13T13:39:35.766"', "5"],
}


@st.composite
def image(draw: st.DrawFn, columns: tuple[Field, ...]) -> str:
    kind = draw(st.integers(0, 11))
    if kind == 0:
        return draw(scalar())
    if kind == 1:
        return "null"
    return draw(document(columns))


@st.composite
def images(draw: st.DrawFn, columns: tuple[Field, ...]) -> str:
    """Of Canal: mostly a list."""
    if draw(st.integers(0, 11)) == 0:
        return draw(image(columns))
    return "[" + ",".join(draw(st.lists(image(columns), min_size=1, max_size=3))) + "]"


@st.composite
def message(draw: st.DrawFn, name: str, columns: tuple[Field, ...]) -> bytes | None:
    if draw(st.integers(0, 19)) == 0:
        return draw(st.sampled_from([None, b"", b" ", b"null", b"[]", b"5", b"{", b"{}"]))
    field, operations = OPERATIONS[name]
    first, second = ("before", "after") if field != "type" else ("data", "old")
    row = images(columns) if name == "canal-json" else image(columns)
    members = [(first, draw(row)), (second, draw(row))]
    members.append((field, json.dumps(draw(st.sampled_from(operations)))))
    members += [(key, draw(st.sampled_from(METADATA[key]))) for key in draw(st.sets(st.sampled_from(sorted(METADATA))))]
    members = [m for m in draw(st.permutations(members)) if draw(st.integers(0, 19))]
    if draw(st.integers(0, 19)) == 0:
        members.append(draw(st.sampled_from(members)) if members else ("x", "1"))
    body = ("{" + ",".join(f'"{k}":{v}' for k, v in members) + "}").encode("utf-8", "surrogatepass")
    return draw(damaged(body)) if draw(st.integers(0, 19)) == 0 else body


@st.composite
def case(draw: st.DrawFn, name: str) -> tuple[tuple[Field, ...], list[str], dict[str, Any], list[bytes | None]]:
    columns = draw(fields(types()))
    metadata = draw(st.lists(st.sampled_from(sorted(format_named(name).metadata)), unique=True, max_size=3))
    options: dict[str, Any] = {"ignore-parse-errors": draw(st.booleans())}
    if name == "canal-json" and draw(st.booleans()):
        options |= {"database.include": "shop|null|5", "table.include": ".*"}
    wrapped = name == "debezium-json" and draw(st.booleans())
    payloads = draw(st.lists(message(name, columns), min_size=1, max_size=8))
    if wrapped:
        options["schema-include"] = True
        payloads = [p if not p else b'{"schema":{"x":[1]},"payload":' + p + b"}" for p in payloads]
    return columns, metadata, options, payloads


@pytest.mark.parametrize("name", list(OPERATIONS))
@settings(max_examples=12)
@given(data=st.data())
def test_random_envelopes(name: str, data: st.DataObject) -> None:
    columns, metadata, options, payloads = data.draw(case(name))
    note(f"columns {', '.join(f'{c.name} {c.type}' for c in columns)}, metadata {metadata}, {options}")
    format = cast(CdcJsonFormat, format_named(name))
    chosen = FormatChoice(name, options, FormatContext("t"))
    given = pa.array(payloads, pa.binary())
    fast = format.decoder(columns, metadata, chosen, least=0).decode(given)
    exact = format.decoder(columns, metadata, chosen, least=NEVER).decode(given)
    fast.rows.validate(full=True)
    assert same(fast.rows, exact.rows) or fast.rows.to_pylist() == exact.rows.to_pylist(), (fast.rows, exact.rows)
    assert fast.message == exact.message
    assert fast.kinds == exact.kinds
    assert (fast.bad, fast.ignored) == (exact.bad, exact.ignored)


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_the_fast_path_takes_ordinary_messages(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Envelopes as the tools write them, metadata included, need no exact reading."""
    from rowkind import types as t
    from rowkind.formats.cdc import events

    def refused(*_: Any) -> Any:
        raise AssertionError("the exact path was asked")

    monkeypatch.setattr(events.EventReader, "_read_one", refused)
    columns = (Field("id", t.BIGINT), Field("name", t.STRING), Field("at", t.timestamp(3)), Field("w", t.DOUBLE))
    row = '{"id":1,"name":"n","at":"2020-12-30 12:13:14.5","w":1.5}'
    first, second = (row, row) if name in ("debezium-json", "ogg-json") else (row, '{"w":2.5}')
    field, operations = OPERATIONS[name]
    names = ("before", "after") if field != "type" else ("data", "old")
    if name == "canal-json":
        first, second = f"[{first},{first}]", f"[{second},{second}]"
    rest = {
        "debezium-json": '"source":{"db":"d","ts_ms":1,"gtid":null,"snapshot":"false"},"ts_ms":5,"transaction":null',
        "ogg-json": '"table":"T","op_ts":"2020-05-13 15:40:06.000000","current_ts":"2020-05-13T13:39:35.766000"',
        "canal-json": '"database":"d","table":"t","es":1,"ts":2,"id":7,"isDdl":false,"sql":"","pkNames":["id"]',
        "maxwell-json": '"database":"d","table":"t","ts":1596684883,"xid":7125,"commit":true',
    }[name]
    payload = (
        f'{{"{names[0]}":{first},"{names[1]}":{second},{rest},"{field}":"{operations[2 if field == "op" else 1]}"}}'
    )
    format = cast(CdcJsonFormat, format_named(name))
    metadata = [key for key in format.metadata if key not in ("schema", "sql-type")]
    decoded = format.decoder(columns, metadata, FormatChoice(name)).decode(pa.array([payload.encode()] * 200))
    assert decoded.rows.num_rows == 200 * (4 if name == "canal-json" else 2)
    assert not decoded.bad
