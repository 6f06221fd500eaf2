"""Messages that cannot be read, on their way to the dead-letter topic.

Tasks put them into files of the checkpoint under the names of the batch and the task, so that a task that is run again
only writes its file again. When the batch's sinks are written the driver sends what is in the files, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pyarrow as pa

from rowkind.connectors.kafka.messages import Diverted
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.connectors.kafka.writer import writer_for
from rowkind.connectors.settings import OnError
from rowkind.state.files import Folder

_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
_LETTERS = pa.schema([("key", pa.binary()), ("value", pa.binary()), ("header-list", _HEADERS)])


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """The dead letters of one batch; goes to the tasks that read."""

    folder: str
    version: int

    @contextmanager
    def of_task(self, table: int, task: int) -> Iterator[Callable[[Sequence[Diverted]], None]]:
        """In a worker: takes the messages of a task, of which there may be none."""
        with ExitStack() as open_:
            file: list[pa.ipc.RecordBatchStreamWriter] = []

            def put(messages: Sequence[Diverted]) -> None:
                if messages and not file:
                    sink = open_.enter_context(Folder(self.folder).write(f"{self.version}-{table}-{task}.arrow"))
                    file.append(open_.enter_context(pa.ipc.new_stream(sink, _LETTERS)))
                if messages:
                    file[0].write_batch(_letters(messages))

            yield put

    def send(self, tables: Sequence[KafkaTable]) -> None:
        """On the driver, when the batch is written: there before the batch is done."""
        diverting = {i: t for i, t in enumerate(tables) if t.reading.on_error is OnError.DEAD_LETTER}
        if not diverting:
            return
        folder = Folder(self.folder)
        for number, table in diverting.items():
            begin = f"{self.version}-{number}-"
            names = [n for n in folder.names() if n.startswith(begin) and n.endswith(".arrow")]
            if names:
                self._send(table, folder, sorted(names, key=lambda name: int(name[len(begin) : -len(".arrow")])))

    def _send(self, table: KafkaTable, folder: Folder, names: Sequence[str]) -> None:
        writer = writer_for(f"dead-letter:{table.name}", table.properties, table.reading.dead_letter_topic)
        for name in names:
            with pa.ipc.open_stream(folder.map(name)) as letters:
                for batch in letters:
                    writer.write(batch)
        writer.flush()
        for name in names:
            folder.remove(name)


def _letters(messages: Sequence[Diverted]) -> pa.RecordBatch:
    headers = [[{"key": k, "value": v} for k, v in m.headers] for m in messages]
    columns = [
        pa.array([m.key for m in messages], pa.binary()),
        pa.array([m.value for m in messages], pa.binary()),
        pa.array(headers, _HEADERS),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_LETTERS)
