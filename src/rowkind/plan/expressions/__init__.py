"""Flink's scalar expressions as Spark SQL: translated text, and the Flink type of the value."""

from rowkind.plan.expressions.clock import Moment, bind_clock, depends_on_clock
from rowkind.plan.expressions.common import common_type
from rowkind.plan.expressions.translator import translate, translate_all
from rowkind.plan.expressions.typed import Typed

__all__ = ["Moment", "Typed", "bind_clock", "common_type", "depends_on_clock", "translate", "translate_all"]
