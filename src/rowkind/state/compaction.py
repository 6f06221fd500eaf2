"""Size-tiered compaction: the number of runs stays logarithmic, and the largest run is the snapshot.

Small merges are done at once. Larger ones run in a background thread of the worker process and are taken up by a later
batch, in this process or in another: the name of the result's file says which runs it was made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial

from rowkind.state.files import Folder
from rowkind.state.merge import merged
from rowkind.state.sorted_run import Run, RunInfo, adopt_run, merge_of, stored_schema, write_merged
from rowkind.state.table import StateTable, TableDefinition

FAN_OUT = 4
SMALLEST_TIER = 4096
INLINE_ROWS = 200_000


@dataclass(frozen=True, slots=True)
class _Merge:
    inputs: tuple[RunInfo, ...]
    result: Future[RunInfo]


_merges: dict[str, _Merge] = {}
"""The background merge of each table of this process, under way or not yet taken up."""


@cache
def _background() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="rowkind-compaction")


def due(weights: Sequence[int]) -> tuple[int, int] | None:
    """Which runs, of the given weights and oldest first, to merge next: the oldest FAN_OUT of the smallest full tier.

    Smaller runs after a large one do not fill its tier: it would be written again with every few batches.

    >>> due([100_000, 50, 60, 70, 80, 90])
    (1, 5)
    >>> due([100_000, 50, 60, 70])
    """
    tiers = [_tier(n) for n in weights]
    for tier in sorted(set(tiers)):
        start = len(tiers)
        while start and tiers[start - 1] <= tier:
            start -= 1
        if tiers[start:].count(tier) >= FAN_OUT:
            return start, start + FAN_OUT
    return None


def _tier(rows: int) -> int:
    tier, limit = 0, SMALLEST_TIER
    while rows >= limit:
        tier, limit = tier + 1, limit * FAN_OUT
    return tier


def take_up(folder: Folder, table: TableDefinition, runs: tuple[RunInfo, ...]) -> tuple[RunInfo, ...]:
    """The runs with finished background merges in place of what they replace."""
    path = folder.path(table.name)
    while chosen := due([run.weight for run in runs]):
        inputs = runs[slice(*chosen)]
        merge = _merges.get(path)
        if merge is not None and merge.inputs == inputs:
            if not merge.result.done():
                return runs
            del _merges[path]
            result: RunInfo | None = merge.result.result()
        else:
            result = adopt_run(folder, merge_of(inputs, chosen[0] == 0, table.ttl_ms))
        if result is None:
            return runs
        runs = _replaced(runs, chosen, result)
    return runs


def maintain(
    folder: Folder, table: StateTable, runs: tuple[RunInfo, ...], opened: Sequence[Run]
) -> tuple[RunInfo, ...]:
    """Merge what is due among committed runs: at once if small, else in the background, one at a time a table."""
    chosen = due([run.weight for run in runs])
    if chosen is None:
        return runs
    path = folder.path(table.definition.name)
    inputs = runs[slice(*chosen)]
    merge = _merges.get(path)
    if merge is not None and not merge.result.done() and set(merge.inputs) & set(inputs):
        return runs
    work = partial(_compact, folder, table.definition, opened[slice(*chosen)], whole=chosen[0] == 0)
    if sum(run.weight for run in inputs) <= INLINE_ROWS:
        return _replaced(runs, chosen, work())
    if merge is None or merge.result.done():
        _merges[path] = _Merge(inputs, _background().submit(work))
    return runs


def _compact(folder: Folder, table: TableDefinition, runs: Sequence[Run], whole: bool) -> RunInfo:
    result = merge_of([run.info for run in runs], whole, table.ttl_ms)
    expired_before = result.clock - table.ttl_ms if table.ttl_ms else None
    return write_merged(folder, result, stored_schema(table.schema), merged(runs, table.sort, whole, expired_before))


def _replaced(runs: tuple[RunInfo, ...], chosen: tuple[int, int], result: RunInfo) -> tuple[RunInfo, ...]:
    return (*runs[: chosen[0]], result, *runs[chosen[1] :])


def wait_for_background() -> None:
    """Until every merge that is under way in this process has ended; for tests and benchmarks."""
    for merge in list(_merges.values()):
        merge.result.exception()
