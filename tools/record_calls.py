"""Record what real Flink makes of generated calls: `python -m tools.record_calls [SEED ZONE …]`.

Without arguments the fixtures of tests/plan/fixtures/calls are recorded anew, by the seeds and zones of their names.
Needs `make flink`. What Flink refuses to plan is left out, and all but a few of the calls that fail while they run.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace

from rowkind.runtime.driver.spark import start_spark
from tests.plan.answers import Answer
from tests.plan.differing import answered, differing
from tests.plan.recordings import FOLDER, Recorded, Recording, paths
from tools.flink.client import Flink
from tools.function_calls import Calls

COUNT = 1000
FAILING = 25
"""Each is asked alone, which takes as long as fifty others."""


def recording(flink: Flink, seed: int, zone: str, count: int = COUNT) -> Recording:
    """Flink's answers to the calls that the seed makes."""
    calls = Calls(seed)
    made = calls.make(count)
    asked = [[call.expression, list(dict.fromkeys(call.columns))] for call in made]
    found = flink.answers(asked, calls.columns, config={"table.local-time-zone": zone})
    kept = [
        Recorded(answer["expression"], answer["type"], answer.get("value"), answer["phase"] == "run")
        for answer in found
        if answer["phase"] != "plan"
    ]
    return Recording(seed, zone, calls.columns, kept)


def marked(recording: Recording, answers: Mapping[str, Answer]) -> Recording:
    """With a mark at those that fail here, of which only the first few are kept."""
    failing = [call for call in recording.calls if (answers[call.expression].failure or "").startswith("fails")]
    kept = [call._replace(alone=call in failing) for call in recording.calls if call not in failing[FAILING:]]
    return replace(recording, calls=kept)


def main(arguments: list[str]) -> None:
    named = [(int(seed), zone) for seed, zone in zip(arguments[::2], arguments[1::2], strict=True)]
    if not named:
        named = [(known.seed, known.zone) for known in map(Recording.read, paths())]
    with Flink() as flink:
        asked = [recording(flink, seed, zone) for seed, zone in named]
    spark = start_spark("local[1]")
    FOLDER.mkdir(exist_ok=True)
    for found in asked:
        answers = answered(spark, found)
        marked(found, answers).write()
        print(f"seed {found.seed}, {found.zone}: {len(found.calls)} of {COUNT} calls")
        print("\n".join(differing(found, answers)))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
