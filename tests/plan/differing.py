"""What differs from Flink's recorded answers, and is not in the list of differences."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

from rowkind.plan.expressions.functions.differences import DIFFERENCES
from tests.plan.answers import Answer, World
from tests.plan.corpus import comparable
from tests.plan.recordings import Recorded, Recording


def answered(spark: SparkSession, recording: Recording) -> Mapping[str, Answer]:
    """What rowkind makes of each call."""
    world = World.of(spark, recording.zone, recording.typed_columns())
    alone = frozenset(call.expression for call in recording.calls if call.alone)
    return world.answers([call.expression for call in recording.calls], alone)


def differing(recording: Recording, answers: Mapping[str, Answer]) -> list[str]:
    """A line for each call that gives something else than Flink for no reason that is known."""
    lines = []
    for call in recording.calls:
        here, flink = outcomes(answers[call.expression], call)
        shown = recording.written_out(call.expression)
        same = here == flink or (call.fails and here.startswith("fails"))
        if not same and not any(d.covers(shown, here, flink) for d in DIFFERENCES):
            lines.append(f"{shown}: should be {flink!r}, but is {here!r}; {answers[call.expression].failure or ''}")
    return lines


def outcomes(answer: Answer, call: Recorded) -> tuple[str, str]:
    """The two answers in the words of the list of differences."""
    flink = "fails" if call.fails else "NULL" if call.value is None else call.value
    if answer.failure:
        return answer.failure.partition(":")[0], flink
    here = "NULL" if answer.value is None else answer.value
    if here == flink and answer.type != comparable(call.type):
        return f"type {answer.type}", f"type {comparable(call.type)}"
    return here, flink
