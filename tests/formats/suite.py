"""What every format must do, whatever its bytes: subclass `FormatSuite` and say what the format can hold.

Rows are compared as Arrow columns, so NaN, -0.0 and years beyond Python's calendar count.
"""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any, ClassVar

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rowkind import types as t
from rowkind.formats.contract import Decoded, Decoder, Encoder, Format, FormatChoice, FormatContext
from rowkind.formats.registry import format_named
from rowkind.formats.row_schema import decoded_schema
from rowkind.kinds import RowKind
from rowkind.types import DataType, Field

SAMPLES: dict[str, tuple[DataType, list[Any]]] = {
    "boolean": (t.BOOLEAN, [True, False]),
    "tinyint": (t.TINYINT, [-128, 0, 127]),
    "smallint": (t.SMALLINT, [-32768, 0, 32767]),
    "int": (t.INT, [-(2**31), 0, 2**31 - 1]),
    "bigint": (t.BIGINT, [-(2**63), 0, 2**63 - 1]),
    "float": (t.FLOAT, [0.0, -0.0, 1.5, 0.33333334, 1e-45, -3.4028234663852886e38]),
    "double": (t.DOUBLE, [0.0, -0.0, 1.5, 0.1, 5e-324, -1.7976931348623157e308, 1e21, 1e-5]),
    "decimal": (t.decimal(10, 3), [Decimal("0.000"), Decimal("-1.500"), Decimal("9999999.999"), Decimal("100.000")]),
    "wide decimal": (t.decimal(38, 18), [Decimal("12345678901234567890.123456789012345678"), Decimal("1E-18")]),
    "string": (t.STRING, ["a", "späße", "日本語", "😀", 'quote " comma , back \\ slash', "line\nbreak\ttab"]),
    "char": (DataType(t.Root.CHAR, length=3), ["abc", "xyz"]),
    "bytes": (t.BYTES, [b"\x00\xff\x10", b"text", b"1234567"]),
    "date": (t.DATE, [0, -1, 18626, 2932896]),
    "time": (t.time(3), [0, 43_932_123_000_000, 86_399_999_000_000]),
    "timestamp": (t.timestamp(6), [0, -1, 1_609_330_394_123_456, 1_609_330_394_000_000]),
    "timestamp_ltz": (t.timestamp_ltz(6), [0, -1, 1_609_330_394_120_000]),
    "array": (t.array(t.INT), [[1, 2, 3], [7]]),
    "nested array": (t.array(t.array(t.STRING)), [[["a"], ["b", "c"]], [[]], []]),
    "map": (t.map_of(t.STRING, t.BIGINT), [[("a", 1)], [("b", 2), ("c", None)]]),
    "multiset": (DataType(t.Root.MULTISET, element=t.STRING), [[("a", 1), ("b", 2)]]),
    "row": (t.row(("x", t.INT), ("y", t.STRING)), [{"x": 1, "y": "a"}, {"x": 2, "y": "b"}]),
    "deep row": (
        t.row(("r", t.row(("ts", t.timestamp(3)), ("l", t.array(t.row(("v", t.DOUBLE))))))),
        [{"r": {"ts": 1_609_330_394_123_000, "l": [{"v": 1.5}, {"v": 2.0}]}}],
    ),
    "interval month": (DataType(t.Root.INTERVAL_YEAR_MONTH), [0, -13, 25]),
    "interval second": (DataType(t.Root.INTERVAL_DAY_TIME), [0, -5000, 86_400_000_000]),
}
"""A value or more of every type, as `pyarrow.array` takes them; temporal ones are their ticks."""


