"""What to tell the user once about a job that is valid: options without effect where they stand, and traps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rowkind.connectors.settings import Guarantee
from rowkind.connectors.writing_options import DELIVERY_GUARANTEE
from rowkind.ingest import kafka_options as kafka
from rowkind.ingest import mysql_options as mysql
from rowkind.ingest.modes import StartMode
from rowkind.ingest.rules import Options, producer_notes
from rowkind.ingest.selectors import doubtful
from rowkind.options.declarations import Option


def notes_about(options: Options) -> list[str]:
    """Every note of every rule, in order."""
    own = [*options.source.notes, *options.sink.notes, *options.pipeline.notes]
    return [*own, *(note for rule in NOTES for note in rule(options))]


def position_of_another_start(o: Options) -> Iterator[str]:
    mode = o.source[mysql.STARTUP_MODE]
    for option, needed in (
        (mysql.OFFSET_FILE, StartMode.SPECIFIC),
        (mysql.OFFSET_POS, StartMode.SPECIFIC),
        (mysql.OFFSET_GTIDS, StartMode.SPECIFIC),
        (mysql.START_TIMESTAMP, StartMode.TIMESTAMP),
    ):
        if mode is not needed:
            yield from _idle(o, option, f"'{mysql.STARTUP_MODE.name}' is '{mode}', not '{needed}'")


def file_beside_gtids(o: Options) -> Iterator[str]:
    if o.source[mysql.STARTUP_MODE] is StartMode.SPECIFIC and o.source.has(mysql.OFFSET_GTIDS):
        for option in (mysql.OFFSET_FILE, mysql.OFFSET_POS):
            yield from _idle(o, option, f"'{mysql.OFFSET_GTIDS.name}' says where to start")


def chunks_without_snapshot(o: Options) -> Iterator[str]:
    mode = o.source[mysql.STARTUP_MODE]
    if mode not in (StartMode.INITIAL, StartMode.SNAPSHOT):
        for option in (mysql.CHUNK_SIZE, mysql.CHUNK_KEYS, mysql.EVEN_UPPER, mysql.EVEN_LOWER):
            yield from _idle(o, option, f"'{mysql.STARTUP_MODE.name}: {mode}' copies no rows")


def changes_after_snapshot(o: Options) -> Iterator[str]:
    if o.source[mysql.STARTUP_MODE] is StartMode.SNAPSHOT:
        for option in (mysql.HEARTBEAT, mysql.BINLOG_NEWLY_ADDED):
            yield from _idle(o, option, "the job ends when all rows are copied")


def one_server_id(o: Options) -> Iterator[str]:
    ids = o.source.get(mysql.SERVER_ID)
    if ids is not None and len(ids) == 1 and o.source[mysql.STARTUP_MODE] in (StartMode.INITIAL, StartMode.SNAPSHOT):
        place = o.source.place_of(mysql.SERVER_ID)
        more = f"{ids.first}-{ids.first + 4}"
        yield f"{place}: with one 'server-id', chunks are read one at a time; give a range such as {more}."


def patterns_rarely_meant(o: Options) -> Iterator[str]:
    for option in (mysql.TABLES, mysql.TABLES_EXCLUDE):
        if (setting := o.source.settings.get(option.name)) is not None:
            yield from (f"{setting.place}: {note}." for note in doubtful(setting.text.value))


def transactions_without_exactly_once(o: Options) -> Iterator[str]:
    if o.upsert and (given := o.sink[DELIVERY_GUARANTEE]) is not Guarantee.EXACTLY_ONCE:
        setting = o.sink.settings.get(kafka.TRANSACTIONAL_ID_PREFIX.name)
        if setting is not None:
            why = f"'{DELIVERY_GUARANTEE.name}' is '{given}'"
            yield f"{setting.place}: '{kafka.TRANSACTIONAL_ID_PREFIX.name}' of the sink has no effect: {why}."


def properties_without_effect(o: Options) -> Iterator[str]:
    if o.upsert:
        yield from (f"Sink: {note}." for note in producer_notes(o.sink.under(kafka.PROPERTIES)))


def restart_without_checkpoint(o: Options) -> Iterator[str]:
    if o.checkpoint is None:
        yield "Without --checkpoint the job starts from the beginning each time."


def _idle(o: Options, option: Option[Any], why: str) -> Iterator[str]:
    if (setting := o.source.settings.get(option.name)) is not None:
        yield f"{setting.place}: '{option.name}' of the source has no effect: {why}."


NOTES: tuple[Callable[[Options], Iterator[str]], ...] = (
    position_of_another_start,
    file_beside_gtids,
    chunks_without_snapshot,
    changes_after_snapshot,
    one_server_id,
    patterns_rarely_meant,
    transactions_without_exactly_once,
    properties_without_effect,
    restart_without_checkpoint,
)
