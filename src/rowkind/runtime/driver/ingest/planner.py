"""What the batches of an ingestion job hold: staged files, with the schemas that their rows have."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from rowkind.connectors.contract import Pace, Share
from rowkind.connectors.mysql.gathering import Lanes
from rowkind.connectors.mysql.schema_set import SchemaSet
from rowkind.connectors.mysql.schemas import TableId, TableSchema
from rowkind.connectors.mysql.source import LOG, MysqlSource
from rowkind.errors import RowkindError
from rowkind.ingest.table_output import TableOutput
from rowkind.ingest.topic_schemas import (
    Evolution,
    TopicSchema,
    after_alter,
    after_emptying,
    first_topics,
    with_table,
)
from rowkind.runtime.driver.ingest.entry import IngestBatch
from rowkind.runtime.driver.ingest.tables import JobTables
from rowkind.state.contents import contents, keep_contents

NOTHING = 0
EVERYTHING = 2**62


@dataclass(frozen=True, slots=True)
class _Looked:
    """What was found after an entry."""

    share: Share
    open: bool


class IngestPlanner:
    """Gathers the next batch while the one before is written. The entry of the batch before is all it remembers."""

    def __init__(
        self,
        source: MysqlSource,
        tables: JobTables,
        folder: str,
        sync: bool,
        in_thread: Callable[[Callable[..., Any]], Callable[..., Any]],
    ) -> None:
        self._source = source
        self._tables = tables
        self._folder = folder
        self._sync = sync
        self._in_thread = in_thread
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="rowkind gathering")
        self._ahead: tuple[Any, Future[_Looked]] | None = None
        self._topics: Mapping[str, TopicSchema] = {}
        self._lanes: tuple[SchemaSet, Mapping[str, TopicSchema], Lanes] | None = None
        self._notes: list[str] = []
        self.counts: Counter[str] = Counter()
        self.standing: Mapping[str, Any] = {}
        """How far the job is, for people."""
        self._began = time.monotonic()
        self._planned = 0

    def lanes(self, schemas: SchemaSet, parts: int) -> Lanes:
        """Worked out again only when a statement has changed something: most batches are small, tables may be many."""
        if self._lanes is None or self._lanes[0] is not schemas or self._lanes[1] is not self._topics:
            self._lanes = schemas, self._topics, self._tables.lanes(parts, schemas, self._topics)
        return self._lanes[2]

    def topics(self, entry: IngestBatch) -> Mapping[str, TopicSchema]:
        """The columns that topics have for the rows of an entry."""
        return self._kept(entry.topics)

    def _kept(self, digest: str) -> Mapping[str, TopicSchema]:
        return _topics(self._folder, digest)

    def read(self, said: Mapping[str, Any]) -> IngestBatch:
        return IngestBatch.of_json(said)

    def next(self, previous: IngestBatch | None) -> IngestBatch | None:
        """The next batch, or None when there is nothing new."""
        if previous is None:
            return self._first()
        position, topics = previous.position, previous.topics_after
        looked = self._look_again(position, topics)
        share = looked.share
        moved = share.until["log"] != position["log"] or share.until["todo"] != position["todo"]
        if not share.tasks and not moved and looked.open:
            return None
        entry = self._entry(previous.number + 1, position, topics, share, previous.clock)
        entry = replace(entry, final=not looked.open and not share.tasks and not moved)
        self._stand(share.until, entry.rows)
        if not entry.final:
            self._look_ahead(entry)
        return entry

    def _stand(self, position: Any, rows: int) -> None:
        log, tables = position["log"], self._source.schemas(position).tables
        left = self._source.copying(position)
        now, self._planned = time.monotonic(), self._planned + rows
        speed = self._planned / (now - self._began) if left and now > self._began else 0.0
        rows_left = sum(table.rows_left for table in left)
        self.standing = {
            "tables": len(tables),
            "copied": len(tables) - len(left),
            "copying": str(left[0].table) if left else None,
            "chunks": left[0].chunks if left else 0,
            "chunks-about": left[0].chunks_about if left else 0,
            "rows-left": rows_left,
            "rows-per-second": speed,
            "seconds-left": rows_left / speed if speed else None,
            "log": f"{log['file']}:{log['pos']}",
            "seconds-behind": self._source.seconds_behind,
            "by-table": {str(table): (0, 0) for table in tables}
            | {str(table.table): (table.chunks, table.chunks_about - table.chunks) for table in left},
        }

    def _first(self) -> IngestBatch:
        """The job begins: no rows yet, but a place in the log, and the topics."""
        position = self._source.start()
        schemas = self._source.schemas(position).tables.values()
        outputs = [output for schema in schemas if (output := self._tables.output(schema)) is not None]
        topics = self._keep(first_topics(outputs))
        entry = self._entry(0, position, topics, Share((), position, {}), 0)
        self._look_ahead(entry)
        return entry

    def _entry(self, number: int, before: Any, topics: str, share: Share, clock: int) -> IngestBatch:
        after = topics
        if share.until["ddl"]:
            after = self._keep(self._evolved(before, topics, share.until))
        return IngestBatch(
            number=number,
            clock=max(time.time_ns() // 1000, clock),
            schemas=before["schemas"],
            topics=topics,
            topics_after=after,
            tasks=tuple(share.tasks),
            position=share.until,
            rows=sum(share.rows.values()),
            notes=tuple(self.take_notes()),
        )

    def _evolved(self, before: Any, digest: str, until: Any) -> dict[str, TopicSchema]:
        """The topics after the statement that ended a batch."""
        topics = dict(self._kept(digest))
        for ddl in until["ddl"]:
            topics = self._after(ddl, topics, before, until)
        return topics

    def _after(
        self, ddl: Mapping[str, Any], topics: dict[str, TopicSchema], before: Any, until: Any
    ) -> dict[str, TopicSchema]:
        old = self._source.schemas(before).tables.get(_id(ddl["from"]))
        new = self._source.schemas(until).tables.get(_id(ddl["to"]))
        was = None if old is None else self._tables.output(old)
        now = None if new is None else self._tables.output(new)
        job = self._tables.job
        change = Evolution(topics)
        if now is not None:
            _check_keys(topics, now)
        if ddl["kind"] in ("truncate", "drop") and was is not None:
            change = after_emptying(job, topics, was, ddl["kind"] == "drop")
        elif was is not None and now is not None and was.table.id == now.table.id:
            assert old is not None
            assert new is not None
            change = after_alter(job, topics, was, now, _renamed(old, new))
        elif now is not None:
            change = Evolution(with_table(topics, now), (f"Table {now.table.id} is new.",))
        elif was is not None:
            told = f"Table {was.table.id} was renamed to one that the job does not capture: {ddl['statement'][:200]}"
            change = Evolution(topics, (told,), {f"{was.table.id}.renamed-away": 1})
        self._notes += change.notes
        self.counts.update(change.counts)
        return dict(change.topics)

    def _keep(self, topics: Mapping[str, TopicSchema]) -> str:
        said = {topic: schema.to_json() for topic, schema in topics.items()}
        return keep_contents(self._folder, "topics", said, self._sync)

    def _look(self, position: Any, topics: str) -> _Looked:
        self._topics = self._kept(topics)
        offer = self._source.offer(position)
        open_ = offer.splits[LOG].open
        wanted = EVERYTHING if offer.splits[LOG].rows else NOTHING
        pace = Pace(wanted, self._source.limits.bytes, self._source.limits.tasks or 1, 1)
        return _Looked(self._source.share(offer, pace, True), open_)

    def _look_ahead(self, entry: IngestBatch) -> None:
        look = self._in_thread(self._look)
        position, topics = entry.position, entry.topics_after
        self._ahead = position, self._pool.submit(look, position, topics)

    def _look_again(self, position: Any, topics: str) -> _Looked:
        """What was gathered meanwhile, if anything was there; a fresh look otherwise."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0] == position:
            looked: _Looked = ahead[1].result()
            if looked.share.tasks or not looked.open:
                return looked
        return self._look(position, topics)

    def take_notes(self) -> list[str]:
        taken = [*self._notes, *self._source.take_notes(), *self._tables.notes]
        self._notes, self._tables.notes = [], []
        return taken

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._source.close()


@lru_cache(maxsize=4)
def _topics(folder: str, digest: str) -> Mapping[str, TopicSchema]:
    said = contents(folder, "topics", digest)
    return {topic: TopicSchema.of_json(schema) for topic, schema in said.items()}


def _check_keys(topics: Mapping[str, TopicSchema], output: TableOutput) -> None:
    """Rows that are in a topic under keys of other columns would never be replaced."""
    for target in output.targets:
        known = topics.get(target.topic)
        if known is not None and output.table.id in known.tables and known.key != output.transform.primary_key:
            raise RowkindError(
                "INGEST_KEY_CHANGED",
                table=output.table.id,
                topic=target.topic,
                key=", ".join(output.transform.primary_key),
                old=", ".join(known.key),
            )


def _id(name: str | None) -> TableId:
    database, _, table = (name or ".").partition(".")
    return TableId(database, table)


def _renamed(old: TableSchema, new: TableSchema) -> dict[str, str]:
    """Columns that an ALTER gave other names: at the place of one that is gone there is one that was not there."""
    before, after = [c.name for c in old.columns], [c.name for c in new.columns]
    if len(before) != len(after):
        return {}
    return {was: now for was, now in zip(before, after, strict=True) if was not in after and now not in before}
