"""Rules across the options of a job, one function each, in the order in which they are checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from rowkind.connectors.kafka.table_options import BOOTSTRAP_SERVERS
from rowkind.connectors.settings import Guarantee
from rowkind.connectors.writing_options import DELIVERY_GUARANTEE
from rowkind.errors import RowkindError
from rowkind.ingest import kafka_options as kafka
from rowkind.ingest import mysql_options as mysql
from rowkind.ingest import pipeline_options as pipeline
from rowkind.ingest.given import Given, value_error
from rowkind.ingest.modes import JobMode, StartMode
from rowkind.ingest.selectors import route_pattern
from rowkind.ingest.topics import control_plane_name, topic_name
from rowkind.options.secrets import MASK

MAX_PREFIX_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a whole job, and what the command was given."""

    source: Given
    sink: Given
    pipeline: Given
    sink_type: str
    checkpoint: str | None

    @property
    def upsert(self) -> bool:
        return self.sink_type == "upsert-kafka"


def specific_offset_is_complete(o: Options) -> None:
    """A position is a GTID set, or a file and a position in it."""
    if o.source[mysql.STARTUP_MODE] is not StartMode.SPECIFIC or o.source.has(mysql.OFFSET_GTIDS):
        return
    missing = [option for option in (mysql.OFFSET_FILE, mysql.OFFSET_POS) if not o.source.has(option)]
    if missing:
        options = f"'{mysql.OFFSET_GTIDS.name}', or '{mysql.OFFSET_FILE.name}' and '{mysql.OFFSET_POS.name}'"
        raise _start(o, options)


def timestamp_is_given(o: Options) -> None:
    if o.source[mysql.STARTUP_MODE] is StartMode.TIMESTAMP and not o.source.has(mysql.START_TIMESTAMP):
        raise _start(o, f"'{mysql.START_TIMESTAMP.name}'")


def _start(o: Options, options: str) -> RowkindError:
    place, mode = o.source.place_of(mysql.STARTUP_MODE), o.source[mysql.STARTUP_MODE]
    return place.error("INGEST_START_POSITION_MISSING", mode=mode, options=options)


def batch_mode_needs_snapshot(o: Options) -> None:
    mode = o.source[mysql.STARTUP_MODE]
    if o.pipeline[pipeline.RUNTIME_MODE] is JobMode.BATCH and mode is not StartMode.SNAPSHOT:
        raise o.pipeline.place_of(pipeline.RUNTIME_MODE).error("INGEST_BATCH_MODE", mode=mode)


def parallelism_has_server_ids(o: Options) -> None:
    """Each chunk that is read at once registers as a replica, and so does the reader of the binlog."""
    ids, wanted = o.source.get(mysql.SERVER_ID), o.pipeline.get(pipeline.PARALLELISM)
    if ids is None or wanted is None or wanted == len(ids) == 1 or len(ids) > wanted:
        return
    place = o.source.place_of(mysql.SERVER_ID)
    range_ = f"{ids.first}-{ids.first + wanted}"
    raise place.error("INGEST_SERVER_IDS_TOO_FEW", ids=ids, count=len(ids), parallelism=wanted, range=range_)


def new_tables_are_found_in_one_way(o: Options) -> None:
    if o.source[mysql.NEWLY_ADDED] and o.source[mysql.BINLOG_NEWLY_ADDED]:
        raise o.source.place_of(mysql.BINLOG_NEWLY_ADDED).error("INGEST_NEWLY_ADDED_TWICE")


def new_tables_are_copied_after_initial(o: Options) -> None:
    mode = o.source[mysql.STARTUP_MODE]
    if o.source[mysql.NEWLY_ADDED] and mode is not StartMode.INITIAL:
        raise o.source.place_of(mysql.NEWLY_ADDED).error("INGEST_NEWLY_ADDED_MODE", mode=mode)


def tables_are_a_route_pattern(o: Options) -> None:
    """Tables that are created while the job runs are matched as routes are."""
    if o.source[mysql.BINLOG_NEWLY_ADDED]:
        setting = o.source.settings[mysql.TABLES.name]
        try:
            route_pattern(setting.text.value)
        except ValueError as error:
            raise value_error(mysql.TABLES, setting, str(error)) from None


