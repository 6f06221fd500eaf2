"""The SparkSession that jobs run in, with what the engine relies on set, and Spark's own talk kept in a file."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from rowkind.broker.java import require_java
from rowkind.errors import RowkindError
from rowkind.runtime.driver.class_archive import reading
from rowkind.runtime.driver.spark_home import at_home, own_home
from rowkind.runtime.driver.speculation import SPECULATION
from rowkind.runtime.heap import machine_memory, usual_heap

RELIED_ON = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.adaptive.enabled": "false",
    # bytes that are not text in a character set are replaced, as Java and Flink do it, and are not an error
    "spark.sql.legacy.codingErrorAction": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    "spark.sql.execution.arrow.maxBytesPerBatch": "33554432",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    # of two members of a JSON object with one name the last counts, as in Flink, and is not an error
    "spark.sql.variant.allowDuplicateKeys": "true",
}
"""Settings of a session that the engine depends on; they are set for the session of a job, not assumed."""

SOCKETS = {
    "spark.python.unix.domain.socket.enabled": "true",
    # a path of a socket has at most 108 characters, and the temporary folder of a YARN container has more
    "spark.python.unix.domain.socket.dir": "/tmp",
}
"""Java and its Python workers talk through files: a task that does nothing takes 18 ms then, and 60 over TCP."""

MALLOC = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": str(8 * 1024 * 1024)}
"""For Java and workers, whose many threads would each keep freed memory in a pool of their own; what is large goes back
to the system at once.
"""

REMEMBERED = {
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "1000",
    "spark.sql.ui.retainedExecutions": "20",
}
"""What Spark remembers of jobs that are done, for web pages that are switched off: by default a thousand of each kind,
which is some hundred batches and grows the heap by 50 KB with each of them.
"""

_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""A local Spark talks to nobody but itself."""

_AT_START = {
    **{f"spark.executorEnv.{name}": value for name, value in MALLOC.items()},
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    **REMEMBERED,
    "spark.python.worker.reuse": "true",
    "spark.python.daemon.module": "rowkind.runtime.worker.daemon",
    **SOCKETS,
    SPECULATION: "false",
}


def start_spark(
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    name: str = "rowkind",
    log: Path | None = None,
    java: str | None = None,
) -> SparkSession:
    """A local Spark of our own, or one on a cluster with `master`; `java` replaces its JVM's options for classes."""
    require_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for variable, value in MALLOC.items():
        os.environ.setdefault(variable, value)
    builder = SparkSession.builder.appName(name).master(master or f"local[{os.cpu_count() or 2},4]")
    folder = Path(tempfile.mkdtemp(prefix="rowkind-log-"))
    home = own_home() if _local(master) else None
    target, talk = _quiet(folder, log)
    options = {
        "spark.driver.extraJavaOptions": f"{talk} {reading(home) if java is None else java}",
        "spark.driver.memory": f"{usual_heap(machine_memory()) >> 20}m",
    }
    local = _LOOPBACK if _local(master) else {}
    for key, value in {**_AT_START, **local, **options, **RELIED_ON, **(conf or {})}.items():
        builder = builder.config(key, value)
    _silence()
    atexit.register(_remove_log, folder)
    try:
        with _stderr_to(target), _deaf_to_sigterm(), at_home(home), _environment(_own_address(master)):
            return builder.getOrCreate()
    except Exception as error:
        reason = _first_line(str(error))
        where = master or "local"
        raise RowkindError("SPARK_NOT_STARTED", master=where, reason=reason, log=log_file()) from error


def _local(master: str | None) -> bool:
    """Whether workers run on this machine, from this installation."""
    return master is None or master.partition("[")[0] == "local"


def rely_on(spark: SparkSession) -> SparkSession:
    """A session of the same Spark, with the settings that the engine depends on; the user's own stays as it is."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise RowkindError("SPARK_CONNECT")
    session = spark.newSession()
    for key, value in RELIED_ON.items():
        session.conf.set(key, value)
    return session


def cloned(spark: SparkSession) -> SparkSession:
    """A session for a job that goes on by itself: settings that are changed later do not reach it."""
    return SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession())


@contextlib.contextmanager
def _deaf_to_sigterm() -> Iterator[None]:
    """The JVM that starts meanwhile ignores SIGTERM: sent to all processes at once, it is for the driver to act on.

    The driver finishes the batch and stops the JVM, which also ends when the driver is gone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    saved = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, saved or signal.SIG_DFL)


@contextlib.contextmanager
def _stderr_to(target: Path) -> Iterator[None]:
    """The JVM that starts meanwhile keeps the file as its stderr, and so do the Python workers that it starts."""
    sys.stderr.flush()
    saved = os.dup(2)
    with open(target, "ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def _quiet(folder: Path, log: Path | None) -> tuple[Path, str]:
    """Spark's log goes to a file, by an option of the JVM; the terminal belongs to the job."""
    target = log or folder / "spark.log"
    config = folder / "log4j2.properties"
    config.write_text(
        "status = error\n"
        "rootLogger.level = warn\n"
        "rootLogger.appenderRef.file.ref = file\n"
        "appender.file.type = File\nappender.file.name = file\n"
        f"appender.file.fileName = {target}\n"
        "appender.file.layout.type = PatternLayout\n"
        "appender.file.layout.pattern = %d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n%ex\n"
    )
    os.environ["ROWKIND_SPARK_LOG"] = str(target)
    return target, f"-Dlog4j2.configurationFile=file:{config}"


def log_file() -> str | None:
    """Where Spark's log goes, if we started it. Whoever asks has something to explain: it stays after the process."""
    _needed.set()
    return os.environ.get("ROWKIND_SPARK_LOG")


_needed = threading.Event()


def _remove_log(folder: Path) -> None:
    """After a good end nobody reads it."""
    if not _needed.is_set():
        shutil.rmtree(folder, ignore_errors=True)


def _silence() -> None:
    """PySpark logs each error of a query as a line of JSON with the stack: errors are told once, by name."""
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)


def _own_address(master: str | None) -> dict[str, str]:
    """Spark's web pages go by the environment alone."""
    return {"SPARK_LOCAL_IP": "127.0.0.1"} if _local(master) and "SPARK_LOCAL_IP" not in os.environ else {}


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """For the process that is started meanwhile."""
    os.environ.update(values)
    try:
        yield
    finally:
        for name in values:
            del os.environ[name]


def _first_line(text: str) -> str:
    """What a Java error says, without its stack: the innermost cause that has a message."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if re.match(r"(: )?(Caused by: )?[\w.$]+(Exception|Error): ", line)]
    return (told or lines or ["it said nothing"])[0].removeprefix(": ")
