"""A home for a local Spark whose Python processes import the installed pyspark, compiled once and for all.

Spark puts the archive `python/lib/pyspark.zip` of its home first on the path of its Python processes, of which a job
has half a dozen. Python compiles what it imports from an archive anew in each of them: about a second of a core. In a
home without that archive they find the same pyspark where it is installed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pyspark

_HOME = "SPARK_HOME"
_NEEDED = ("bin", "jars")


@contextlib.contextmanager
def home_without_archive(folder: Path) -> Iterator[None]:
    """The JVM that starts meanwhile has its home in the folder, unless the user has chosen one."""
    if _HOME in os.environ:
        yield
        return
    installed = Path(pyspark.__file__).parent
    folder.mkdir(parents=True)
    for name in _NEEDED:
        (folder / name).symlink_to(installed / name)
    os.environ[_HOME] = str(folder)
    try:
        yield
    finally:
        del os.environ[_HOME]
