"""Scripts as job plans, without Spark; `{at}` and `{keyed}` stand for options that the plan does not depend on."""

from __future__ import annotations

from rowkind.catalog.catalog import Catalog
from rowkind.options.session_options import STATE_TTL
from rowkind.options.session_values import SessionOptions
from rowkind.plan.analysis import Analyzer
from rowkind.runtime.driver.job_plan import JobPlan, job_plan
from rowkind.runtime.driver.planning import Planner
from rowkind.sql import parse_script
from rowkind.sql import statements as s
from rowkind.sql.errors import Source
from tests.oracle.corpus import Case
from tests.oracle.sources import Sources

AT = "'properties.bootstrap.servers' = 'nowhere:1', 'topic' = 't'"
KEYED = "'key.format' = 'json', 'value.format' = 'json'"
UPSERT = "'connector' = 'upsert-kafka', {at}, {keyed}"
RETRACT = "'connector' = 'kafka', {at}, 'format' = 'debezium-json', 'scan.startup.mode' = 'earliest-offset'"
APPEND = "'connector' = 'kafka', {at}, 'format' = 'json', 'scan.startup.mode' = 'earliest-offset'"
OPTIONS = {"a": UPSERT, "b": UPSERT, "c": APPEND, "d": RETRACT, "e": UPSERT}


def job_of(script: str, analyzer: Analyzer) -> JobPlan:
    """The plan of a script's last statement."""
    catalog, options, found = Catalog(), SessionOptions(), None
    text = script.replace("{at}", AT).replace("{keyed}", KEYED)
    for statement in parse_script(text):
        match statement:
            case s.CreateTable():
                catalog.create_table(statement.definition)
            case s.CreateView():
                catalog.create_view(statement.definition)
            case s.Set(key=str(key)):
                options, _ = options.set(key, statement.value or "")
            case s.Insert() | s.StatementSet():
                plans = Planner(catalog, analyzer, options, Source(text)).inserts(statement)
                found = job_plan(plans, partitions=2, ttl=options.value(STATE_TTL))
    assert found is not None, "nothing to run"
    return found


def corpus_script(sources: Sources, wanted: list[Case], analyzer: Analyzer) -> str:
    """A statement set with all the queries, each into a table of its own."""
    columns = sink_columns(sources, wanted, analyzer)
    made = [case.sink(columns[case.name], UPSERT, RETRACT) for case in wanted]
    inserts = [f"INSERT INTO out_{case.name} {case.query};" for case in wanted]
    return "\n".join([sources.tables(OPTIONS), *made, "EXECUTE STATEMENT SET BEGIN", *inserts, "END;"])


def sink_columns(sources: Sources, wanted: list[Case], analyzer: Analyzer) -> dict[str, str]:
    """The columns of each query's result, as DDL."""
    catalog = Catalog()
    for statement in parse_script(sources.tables(OPTIONS).replace("{at}", AT).replace("{keyed}", KEYED)):
        if isinstance(statement, s.CreateView):
            catalog.create_view(statement.definition)
        elif isinstance(statement, s.CreateTable):
            catalog.create_table(statement.definition)
    planner, found = Planner(catalog, analyzer, SessionOptions(), Source("")), {}
    for case in wanted:
        (select,) = parse_script(case.query)
        assert isinstance(select, s.Select)
        columns = planner.query(select.query).columns
        found[case.name] = ", ".join(f"`{c.name}` {c.type.as_nullable()}" for c in columns)
    return found
