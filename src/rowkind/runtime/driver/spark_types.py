"""Spark's types as Flink's."""

from __future__ import annotations

from pyspark.sql import types as s

from rowkind import types as t
from rowkind.errors import RowkindError
from rowkind.types import DataType, Field, Root

_SIMPLE: dict[type[s.DataType], DataType] = {
    s.StringType: t.STRING,
    s.BooleanType: t.BOOLEAN,
    s.BinaryType: t.BYTES,
    s.ByteType: t.TINYINT,
    s.ShortType: t.SMALLINT,
    s.IntegerType: t.INT,
    s.LongType: t.BIGINT,
    s.FloatType: t.FLOAT,
    s.DoubleType: t.DOUBLE,
    s.DateType: t.DATE,
    s.TimestampType: t.timestamp_ltz(6),
    s.TimestampNTZType: t.timestamp(6),
    s.DayTimeIntervalType: DataType(Root.INTERVAL_DAY_TIME),
    s.NullType: t.NULL,
}


def from_spark(type: s.DataType, nullable: bool = True) -> DataType:
    """The Flink type that holds the same values."""
    found = _from_spark(type)
    return found if nullable else found.not_null()


def _from_spark(type: s.DataType) -> DataType:
    match type:
        case s.DecimalType():
            return t.decimal(type.precision, type.scale)
        case s.ArrayType():
            return t.array(from_spark(type.elementType, type.containsNull))
        case s.MapType():
            return t.map_of(from_spark(type.keyType, False), from_spark(type.valueType, type.valueContainsNull))
        case s.StructType():
            return t.row(*(Field(f.name, from_spark(f.dataType, f.nullable)) for f in type.fields))
    if type.typeName() == "time":
        # TimeType is younger than the oldest Spark that rowkind runs on.
        return t.time(getattr(type, "precision", 6))
    found = next((_SIMPLE[kind] for kind in type.__class__.__mro__ if kind in _SIMPLE), None)
    if found is None:
        raise RowkindError("SPARK_TYPE_NOT_SUPPORTED", type=type.simpleString())
    return found
