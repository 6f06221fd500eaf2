"""The session: statements in, tables defined, jobs started. The door for Python users and for the command line."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatchmethod
from typing import Self
from urllib.parse import quote

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from rowkind.catalog.catalog import Catalog
from rowkind.catalog.show import Description, describe, describe_fields, show_create_table, show_create_view
from rowkind.connectors.settings import Guarantee
from rowkind.definitions import ViewDefinition
from rowkind.errors import RowkindError
from rowkind.options.constraints import Constraints
from rowkind.options.session_options import (
    BATCH_INTERVAL,
    CHECKPOINT_SYNC,
    DML_SYNC,
    JOB_NAME,
    STATE_PARTITIONS,
    STATE_TTL,
    TIME_ZONE,
)
from rowkind.options.session_values import SessionOptions
from rowkind.plan import nodes as n
from rowkind.runtime.driver.batch_runner import Row
from rowkind.runtime.driver.checking import Check
from rowkind.runtime.driver.delivery import prepare_sinks
from rowkind.runtime.driver.final_rows import FinalRows
from rowkind.runtime.driver.job import Job, Progress, Status
from rowkind.runtime.driver.job_folder import moved_folder
from rowkind.runtime.driver.job_plan import JobPlan, job_plan
from rowkind.runtime.driver.planning import Planner, plans_text
from rowkind.runtime.driver.resuming import Resuming
from rowkind.runtime.driver.spark import rely_on, start_spark
from rowkind.runtime.driver.spark_analyzer import SparkAnalyzer
from rowkind.runtime.driver.speculation import check_speculation
from rowkind.runtime.driver.state_partitions import usual_partitions
from rowkind.sql import parse_script, substitute
from rowkind.sql import statements as s
from rowkind.sql.errors import Source
from rowkind.sql.places import Written, placed
from rowkind.types import Field


@dataclass(frozen=True, slots=True)
class Text:
    """The answer of a statement that starts no job: a heading, if there is one, and rows of texts."""

    rows: tuple[tuple[str, ...], ...] = ()
    heading: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        return Status.FINISHED

    @property
    def progress(self) -> Progress:
        return Progress()

    def wait(self, timeout: float | None = None) -> bool:
        """There is nothing to wait for."""
        return True

    def stop(self) -> None:
        """There is nothing to stop."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A running SELECT: its columns, and its job. With ORDER BY over bounded tables `final` has the rows at its end."""

    fields: tuple[Field, ...]
    job: Job
    final: FinalRows | None = None

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.fields)

    @property
    def status(self) -> Status:
        return self.job.status

    @property
    def progress(self) -> Progress:
        return self.job.progress

    def wait(self, timeout: float | None = None) -> bool:
        return self.job.wait(timeout)

    def stop(self) -> None:
        self.job.stop()


Answer = Job | Selection | Text
"""What a statement gives. Each can be waited for and stopped, and has `status` and `progress`."""
Show = Callable[[tuple[str, ...], list[Row]], None]
"""Gets the titles and the next rows of a SELECT, batch after batch."""


