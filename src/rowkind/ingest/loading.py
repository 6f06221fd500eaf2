"""From the text of a job file to a validated job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rowkind.errors import RowkindError, nearest
from rowkind.ingest import pipeline_options as pipeline
from rowkind.ingest import rules
from rowkind.ingest.description import IngestionJob, Pipeline
from rowkind.ingest.endpoints import Sink, UpsertKafkaSink, mysql_source, sink
from rowkind.ingest.given import Given, read
from rowkind.ingest.job_file import EXCLUDE, INCLUDE, JobFile, Section, Setting, parse_job_file
from rowkind.ingest.kafka_options import SINKS
from rowkind.ingest.mysql_options import MYSQL
from rowkind.ingest.notes import notes_about
from rowkind.ingest.routes import Route, route
from rowkind.ingest.schema_changes import accepted
from rowkind.ingest.selectors import doubtful
from rowkind.ingest.topics import control_plane_name, topic_name
from rowkind.ingest.transforms import transform_rule
from rowkind.ingest.variables import Variables
from rowkind.options.secrets import masked


def load_job(path: Path, variables: Variables | None = None, checkpoint: str | None = None) -> IngestionJob:
    """The job of a file; the first thing that is wrong with it is raised with its place."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise RowkindError("INGEST_FILE_UNREADABLE", file=str(path), reason=error.strerror) from None
    except UnicodeDecodeError:
        raise RowkindError("INGEST_FILE_UNREADABLE", file=str(path), reason="it is not UTF-8") from None
    return parse_job(text, str(path), variables, checkpoint)


def parse_job(
    text: str, file: str = "job.yaml", variables: Variables | None = None, checkpoint: str | None = None
) -> IngestionJob:
    """The job of a text. `checkpoint` is the folder that the command was given."""
    parsed = parse_job_file(text, file, variables)
    sink_type = _sink_type(parsed.sink)
    _check_source_type(parsed.source)
    source_given, sink_given = read(parsed.source, MYSQL), read(parsed.sink, SINKS[sink_type])
    pipeline_given = read(parsed.pipeline, pipeline.PIPELINE)
    options = rules.Options(source_given, sink_given, pipeline_given, sink_type, checkpoint)
    rules.check(options)
    route_given = tuple(read(section, pipeline.ROUTE) for section in parsed.routes)
    transform_given = tuple(read(section, pipeline.TRANSFORM) for section in parsed.transforms)
    routes = [route(given) for given in route_given]
    made = IngestionJob(
        mysql_source(source_given),
        sink(sink_type, sink_given),
        tuple(rule for rule, _ in routes),
        tuple(transform_rule(given) for given in transform_given),
        _pipeline(pipeline_given, file),
        accepted(
            pipeline_given[pipeline.BEHAVIOR],
            parsed.schema_changes.get(INCLUDE),
            parsed.schema_changes.get(EXCLUDE),
        ),
        checkpoint,
        {
            "source": (source_given,),
            "sink": (sink_given,),
            "pipeline": (pipeline_given,),
            "route": route_given,
            "transform": transform_given,
        },
        (
            *notes_about(options),
            *(note for _, notes in routes for note in notes),
            *(note for given in transform_given for note in given.notes),
            *_doubtful(route_given, transform_given),
            *_unused(parsed, variables),
        ),
    )
    _check_topics(made)
    return made


def _pipeline(given: Given, file: str) -> Pipeline:
    return Pipeline(
        given.get(pipeline.NAME) or Path(file).stem,
        given.get(pipeline.PARALLELISM),
        given.get(pipeline.TIME_ZONE),
        given[pipeline.RUNTIME_MODE],
        given[pipeline.ROUTE_MODE],
        given[pipeline.BEHAVIOR],
        given[pipeline.TRIM_KEYS],
    )


def _type(section: Section) -> Setting:
    found = section.find("type")
    if found is None:
        raise section.place.error("INGEST_MISSING_KEY", where=f"the {section.name}", key="type")
    return found


def _check_source_type(section: Section) -> None:
    given = _type(section)
    match given.text.value.strip().lower():
        case "mysql":
            return
        case "kafka" | "upsert-kafka" as type:
            raise given.place.error("INGEST_TOPIC_AS_SOURCE", type=type, statement=_create_table(type, section))
    raise _unknown_type(given, "source", ("mysql",))


def _sink_type(section: Section) -> str:
    given = _type(section)
    type = given.text.value.strip().lower()
    if type in SINKS:
        return type
    if type == "kafka":
        why = "a sink writes one row a key: use 'type: upsert-kafka'"
        raise given.place.error("INGEST_NOT_SUPPORTED", what="'type: kafka' of the sink", why=why)
    raise _unknown_type(given, "sink", tuple(SINKS))


def _unknown_type(given: Setting, what: str, known: tuple[str, ...]) -> RowkindError:
    return given.place.error(
        "INGEST_UNKNOWN_TYPE",
        what=what,
        type=given.text.shown,
        suggestion=nearest(given.text.shown, known),
        known=", ".join(known),
    )


def _create_table(type: str, section: Section) -> str:
    """The statement that reads the same topic, with columns to be replaced."""
    given = {s.key: s.text.shown for s in section if s.key.lower() not in ("type", "name")}
    formats = {"key.format": "json", "value.format": "json"} if type == "upsert-kafka" else {"format": "json"}
    options = {"connector": type, "topic": "orders", "properties.bootstrap.servers": "localhost:9092"}
    listed = masked(options | given | {k: v for k, v in formats.items() if k not in given})
    lines = ",\n".join("  '{}' = '{}'".format(*(t.replace("'", "''") for t in pair)) for pair in listed.items())
    key = ",\n  PRIMARY KEY (id) NOT ENFORCED" if type == "upsert-kafka" else ""
    return f"CREATE TABLE orders (\n  id BIGINT,\n  note STRING{key}\n) WITH (\n{lines}\n);"


def _check_topics(job: IngestionJob) -> None:
    """Names of topics that are known before any table is."""
    if job.sink.messages.topic is None:
        for rule in job.routes:
            if rule.constant and not rule.symbol:
                _check_topic(rule, job.sink)


def _check_topic(rule: Route, sink: Sink) -> None:
    topic_name(rule.target, rule.place)
    if isinstance(sink, UpsertKafkaSink) and sink.aliyun:
        control_plane_name(rule.target, rule.place)


def _doubtful(routes: tuple[Given, ...], transforms: tuple[Given, ...]) -> list[str]:
    named = [(given, pipeline.ROUTE_SOURCE) for given in routes]
    texts = [given.settings[option.name] for given, option in named]
    texts += [given.settings[pipeline.TRANSFORM_SOURCE.name] for given in transforms]
    return [f"{setting.place}: {note}." for setting in texts for note in doubtful(setting.text.value)]


def _unused(parsed: JobFile, variables: Variables | None) -> list[str]:
    given: Mapping[str, str] = variables.values if variables else {}
    used = {name for section in parsed.sections() for setting in section for name in setting.text.variables}
    used |= {name for texts in parsed.schema_changes.values() for text in texts for name in text.variables}
    return [f"--var {name} has no effect: the job file does not name it." for name in given if name not in used]
