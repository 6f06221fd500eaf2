"""Windows of rows, in the worker that holds them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from rowkind.operators.window.assign import WindowAssign, WindowKind
from rowkind.plan import time_nodes as t
from rowkind.runtime.worker.steps import Batches
from rowkind.types import Root


@dataclass(frozen=True, slots=True)
class Assign:
    """Gives each row its windows."""

    windows: WindowAssign
    zone: str

    def run(self, batches: Batches, counts: Counter[str]) -> Batches:
        for batch in batches:
            yield self.windows.assign(batch, self.zone)


def window_assign(node: t.WindowAssign) -> WindowAssign:
    """The windows of TUMBLE, HOP and CUMULATE."""
    spec = node.window
    step = spec.slide if spec.slide is not None else spec.size
    return WindowAssign(WindowKind(spec.kind), spec.time, spec.size, step, spec.offset, is_local(node))


def is_local(node: t.WindowAssign) -> bool:
    """Whether the windows of a node are over instants."""
    return node.input.column(node.window.time).type.root is Root.TIMESTAMP_LTZ