class Session:
    """Tables, views and options, over the user's Spark or one of our own.

    session = Session()
    session.sql("CREATE TABLE … WITH ('connector' = 'kafka', …)")
    job = session.sql("INSERT INTO … SELECT …")
    job.wait()
    """

    def __init__(
        self,
        spark: SparkSession | None = None,
        checkpoint: str | None = None,
        notify: Callable[[str], None] = print,
        show: Show | None = None,
        as_text: bool = False,
        owned: bool = False,
        rewind: bool = False,
        drain: bool = False,
        announce: Callable[[tuple[Field, ...]], None] = lambda fields: None,
    ) -> None:
        self._resuming = Resuming(rewind, drain)
        self._resuming.check(checkpoint)
        self._owned = owned or spark is None
        self.spark = rely_on(spark or start_spark())
        self.catalog = Catalog()
        self.options = SessionOptions()
        self.jobs: list[Job] = []
        self._checkpoint = checkpoint
        self._notify = notify
        self._show = show
        self._announce = announce
        self._as_text = as_text
        self._analyzer = SparkAnalyzer(self.spark)
        self._source = Source("")
        self._tables: dict[str, Written] = {}
        """Where tables were defined, for errors about their options."""
        self._names: set[str] = set()
        self._stopping = False

    def sql(self, script: str, variables: Mapping[str, str] | None = None) -> Answer:
        """Run the statements of a script; the answer is that of the last one."""
        answers: list[Answer] = [Text(), *self.execute(script, variables)]
        return answers[-1]

    def execute(
        self, script: str, variables: Mapping[str, str] | None = None, file: str | None = None
    ) -> Iterator[Answer]:
        """Run the statements of a script one after the other, with the answer of each."""
        text = substitute(script, variables or {})
        statements = parse_script(text, file)
        if len(statements) > 1:
            self.check(statements, text, file)
        for statement in statements:
            yield self.run_statement(statement, text, file)

    def check(self, statements: Sequence[s.Statement], text: str, file: str | None = None) -> None:
        """Plan all statements of a text, and run none: what is wrong with the last one is told before the first job."""
        made = Check(self.catalog.copy(), self.options, self._analyzer, self._as_text, tables=dict(self._tables))
        self.spark.conf.set("spark.sql.session.timeZone", self._time_zone())
        made.run(statements, text, file)

    def run_statement(self, statement: s.Statement, text: str, file: str | None = None) -> Answer:
        """Run one parsed statement of a text that errors point into."""
        self._source = Source(text, file)
        written = Written(statement, self._source)
        try:
            answer = self._run(statement)
        except RowkindError as error:
            raise placed(error, written, self._tables) from error.__cause__
        if isinstance(statement, s.CreateTable):
            self._tables[statement.definition.name] = written
        if isinstance(answer, Job) and self.options.value(DML_SYNC):
            answer.wait()
        return answer

    def set(self, key: str, value: str) -> None:
        """As the statement SET."""
        self.options, notices = self.options.set(key, value)
        for notice in notices:
            self._notify(notice)

    def stop_jobs(self) -> None:
        """Ask all jobs to finish their batches and stop, and those that start later as well. Returns at once."""
        self._stopping = True
        for job in self.jobs:
            job.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop all jobs, and Spark if the session started it."""
        self.stop_jobs()
        for job in self.jobs:
            with contextlib.suppress(RowkindError):
                job.wait()
        if self._owned:
            with contextlib.suppress(Py4JError, OSError):  # Spark is gone already
                self.spark.stop()

    @singledispatchmethod
    def _run(self, statement: s.Statement) -> Answer:
        raise NotImplementedError(type(statement).__name__)

    @_run.register
    def _(self, statement: s.CreateTable) -> Answer:
        self.catalog.create_table(statement.definition, if_not_exists=statement.if_not_exists, like=statement.like)
        return Text()

    @_run.register
    def _(self, statement: s.CreateView) -> Answer:
        if not (statement.if_not_exists and self.catalog.find(statement.definition.name)):
            self._planner().bind_view(statement.definition)
        self.catalog.create_view(statement.definition, if_not_exists=statement.if_not_exists)
        return Text()

    @_run.register
    def _(self, statement: s.Drop) -> Answer:
        self.catalog.drop(statement.name, view=statement.view, if_exists=statement.if_exists)
        return Text()

    @_run.register
    def _(self, statement: s.Set) -> Answer:
        if statement.key is None:
            return Text(tuple(sorted(self.options.items())), ("key", "value"))
        self.set(statement.key, statement.value or "")
        return Text()

    @_run.register
    def _(self, statement: s.Reset) -> Answer:
        self.options = self.options.reset(statement.key)
        return Text()

    @_run.register
    def _(self, statement: s.ShowTables) -> Answer:
        names = self.catalog.names(views_only=statement.views_only)
        return Text(tuple((name,) for name in names), ("view name" if statement.views_only else "table name",))

    @_run.register
    def _(self, statement: s.ShowCreate) -> Answer:
        purpose = "SHOW CREATE"
        if statement.view:
            return Text(((show_create_view(self.catalog.view(statement.name, purpose)),),))
        return Text(((show_create_table(self.catalog.table(statement.name, purpose)),),))

    @_run.register
    def _(self, statement: s.Describe) -> Answer:
        found = self.catalog.get(statement.name)
        planner = self._planner()
        if isinstance(found, ViewDefinition):
            lines = describe_fields(planner.columns(found))  # type: ignore[arg-type]
        else:
            types = {c.name: c.type for c in planner.columns(found)} if found.computed else {}
            lines = describe(found, types)
        return Text(tuple(_texts(line) for line in lines), ("name", "type", "null", "key", "extras", "watermark"))

    @_run.register
    def _(self, statement: s.Explain) -> Answer:
        planner = self._planner()
        target = statement.target
        plans = [planner.select(target)] if isinstance(target, s.Select) else planner.inserts(target)
        self._tell(planner)
        return Text(((plans_text(plans),),))

    @_run.register(s.Insert)
    @_run.register(s.StatementSet)
    def _(self, statement: s.Insert | s.StatementSet) -> Answer:
        planner = self._planner()
        plans = planner.inserts(statement)
        self._tell(planner)
        sinks = [plan.table for plan in plans if isinstance(plan, n.Sink)]
        if self._checkpoint is None and any(t.writing.guarantee is Guarantee.EXACTLY_ONCE for t in sinks):
            self._notify("Warning: exactly-once without a checkpoint folder: the promise ends with this run.")
        check_speculation(dict(self.spark.sparkContext.getConf().getAll()), sinks)
        for warning in prepare_sinks(sinks):
            self._notify(f"Warning: {warning}")
        return self._start(plans, sinks[0].name)

    @_run.register
    def _(self, statement: s.Select) -> Answer:
        planner = self._planner()
        plan = planner.select(statement, self._as_text)
        self._tell(planner)
        final = FinalRows(plan) if plan.order else None
        self._announce(plan.fields)
        return Selection(plan.fields, self._start([plan], "select", final or self._show), final)

    def _start(self, plans: list[n.Node], name: str, show: Show | None = None) -> Job:
        self.spark.conf.set("spark.sql.session.timeZone", self._time_zone())
        partitions = self.options.get_value(STATE_PARTITIONS)
        given = self.options.get_value(JOB_NAME)
        plan = job_plan(
            plans,
            partitions or usual_partitions(self.spark),
            Constraints.of(self.options),
            self.options.value(STATE_TTL),
            partitions is not None,
        )
        label = self._label(given or name, None if given else plan)
        job = Job(
            self.spark,
            given or name,
            plan,
            None if self._checkpoint is None else f"{self._checkpoint.rstrip('/')}/{label}",
            self.options.get_value(BATCH_INTERVAL),
            show,
            self._notify,
            self._resuming,
            label,
            self.options.value(CHECKPOINT_SYNC),
        )
        self.jobs.append(job)
        if self._stopping:
            job.stop()
        return job.start()

    def _label(self, name: str, plan: JobPlan | None) -> str:
        """What tells the jobs of a session apart, named after the job or its first sink: `orders`, `orders-2`.

        With a checkpoint it is the job's folder in there, and must be the same when the script is run again; without
        one the labels of jobs that have ended are free. A `plan` is given where the name is that of its first sink: a
        job whose first INSERT was moved, added or removed goes on in the folder that it has.
        """
        running = {job.label for job in self.jobs if job.status is Status.RUNNING}
        used = running if self._checkpoint is None else self._names
        folder = folder_name(name)
        number, fresh = 1, folder
        while fresh in used:
            number += 1
            fresh = f"{folder}-{number}"
        if self._checkpoint is not None and plan is not None:
            moved = moved_folder(self._checkpoint.rstrip("/"), fresh, plan, used)
            if moved is not None:
                self._notify(
                    f"The job goes on in folder '{moved}' of the checkpoint, named after another of its tables."
                )
                fresh = moved
        self._names.add(fresh)
        return fresh

    def _time_zone(self) -> str:
        zone = self.options.value(TIME_ZONE)
        return self.spark.sparkContext._jvm.java.util.TimeZone.getDefault().getID() if zone == "default" else zone  # type: ignore[union-attr]

    def _planner(self) -> Planner:
        self.spark.conf.set("spark.sql.session.timeZone", self._time_zone())
        return Planner(self.catalog, self._analyzer, self.options, self._source)

    def _tell(self, planner: Planner) -> None:
        for warning in planner.take_warnings():
            self._notify(f"Warning: {warning}")


def _texts(line: Description) -> tuple[str, ...]:
    return (line.name, line.type, str(line.null).upper(), line.key or "", line.extras or "", line.watermark or "")


def folder_name(name: str) -> str:
    """A name as one folder below another: a name in backticks may be `../other`.

    >>> folder_name("orders"), folder_name("../a b"), folder_name("..")
    ('orders', '..%2Fa b', '%2E%2E')
    """
    if name.strip(".") == "":
        return name.replace(".", "%2E")
    return re.sub(r"[/\\\x00-\x1f\x7f%]", lambda found: quote(found[0], safe=""), name)
