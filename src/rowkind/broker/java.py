"""The Java that Kafka and Spark run on: found and checked before anything else starts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from rowkind.errors import RowkindError

OLDEST = 17


def require_java() -> Path:
    """The `java` program of `JAVA_HOME`, else of the path; missing or too old is an error that says what to install."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home, "bin"))) if home else shutil.which("java")
    if found is None:
        raise RowkindError("JAVA_MISSING", where=f"in JAVA_HOME ({home})" if home else "on the PATH", oldest=OLDEST)
    version = java_version(Path(found))
    if version is None or version < OLDEST:
        raise RowkindError("JAVA_TOO_OLD", path=found, version=version or "unknown", oldest=OLDEST)
    return Path(found)


def java_version(java: Path) -> int | None:
    """The feature release of a `java` program: 17 of `17.0.15`, 8 of `1.8.0_402`."""
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    return int(match.group(1)) if match else None
