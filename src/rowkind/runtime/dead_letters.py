"""Messages that cannot be read, on their way to where their table sends them.

Tasks put them into files of the checkpoint under the names of the batch and the task, so that a task that is run again
only writes its file again. When the batch's sinks are written the driver sends what is in the files, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pyarrow as pa

from rowkind.connectors.contract import Letters, Table
from rowkind.state.files import Folder


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """The dead letters of one batch; goes to the tasks that read."""

    folder: str
    version: int

    @contextmanager
    def of_task(self, table: int, task: int) -> Iterator[Callable[[pa.RecordBatch], None]]:
        """In a worker: takes the messages of a task, of which there may be none."""
        with ExitStack() as open_:
            file: list[pa.ipc.RecordBatchStreamWriter] = []

            def put(messages: pa.RecordBatch) -> None:
                if not file:
                    sink = open_.enter_context(Folder(self.folder).write(f"{self.version}-{table}-{task}.arrow"))
                    file.append(open_.enter_context(pa.ipc.new_stream(sink, messages.schema)))
                file[0].write_batch(messages)

            yield put

    def send(self, tables: Sequence[Table]) -> None:
        """On the driver, when the batch is written: there before the batch is done."""
        wanted = {number: letters for number, table in enumerate(tables) if (letters := table.letters()) is not None}
        if not wanted:
            return
        folder = Folder(self.folder)
        for number, letters in wanted.items():
            begin = f"{self.version}-{number}-"
            names = [n for n in folder.names() if n.startswith(begin) and n.endswith(".arrow")]
            if names:
                _send(letters, folder, sorted(names, key=lambda name: int(name[len(begin) : -len(".arrow")])))


def _send(letters: Letters, folder: Folder, names: Sequence[str]) -> None:
    letters.send(batch for name in names for batch in _read(folder, name))
    for name in names:
        folder.remove(name)


def _read(folder: Folder, name: str) -> Iterator[pa.RecordBatch]:
    with pa.ipc.open_stream(folder.map(name)) as batches:
        yield from batches