def batch(columns: tuple[Field, ...], rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    """Rows of plain values as the Arrow batch of these columns."""
    schema = decoded_schema(columns)
    return pa.RecordBatch.from_arrays(
        [pa.array([row[i] for row in rows], f.type) for i, f in enumerate(schema)], schema=schema
    )


def same(left: pa.RecordBatch, right: pa.RecordBatch) -> bool:
    """Equal schema and cells; NaN equals NaN and -0.0 differs from 0.0."""
    return left.schema.equals(right.schema) and all(
        repr(a.to_pylist()) == repr(b.to_pylist()) if pa.types.is_floating(a.type) else a.equals(b)
        for a, b in zip(left.columns, right.columns, strict=True)
    )


inherited = settings(suppress_health_check=[HealthCheck.differing_executors])
"""Several formats run the same property; each is a test of its own."""


class FormatSuite:
    """Subclass, name the format, and leave out of `types` what it cannot hold."""

    name: ClassVar[str]
    types: ClassVar[tuple[str, ...]] = tuple(SAMPLES)
    options: ClassVar[dict[str, Any]] = {}
    nulls = True
    """Whether NULL comes back as NULL in a column beside another one."""
    empty_is_row = False
    """Whether a message of zero bytes is a row."""
    null_is_row = False
    """Whether a null message is a row."""
    single_column = False
    """Whether the format holds one column only."""
    probe: ClassVar[tuple[Field, ...]] = (Field("id", t.INT), Field("name", t.STRING))
    """Columns for the tests that are not about types."""
    probe_rows: ClassVar[list[tuple[Any, ...]]] = [(i, f"name {i}") for i in range(10)]

    @property
    def format(self) -> Format:
        return format_named(self.name)

    def choice(self, **context: Any) -> FormatChoice:
        return FormatChoice(self.name, dict(self.options), FormatContext(**{"table": "t", "topic": "topic", **context}))

    def decoder(self, columns: tuple[Field, ...]) -> Decoder:
        return self.format.decoder(columns, (), self.choice())

    def encoder(self, columns: tuple[Field, ...]) -> Encoder:
        return self.format.encoder(columns, self.choice(sink=True))

    def round_trip(self, columns: tuple[Field, ...], rows: list[tuple[Any, ...]]) -> tuple[pa.RecordBatch, Decoded]:
        given = batch(columns, rows)
        return given, self.decoder(columns).decode(self.encoder(columns).encode(given))

    def columns_of(self, type: DataType) -> tuple[Field, ...]:
        return (Field("v", type),) if self.single_column else (Field("k", t.INT), Field("v", type))

    def rows_of(self, values: list[Any]) -> list[tuple[Any, ...]]:
        return [(v,) if self.single_column else (i, v) for i, v in enumerate(values)]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "sample" in metafunc.fixturenames:
            metafunc.parametrize("sample", self.types)

    # -- the tests ---------------------------------------------------------------------------------------------------

    def test_round_trip_of_every_type(self, sample: str) -> None:
        type, values = SAMPLES[sample]
        columns = self.columns_of(type)
        self.format.validate(columns, self.choice(sink=True))
        given, decoded = self.round_trip(columns, self.rows_of(values))
        assert not decoded.bad
        assert same(decoded.rows, given)
        assert decoded.message is None

    def test_null_of_every_type(self, sample: str) -> None:
        if not self.nulls:
            return
        type, values = SAMPLES[sample]
        given, decoded = self.round_trip(self.columns_of(type), self.rows_of([values[0], None, values[-1]]))
        assert not decoded.bad
        assert same(decoded.rows, given)

    def test_not_null_columns_hold_null(self, sample: str) -> None:
        type, _ = SAMPLES[sample]
        decoded = self.decoder(self.columns_of(type.not_null())).decode(pa.array([], pa.binary()))
        assert all(f.nullable for f in decoded.rows.schema)

    def test_empty_batch(self) -> None:
        given, decoded = self.round_trip(self.probe, [])
        assert same(decoded.rows, given)
        assert not decoded.bad

    def test_sliced_arrays(self) -> None:
        whole = self.encoder(self.probe).encode(batch(self.probe, self.probe_rows))
        for start, length in ((0, 3), (3, 4), (9, 1), (5, 0)):
            part = batch(self.probe, self.probe_rows).slice(start, length)
            assert self.encoder(self.probe).encode(part).equals(whole.slice(start, length))
            assert same(self.decoder(self.probe).decode(whole.slice(start, length)).rows, part)

    def test_sliced_nested_arrays(self, sample: str) -> None:
        type, values = SAMPLES[sample]
        columns = self.columns_of(type)
        given = batch(columns, self.rows_of([values[0], values[-1], values[0], values[-1]]))
        encoded = self.encoder(columns).encode(given)
        assert self.encoder(columns).encode(given.slice(1, 2)).equals(encoded.slice(1, 2))
        assert same(self.decoder(columns).decode(encoded.slice(1, 2)).rows, given.slice(1, 2))

    def test_null_message(self) -> None:
        payloads = self.encoder(self.probe).encode(batch(self.probe, self.probe_rows[:2])).to_pylist()
        decoded = self.decoder(self.probe).decode(pa.array([payloads[0], None, payloads[1]], pa.binary()))
        assert not decoded.bad
        assert decoded.rows.num_rows == 2 + self.null_is_row
        if not self.null_is_row:
            assert decoded.message is not None
            assert decoded.message.to_pylist() == [0, 2]

    def test_row_order_is_kept_around_bad_messages(self) -> None:
        payloads = self.encoder(self.probe).encode(batch(self.probe, self.probe_rows)).to_pylist()
        decoded = self.decoder(self.probe).decode(pa.array([*payloads[:4], None, *payloads[4:]], pa.binary()))
        if not self.null_is_row:
            assert same(decoded.rows, batch(self.probe, self.probe_rows))

    def test_choice_and_decoded_rows_are_picklable(self) -> None:
        assert pickle.loads(pickle.dumps(self.choice())) == self.choice()

    def test_a_second_batch_is_not_changed_by_the_first(self) -> None:
        decoder, encoder = self.decoder(self.probe), self.encoder(self.probe)
        given = batch(self.probe, self.probe_rows)
        payloads = encoder.encode(given)
        decoder.decode(pa.array([b"\xff\x00garbage", None, b""], pa.binary()))
        assert encoder.encode(given).equals(payloads)
        assert same(decoder.decode(payloads).rows, given)
        assert same(decoder.decode(payloads).rows, given)

    def test_large_batch(self) -> None:
        rows = [self.probe_rows[i % len(self.probe_rows)] for i in range(50_000)]
        given, decoded = self.round_trip(self.probe, rows)
        assert same(decoded.rows, given)

    @inherited
    @given(st.lists(st.binary(max_size=40) | st.none(), max_size=20))
    def test_random_bytes_never_raise(self, payloads: list[bytes | None]) -> None:
        decoded = self.decoder(self.probe).decode(pa.array(payloads, pa.binary()))
        self.check_shape(decoded, len(payloads))

    @inherited
    @given(st.data())
    def test_damaged_messages_never_raise(self, data: st.DataObject) -> None:
        good = self.encoder(self.probe).encode(batch(self.probe, self.probe_rows[:3])).to_pylist()
        payloads = [data.draw(damaged(p)) for p in good]
        decoded = self.decoder(self.probe).decode(pa.array(payloads, pa.binary()))
        self.check_shape(decoded, len(payloads))

    def check_shape(self, decoded: Decoded, payloads: int) -> None:
        """Rows, message and kinds agree, indices ascend, and a bad message gave no rows."""
        assert decoded.rows.schema.equals(decoded_schema(self.probe))
        if decoded.message is None:
            assert decoded.rows.num_rows == payloads
            assert not decoded.bad
        else:
            indices = decoded.message.to_pylist()
            assert len(indices) == decoded.rows.num_rows
            assert indices == sorted(indices)
            assert not {b.index for b in decoded.bad} & set(indices)
        assert decoded.kinds is None or len(decoded.kinds) == decoded.rows.num_rows
        assert decoded.kinds is None or set(decoded.kinds.to_pylist()) <= set(RowKind)
        for row in decoded.rows.to_pylist():
            assert row.keys() == {f.name for f in self.probe}


def damaged(payload: bytes | None) -> st.SearchStrategy[bytes | None]:
    """The payload cut short, with a byte changed, removed or put in."""
    if not payload:
        return st.just(payload)
    place = st.integers(0, len(payload) - 1)
    byte = st.binary(max_size=3)
    return st.one_of(
        place.map(lambda i: payload[:i]),
        st.tuples(place, byte).map(lambda c: payload[: c[0]] + c[1] + payload[c[0] + 1 :]),
        st.tuples(place, byte).map(lambda c: payload[: c[0]] + c[1] + payload[c[0] :]),
    )
