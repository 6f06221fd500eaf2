"""Ask Flink and rowkind about freshly generated calls: `python -m tools.compare_calls [--seed N] [--calls N]`.

Prints what differs and is not in the list of differences, and fails if there is anything. Needs `make flink`.
"""

from __future__ import annotations

import argparse
import random
import sys

from rowkind.runtime.driver.spark import start_spark
from tests.plan.differing import answered, differing
from tools.flink.client import Flink
from tools.record_calls import recording

ZONES = ("UTC", "Europe/Berlin", "America/New_York")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--calls", type=int, default=3000)
    given = parser.parse_args()
    with Flink() as flink:
        asked = recording(flink, given.seed, ZONES[given.seed % len(ZONES)], given.calls)
    spark = start_spark("local[1]")
    found = differing(asked, answered(spark, asked))
    spark.stop()
    print(f"seed {given.seed}, {asked.zone}: {len(asked.calls)} calls, {len(found)} differ")
    print("\n".join(found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
