"""Java's classes of Spark, loaded, checked and written down once: with the archive a JVM starts in half the time.

An archive fits one Java and one home of Spark; Java itself looks whether it does, and goes on without it otherwise.
"""

from __future__ import annotations

from pathlib import Path

from rowkind.errors import RowkindError
from rowkind.runtime.driver.spark_home import lasting_home, own_home

_QUIET = "-Xlog:disable -Xlog:all=error:stderr"
_JOB = """
    CREATE VIEW views AS SELECT * FROM (VALUES (1, 'north'), (2, 'south'), (2, 'south')) AS v (user_id, region);
    SELECT v.region, COUNT(*), COUNT(DISTINCT v.user_id), MAX(UPPER(w.region))
        FROM views AS v LEFT JOIN views AS w ON v.user_id = w.user_id WHERE v.user_id > 0 GROUP BY v.region;
"""


def archive_of(home: Path) -> Path:
    return home / "classes.jsa"


def reading(home: Path | None) -> str:
    """The options of a JVM that uses the archive of its home, if there is one."""
    if home is None or not archive_of(home).exists():
        return ""
    return f'{_QUIET} "-XX:SharedArchiveFile={archive_of(home)}"'


def make_archive() -> Path:
    """Run a small job and write down the classes it took."""
    from rowkind.runtime.driver.session import Selection, Session
    from rowkind.runtime.driver.spark import start_spark

    home = own_home()
    if home != lasting_home():
        where = "SPARK_HOME is set" if home is None else f"{lasting_home()} cannot be written"
        raise RowkindError("CLASS_ARCHIVE_NOT_MADE", reason=where)
    draft = home / "classes.draft"
    spark = start_spark(java=f'{_QUIET} "-XX:ArchiveClassesAtExit={draft}"')
    selection = Session(spark, show=lambda *_: None).sql(_JOB)
    assert isinstance(selection, Selection)
    selection.job.wait()
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    if not draft.exists():
        raise RowkindError("CLASS_ARCHIVE_NOT_MADE", reason="Java has not written it")
    return draft.replace(archive_of(home))
