"""The home of a local Spark: the installed one, arranged so that its processes start fast.

Spark puts the archive `python/lib/pyspark.zip` of its home first on the path of its Python processes. Python compiles
what it imports from an archive anew in each of them: about a second of a core. In a home without that archive they find
the same pyspark where it is installed. And Java loads classes from an archive of its own, if one was made
(`class_archive.py`), as long as the home has the same path and an empty folder of settings.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pyspark

_HOME, _SETTINGS = "SPARK_HOME", "SPARK_CONF_DIR"


def lasting_home() -> Path:
    """Where the home is, unless this user may not write there."""
    return Path(sys.prefix, "share", "rowkind", f"spark-{pyspark.__version__}")


def own_home() -> Path | None:
    """Made when it is not there; None where the user has chosen a home."""
    if _HOME in os.environ:
        return None
    try:
        return _arranged(lasting_home())
    except OSError:
        return _arranged(Path(tempfile.mkdtemp(prefix="rowkind-home-")))


@contextlib.contextmanager
def at_home(home: Path | None) -> Iterator[None]:
    """A JVM that starts meanwhile has this home, and the settings of the user if there are any."""
    if home is None:
        yield
        return
    given = {_HOME: str(home), _SETTINGS: os.environ.get(_SETTINGS, str(home / "conf"))}
    fresh = given.keys() - os.environ.keys()
    os.environ.update(given)
    try:
        yield
    finally:
        for name in fresh:
            del os.environ[name]


def _arranged(home: Path) -> Path:
    (home / "conf").mkdir(parents=True, exist_ok=True)
    installed = Path(pyspark.__file__).parent
    for name in ("bin", "jars"):
        if not (home / name).is_symlink() or (home / name).readlink() != installed / name:
            draft = home / f"{name}-{uuid.uuid4().hex}"
            draft.symlink_to(installed / name)
            draft.replace(home / name)
    return home
