"""How a job goes on from a checkpoint: how far it is, read once by the run that owns it, and what the user asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from rowkind.errors import RowkindError
from rowkind.state.files import file_type


@dataclass(frozen=True, slots=True)
class Resuming:
    """What is asked for beside going on."""

    rewind: bool = False
    """Go back to the last batch that the checkpoint knows, where sinks have later ones, or one of another script."""
    drain: bool = False
    """Finish the batch that was begun, then end."""

    def check(self, checkpoint: str | None) -> None:
        for flag, given in (("rewind", self.rewind), ("drain", self.drain)):
            if given and checkpoint is None:
                raise RowkindError("CHECKPOINT_NEEDED", flag=flag)
        if checkpoint is not None:
            check_folder(checkpoint)


def check_folder(checkpoint: str) -> None:
    """Before anything is started: whether there can be a folder."""
    try:
        kind = file_type(checkpoint)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise RowkindError("CHECKPOINT_UNUSABLE", checkpoint=checkpoint, reason=reason) from error
    if kind is pafs.FileType.File:
        raise RowkindError("CHECKPOINT_UNUSABLE", checkpoint=checkpoint, reason="it is a file")


GOING_ON = Resuming()


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a job is. An older run may still finish the batch that was begun: then it is run again, to no effect."""

    last: int | None = None
    """The newest batch that is done."""
    manifest: Mapping[str, Any] = field(default_factory=lambda: {"operators": {}})
    entry: Mapping[str, Any] = field(default_factory=dict)
    pending: Mapping[str, Any] | None = None
    """The entry of the batch that was begun after it, and is not done."""

    @property
    def next(self) -> int:
        return 0 if self.last is None else self.last + 1

    @property
    def gone_back(self) -> Standing:
        return replace(self, pending=None)


def check_script(checkpoint: str, begun: Mapping[str, Any] | None, digest: str) -> None:
    """That a batch was begun by a job that computes the same: what is in of it fits to what will be added."""
    if begun is not None and begun["plan"] != digest:
        raise RowkindError("BATCH_OF_ANOTHER_SCRIPT", checkpoint=checkpoint, batch=begun["number"])
