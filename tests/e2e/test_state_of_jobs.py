"""What jobs of one session leave in their checkpoints: state by keys of their own, in as many partitions as asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from rowkind.errors import RowkindError
from rowkind.state.hashing import hash_rows, use_key
from rowkind.state.sorted_run import H1
from tests.e2e.lab import Lab
from tests.kafka_client import TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

Labs = Callable[..., Lab]

SCRIPT = """
    CREATE TABLE t (k INT) WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json}, {once});
    CREATE TABLE counts (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED)
        WITH ('connector' = 'upsert-kafka', 'topic' = '{t}-out', {kafka}, {keyed});
    SET 'rowkind.state.partitions' = '3';
    INSERT INTO counts SELECT k, COUNT(*) FROM t GROUP BY k;
"""


@pytest.fixture(autouse=True)
def plain_afterwards() -> Iterator[None]:
    yield
    use_key(b"")


def kept(folder: Path) -> dict[int, set[int]]:
    """The hashes of keys, by state partition."""
    found: dict[int, set[int]] = {}
    for path in folder.glob("state/aggregate-*/*/*.arrow"):
        hashes = pa.ipc.open_file(path).read_all().column(H1).to_pylist()
        found.setdefault(int(path.parent.name), set()).update(hashes)
    return found


def test_each_job_hashes_by_the_key_of_its_checkpoint(labs: Labs, topic: TopicFactory, tmp_path: Path) -> None:
    t = topic()
    keys = list(range(20))
    seen = []
    for name in ("one", "two"):
        lab = labs(checkpoint=str(tmp_path / name))
        if name == "one":
            lab.put(t, *({"k": k} for k in keys))
        lab.finish(SCRIPT, t=t)
        folder = tmp_path / name / "counts"
        record = json.loads((folder / "job.json").read_text())
        use_key(bytes.fromhex(record["hash_key"]))
        wanted = hash_rows(pa.table({"k": pa.array(keys, pa.int32())})).h1.tolist()
        parts = kept(folder)
        assert set().union(*parts.values()) == set(wanted)
        assert parts == {at: {h for h in wanted if h % 3 == at} for at in {h % 3 for h in wanted}}
        assert (folder / "state" / "checkpoint").read_text() == record["id"]
        seen.append(set(wanted))
    assert not seen[0] & seen[1]


def test_another_number_of_state_partitions_is_refused(labs: Labs, topic: TopicFactory, tmp_path: Path) -> None:
    t = topic()
    labs(checkpoint=str(tmp_path)).finish(SCRIPT, t=t)
    with pytest.raises(RowkindError) as failed:
        labs(checkpoint=str(tmp_path)).finish(SCRIPT.replace("'3'", "'4'"), t=t)
    assert failed.value.condition == "CHECKPOINT_PARTITIONS_CHANGED"
