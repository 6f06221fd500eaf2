"""Writes the plans of tests/plan/fixtures/plans anew: `python -m tools.record_plans`. Read the diff afterwards."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from rowkind.runtime.driver.spark import start_spark
from rowkind.runtime.driver.spark_analyzer import SparkAnalyzer
from tests.plan.plans import FILES, cases, planned


def main() -> None:
    wanted = [Path(name).stem for name in sys.argv[1:]]
    spark = start_spark("local[1]", {"spark.sql.session.timeZone": "UTC"})
    analyzer = SparkAnalyzer(spark)
    for file in FILES:
        if not wanted or file.stem in wanted:
            found = [replace(case, expected=planned(case.sql, analyzer)) for case in cases(file)]
            file.write_text("\n".join(str(case) for case in found), "utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
