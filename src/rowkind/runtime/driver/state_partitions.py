"""Into how many partitions the state of a new job is cut, when nobody says."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

ON_A_CLUSTER = 16
"""Where the configuration names no number of cores. A task too many costs little, and state is never cut again."""


def usual_partitions(spark: SparkSession) -> int:
    """From the configuration alone, so that it is the same at every start.

    What Spark calls its default parallelism counts the executors that have registered so far: on a cluster it depends
    on how quickly they come. With a local master it is the number in the master's name, or of the machine's cores.
    """
    context = spark.sparkContext
    return partitions_for(context.master, dict(context.getConf().getAll()), context.defaultParallelism)


def partitions_for(master: str | None, conf: Mapping[str, str], there: int) -> int:
    """The same with what Spark says; `there` are the cores that it has now."""
    return there if is_local(master) else configured_cores(conf) or ON_A_CLUSTER


def is_local(master: str | None) -> bool:
    """Whether the driver's own process runs the tasks, so that there are no executors to wait for."""
    return (master or "").partition("[")[0] == "local"


def configured_cores(conf: Mapping[str, str]) -> int | None:
    """The cores that the configuration gives a job on a cluster, if it says."""
    for name in ("spark.default.parallelism", "spark.cores.max"):
        if (given := conf.get(name)) is not None:
            return int(given)
    instances, cores = conf.get("spark.executor.instances"), conf.get("spark.executor.cores")
    return int(instances) * int(cores) if instances is not None and cores is not None else None
