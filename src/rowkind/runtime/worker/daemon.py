"""Spark's daemon of Python workers, with everything imported that a worker needs before it forks one.

A worker then starts in no time; by itself each of them would import for about a second of a core. Importing is all
that may happen here: clients and threads do not survive a fork.

Spark has a worker collect garbage after every task. What was imported is not garbage, but going over it takes 35 ms of
a core each time; frozen, it is left out.
"""

from __future__ import annotations

import gc

import pandas  # noqa: F401  pyarrow imports it at the first array it makes: too late for `freeze`
from pyspark import worker  # noqa: F401
from pyspark.daemon import manager

import rowkind.formats.avro.format
import rowkind.formats.csv.format
import rowkind.formats.json.format
import rowkind.formats.raw.format  # noqa: F401
from rowkind.runtime.worker import steps, write_step  # noqa: F401

if __name__ == "__main__":
    gc.collect()
    gc.freeze()
    manager()
