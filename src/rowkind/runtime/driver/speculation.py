"""Spark's speculation: a second copy of a task that is slow. The copy that loses may be stopped late.

With exactly-once the copies share a transactional id, so one is fenced. Any other sink may get rows of a batch from the
losing copy when the next batch has been written, and an upsert table then ends with the older row. Spark decides about
speculation when it starts, for all that runs in it: it cannot be switched off for one job.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rowkind.connectors.contract import Table
from rowkind.connectors.settings import Guarantee
from rowkind.errors import RowkindError

SPECULATION = "spark.speculation"


def speculates(settings: Mapping[str, str]) -> bool:
    """Whether a Spark with these settings runs copies of tasks; a local one never does."""
    local = settings.get("spark.master", "").partition("[")[0] == "local"
    return not local and settings.get(SPECULATION, "false").strip().lower() == "true"


def check_speculation(settings: Mapping[str, str], sinks: Iterable[Table]) -> None:
    """Refuse a Spark that may write an older row after a newer one."""
    exposed = sorted({table.name for table in sinks if table.writing.guarantee is not Guarantee.EXACTLY_ONCE})
    if exposed and speculates(settings):
        raise RowkindError("SPECULATION_ON", tables=", ".join(exposed))


def without_speculation(settings: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Settings for a Spark of our own, and what to tell if they asked for it."""
    asked = settings.get(SPECULATION, "false").strip().lower() == "true"
    note = f"{SPECULATION} is switched off: a copy of a slow task could write an older row after a newer one."
    return {**settings, SPECULATION: "false"}, [note] if asked else []
