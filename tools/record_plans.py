"""Writes the plans of tests/plan/fixtures/plans anew: `python -m tools.record_plans`. Read the diff afterwards."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from rowkind.runtime.analysis import SparkAnalyzer
from tests.plan.plans import FILES, cases, planned


def main() -> None:
    wanted = [Path(name).stem for name in sys.argv[1:]]
    settings = {"spark.ui.enabled": "false", "spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}
    spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    analyzer = SparkAnalyzer(spark)
    for file in FILES:
        if not wanted or file.stem in wanted:
            found = [replace(case, expected=planned(case.sql, analyzer)) for case in cases(file)]
            file.write_text("\n".join(str(case) for case in found), "utf-8")
    spark.stop()


if __name__ == "__main__":
    main()