def properties_are_a_producers(o: Options) -> None:
    if not o.upsert:
        return
    for name in o.sink.under(kafka.PROPERTIES):
        if _is_consumers(name):
            place = o.sink.settings[f"{kafka.PROPERTIES.prefix}{name}"].place
            raise place.error("INGEST_CONSUMER_PROPERTY", key=f"{kafka.PROPERTIES.prefix}{name}")


def properties_are_valid(o: Options) -> None:
    """What the client itself refuses, at the place where it stands."""
    if not o.upsert:
        return
    try:
        producer_notes(o.sink.under(kafka.PROPERTIES))
    except RowkindError as error:
        place = o.sink.place_of(BOOTSTRAP_SERVERS)
        key = f"{kafka.PROPERTIES.prefix}{error.params.get('key', '')}"
        if key in o.sink.settings:
            place = o.sink.settings[key].place
        reason = error.message
        for setting in o.sink.settings.values():
            reason = reason.replace(setting.text.value, MASK) if setting.text.secret else reason
        raise place.error("INGEST_PROPERTY", reason=reason) from None


def aliyun_is_complete(o: Options) -> None:
    if not o.upsert:
        return
    missing = [option for option in kafka.ALIYUN if not o.sink.has(option)]
    if missing and len(missing) < len(kafka.ALIYUN):
        options = ", ".join(f"'{option.name}'" for option in missing)
        raise o.sink.place.error("INGEST_ALIYUN_INCOMPLETE", options=options)


def aliyun_has_its_sdk(o: Options) -> None:
    if o.upsert and o.sink.has(kafka.INSTANCE_ID) and find_spec("alibabacloud_alikafka20190916") is None:
        raise o.sink.place_of(kafka.INSTANCE_ID).error("INGEST_ALIYUN_SDK")


def topic_is_a_name(o: Options) -> None:
    if not o.sink.has(kafka.TOPIC):
        return
    topic, place = o.sink[kafka.TOPIC], o.sink.place_of(kafka.TOPIC)
    topic_name(topic, place)
    if o.upsert and o.sink.has(kafka.INSTANCE_ID):
        control_plane_name(topic, place)


def exactly_once_has_a_checkpoint(o: Options) -> None:
    if o.upsert and o.sink[DELIVERY_GUARANTEE] is Guarantee.EXACTLY_ONCE and o.checkpoint is None:
        raise o.sink.place_of(DELIVERY_GUARANTEE).error("INGEST_EXACTLY_ONCE_CHECKPOINT")


def prefix_is_short_enough(o: Options) -> None:
    if o.upsert and (prefix := o.sink.get(kafka.TRANSACTIONAL_ID_PREFIX)) and len(prefix.encode()) > MAX_PREFIX_BYTES:
        setting = o.sink.settings[kafka.TRANSACTIONAL_ID_PREFIX.name]
        raise value_error(kafka.TRANSACTIONAL_ID_PREFIX, setting, f"it is longer than {MAX_PREFIX_BYTES} bytes")


RULES: tuple[Callable[[Options], None], ...] = (
    specific_offset_is_complete,
    timestamp_is_given,
    batch_mode_needs_snapshot,
    parallelism_has_server_ids,
    new_tables_are_found_in_one_way,
    new_tables_are_copied_after_initial,
    tables_are_a_route_pattern,
    properties_are_a_producers,
    properties_are_valid,
    aliyun_is_complete,
    aliyun_has_its_sdk,
    topic_is_a_name,
    exactly_once_has_a_checkpoint,
    prefix_is_short_enough,
)


def check(options: Options) -> None:
    """Raise the condition of the first rule that the job breaks."""
    for rule in RULES:
        rule(options)


def producer_notes(properties: dict[str, str]) -> list[str]:
    """What the client says about properties without effect; the one place that knows where the classification is."""
    from rowkind.connectors.kafka.properties import admin_config, producer_config

    return list(dict.fromkeys([*producer_config(properties).warnings, *admin_config(properties).warnings]))


def _is_consumers(name: str) -> bool:
    from rowkind.connectors.kafka.client_keys import Client, key_of

    written = (Client.PRODUCER, Client.ADMIN)
    return key_of(name, Client.CONSUMER) is not None and all(key_of(name, client) is None for client in written)
