"""Event time end to end: watermarks per partition, windows that close, late rows, restarts, several tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rowkind.errors import RowkindError
from tests.e2e.lab import SECONDS, Lab
from tests.kafka_client import TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

CLICKS = """
    CREATE TABLE clicks (id INT, page STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
        WITH ('connector' = 'kafka', 'topic' = '{c}', {kafka}, {json}, {once});
"""
OUT = """
    CREATE TABLE per_minute (start_ TIMESTAMP(3), end_ TIMESTAMP(3), page STRING, n BIGINT, users BIGINT)
        WITH ('connector' = 'kafka', 'topic' = '{c}-out', {kafka}, {json});
"""
COUNTS = """
    INSERT INTO per_minute SELECT window_start, window_end, page, COUNT(*), COUNT(DISTINCT id)
    FROM TABLE({window}) GROUP BY window_start, window_end, page;
"""
TUMBLE = COUNTS.replace("{window}", "TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)")
ENDLESS = CLICKS.replace("{once}", "'scan.startup.mode' = 'earliest-offset'")


def click(id: int, page: str, time: str) -> dict[str, object]:
    return {"id": id, "page": page, "ts": f"2024-01-01 {time}"}


def counts(lab: Lab, topic: str) -> list[tuple[str, str, str, int, int]]:
    rows = lab.values(f"{topic}-out")
    return sorted((r["start_"][11:16], r["end_"][11:16], r["page"], r["n"], r["users"]) for r in rows)


def test_a_bounded_input_closes_all_windows(lab: Lab, topic: TopicFactory) -> None:
    source = topic(partitions=2)
    lab.put(
        source,
        click(1, "a", "10:00:01"),
        click(2, "a", "10:00:59.999"),
        click(1, "a", "10:00:30"),
        click(1, "b", "10:01:00"),
        click(1, "b", "10:07:00"),
    )
    lab.finish(CLICKS + OUT + TUMBLE, c=source)
    assert counts(lab, source) == [
        ("10:00", "10:01", "a", 3, 2),
        ("10:01", "10:02", "b", 1, 1),
        ("10:07", "10:08", "b", 1, 1),
    ]


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (
            "HOP(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)",
            [("09:59", "10:01", "a", 1, 1), ("10:00", "10:02", "a", 2, 2), ("10:01", "10:03", "a", 1, 1)],
        ),
        (
            "CUMULATE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE)",
            [("10:00", "10:01", "a", 1, 1), ("10:00", "10:02", "a", 2, 2), ("10:00", "10:03", "a", 2, 2)],
        ),
    ],
)
def test_hop_and_cumulate(lab: Lab, topic: TopicFactory, window: str, expected: list[object]) -> None:
    source = topic(partitions=1)
    lab.put(source, click(1, "a", "10:00:30"), click(2, "a", "10:01:30"))
    lab.finish(CLICKS + OUT + COUNTS.replace("{window}", window), c=source)
    assert counts(lab, source) == expected


def test_windows_close_as_time_moves_on_and_late_rows_are_counted(
    labs: Callable[..., Lab], topic: TopicFactory, tmp_path: Path
) -> None:
    source = topic(partitions=1)
    first = labs(str(tmp_path))
    first.put(source, click(1, "a", "10:00:01"), click(2, "a", "10:01:04.998"))
    job = first.job(ENDLESS + OUT + TUMBLE, c=source)
    first.until(lambda: job.progress.rows_in == 2, job)
    first.put(source, click(3, "a", "10:00:02"), click(4, "a", "10:01:04.999"))
    first.until_count(f"{source}-out", 1, job)
    assert counts(first, source) == [("10:00", "10:01", "a", 2, 2)]
    first.put(source, click(5, "a", "10:00:03"))
    first.until(lambda: any(name.endswith("late_rows_dropped") for name in job.progress.counts), job)
    job.stop()
    assert job.wait(SECONDS)
    # time goes on where it was
    again = labs(str(tmp_path))
    job = again.job(ENDLESS + OUT + TUMBLE, c=source)
    again.put(source, click(6, "a", "10:00:04"), click(7, "b", "10:02:10"))
    again.until_count(f"{source}-out", 2, job)
    assert counts(again, source)[1] == ("10:01", "10:02", "a", 2, 2)
    job.stop()
    assert job.wait(SECONDS)
    assert sum(count for name, count in job.progress.counts.items() if name.endswith("late_rows_dropped")) == 1


def test_an_idle_partition_does_not_stop_time(lab: Lab, topic: TopicFactory) -> None:
    source = topic(partitions=2)
    lab.client.produce(
        source, [("k", json.dumps(click(i, "a", time))) for i, time in enumerate(("10:00:00", "10:09:00"))]
    )
    idle = ENDLESS.replace("{json}", "{json}, 'scan.watermark.idle-timeout' = '2 s'")
    job = lab.job(idle + OUT + TUMBLE, c=source)
    lab.until_count(f"{source}-out", 1, job)
    assert counts(lab, source) == [("10:00", "10:01", "a", 1, 1)]


def test_a_watermark_on_a_computed_column_and_instants_of_the_session_zone(lab: Lab, topic: TopicFactory) -> None:
    source = topic(partitions=1)
    lab.put(source, {"ms": 1704067200000}, {"ms": 1704067200000 + 3600_000})
    lab.finish(
        """
        SET 'table.local-time-zone' = 'Asia/Kolkata';
        CREATE TABLE t (ms BIGINT, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
            WITH ('connector' = 'kafka', 'topic' = '{c}', {kafka}, {json}, {once});
        SELECT CAST(window_start AS STRING), CAST(window_end AS STRING), COUNT(*)
        FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
        """,
        c=source,
    )
    assert sorted(row for _, row in lab.shown) == [
        ("2024-01-01 05:00:00.000", "2024-01-01 06:00:00.000", 1),
        ("2024-01-01 06:00:00.000", "2024-01-01 07:00:00.000", 1),
    ]


def test_processing_time_windows_close_without_new_rows(lab: Lab, topic: TopicFactory) -> None:
    source = topic(partitions=1)
    lab.put(source, {"id": 1}, {"id": 2})
    job = lab.job(
        """
        CREATE TABLE t (id INT, pt AS PROCTIME())
            WITH ('connector' = 'kafka', 'topic' = '{c}', {kafka}, {json}, 'scan.startup.mode' = 'earliest-offset');
        SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(pt), INTERVAL '5' SECOND))
        GROUP BY window_start, window_end;
        """,
        c=source,
    )
    lab.until(lambda: lab.shown, job)
    assert lab.shown == [("+I", (2,))]


def test_windows_over_an_upsert_table(lab: Lab, topic: TopicFactory) -> None:
    source = topic(partitions=1)
    row = {"page": "a", "ts": "2024-01-01 10:00:00"}
    pairs = [({"id": i}, {"id": i, **row}) for i in (1, 2, 3)]
    lab.put_pairs(source, [*pairs, ({"id": 2}, None), ({"id": 3}, {"id": 3, **row, "page": "b"})])
    lab.finish(
        """
        CREATE TABLE t (id INT, page STRING, ts TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts)
            WITH ('connector' = 'upsert-kafka', 'topic' = '{c}', {kafka}, {keyed}, {ends});
        SELECT page, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
        GROUP BY window_start, window_end, page;
        """,
        c=source,
        ends="'scan.bounded.mode' = 'latest-offset'",
    )
    assert sorted(lab.shown) == [("+I", ("a", 1)), ("+I", ("b", 1))]


def test_sessions(lab: Lab, topic: TopicFactory) -> None:
    source = topic(partitions=1)
    times = ("10:00:00", "10:00:40", "10:02:00", "10:01:15")
    lab.put(source, *(click(i, "a", time) for i, time in enumerate(times)), click(9, "b", "10:00:20"))
    window = "SESSION(TABLE clicks PARTITION BY page, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
    lab.finish(CLICKS + OUT + COUNTS.replace("{window}", window), c=source)
    assert counts(lab, source) == [("10:00", "10:01", "b", 1, 1), ("10:00", "10:03", "a", 4, 4)]


def test_the_best_of_each_window(lab: Lab, topic: TopicFactory) -> None:
    source = topic(partitions=1)
    clicks = [("a", "10:00:01"), ("b", "10:00:02"), ("b", "10:00:03"), ("c", "10:01:01")]
    lab.put(source, *(click(1, page, time) for page, time in clicks))
    lab.finish(
        CLICKS
        + """
        SELECT page, n, rn FROM (
            SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS rn FROM (
                SELECT window_start, window_end, page, COUNT(*) AS n
                FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
                GROUP BY window_start, window_end, page)) WHERE rn <= 1;
        """,
        c=source,
    )
    assert sorted(lab.shown) == [("+I", ("b", 2, 1)), ("+I", ("c", 1, 1))]


def test_an_interval_join(lab: Lab, topic: TopicFactory) -> None:
    source, other = topic(partitions=1), topic(partitions=1)
    lab.put(source, click(1, "a", "10:00:00"), click(2, "b", "10:00:00"), click(3, "c", "10:05:00"))
    lab.put(other, click(1, "x", "10:00:30"), click(2, "y", "10:02:00"), click(3, "z", "10:04:59"))
    lab.finish(
        CLICKS
        + CLICKS.replace("clicks", "buys").replace("{c}", "{d}")
        + """
        SELECT c.id, c.page, b.page FROM clicks AS c LEFT JOIN buys AS b
        ON c.id = b.id AND b.ts BETWEEN c.ts AND c.ts + INTERVAL '1' MINUTE;
        """,
        c=source,
        d=other,
    )
    assert sorted(lab.shown) == [("+I", (1, "a", "x")), ("+I", (2, "b", None)), ("+I", (3, "c", None))]


def test_a_window_join(lab: Lab, topic: TopicFactory) -> None:
    source, other = topic(partitions=1), topic(partitions=1)
    lab.put(source, click(1, "a", "10:00:00"), click(2, "b", "10:00:59"), click(3, "c", "10:01:00"))
    lab.put(other, click(1, "x", "10:00:30"), click(2, "y", "10:01:00"))
    lab.finish(
        CLICKS
        + CLICKS.replace("clicks", "buys").replace("{c}", "{d}")
        + """
        SELECT l.id, l.page, r.page
        FROM (SELECT * FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) AS l
        LEFT JOIN (SELECT * FROM TABLE(TUMBLE(TABLE buys, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) AS r
        ON l.id = r.id AND l.window_start = r.window_start AND l.window_end = r.window_end;
        """,
        c=source,
        d=other,
    )
    assert sorted(lab.shown) == [("+I", (1, "a", "x")), ("+I", (2, "b", None)), ("+I", (3, "c", None))]


def test_a_temporal_join(lab: Lab, topic: TopicFactory) -> None:
    source, rates = topic(partitions=1), topic(partitions=1)
    lab.put(source, *(click(i, "eur", time) for i, time in enumerate(("10:00:00", "10:05:00", "10:20:00"))))
    pairs = [("10:01:00", 1), ("10:10:00", 2)]
    lab.put_pairs(rates, [({"c": "eur"}, {"c": "eur", "rate": r, "ts": f"2024-01-01 {time}"}) for time, r in pairs])
    lab.finish(
        CLICKS
        + """
        CREATE TABLE rates (c STRING, rate INT, ts TIMESTAMP(3), PRIMARY KEY (c) NOT ENFORCED, WATERMARK FOR ts AS ts)
            WITH ('connector' = 'upsert-kafka', 'topic' = '{r}', {kafka}, {keyed}, {ends});
        SELECT o.id, r.rate FROM clicks AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.page = r.c;
        """,
        c=source,
        r=rates,
        ends="'scan.bounded.mode' = 'latest-offset'",
    )
    assert sorted(lab.shown) == [("+I", (0, None)), ("+I", (1, 1)), ("+I", (2, 2))]


def test_a_row_without_time_is_a_named_error(lab: Lab, topic: TopicFactory) -> None:
    source = topic(partitions=1)
    lab.put(source, {"id": 1, "page": "a"})
    job = lab.job(CLICKS + OUT + TUMBLE, c=source)
    with pytest.raises(RowkindError, match="NULL_ROWTIME"):
        job.wait(SECONDS)


MEASURES = """
    CREATE TABLE measures (k STRING, v INT, n INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'kafka', 'topic' = '{m}', {kafka}, {json}, {once});
    CREATE TABLE out1 (k STRING, v INT, s INT, c BIGINT, f INT, l INT)
        WITH ('connector' = 'kafka', 'topic' = '{m}-rows', {kafka}, {json});
    CREATE TABLE out2 WITH ('topic' = '{m}-times') LIKE out1 (OVERWRITING OPTIONS);
    CREATE TABLE out3 WITH ('topic' = '{m}-all') LIKE out1 (OVERWRITING OPTIONS);
    CREATE TABLE out4 WITH ('topic' = '{m}-arrival') LIKE out1 (OVERWRITING OPTIONS);
    CREATE TABLE out5 (k STRING, n INT, m INT, s INT, before_ INT, after_ INT, PRIMARY KEY (k, n) NOT ENFORCED)
        WITH ('connector' = 'upsert-kafka', 'topic' = '{m}-order', {kafka}, 'key.format' = 'json',
              'value.format' = 'json');
    EXECUTE STATEMENT SET BEGIN
    INSERT INTO out1 SELECT k, v, SUM(v) OVER w, COUNT(*) OVER w, FIRST_VALUE(v) OVER w, LAST_VALUE(v) OVER w
        FROM measures WINDOW w AS (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW);
    INSERT INTO out2 SELECT k, v, SUM(v) OVER w, COUNT(*) OVER w, FIRST_VALUE(v) OVER w, LAST_VALUE(v) OVER w
        FROM measures
        WINDOW w AS (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND CURRENT ROW);
    INSERT INTO out3 SELECT k, v, SUM(v) OVER w, COUNT(DISTINCT n) OVER w, LAG(v) OVER w, AVG(v) OVER w
        FROM measures WINDOW w AS (PARTITION BY k ORDER BY ts);
    INSERT INTO out4 SELECT k, v, SUM(v) OVER w, COUNT(*) OVER w, LAG(v, 2, -1) OVER w, MAX(v) OVER w
        FROM measures WINDOW w AS (PARTITION BY k ORDER BY pt);
    INSERT INTO out5 SELECT k, n, m, SUM(m) OVER w, LAG(m) OVER w, LEAD(m) OVER w
        FROM (SELECT k, n, MAX(v) AS m FROM measures GROUP BY k, n) WINDOW w AS (PARTITION BY k ORDER BY n);
    END;
"""


def test_aggregates_over_rows_before(lab: Lab, topic: TopicFactory) -> None:
    """The results by time are those of Flink for the same rows."""
    source = topic(partitions=1)
    rows = [
        ("a", 1, 5, 1),
        ("a", 2, 3, 3),
        ("b", 3, 3, 2),
        ("a", 4, 5, 3),
        ("a", None, 1, 2),
        ("a", 6, 4, 9),
        ("b", 7, 2, 9),
    ]
    lab.put(source, *({"k": k, "v": v, "n": n, "ts": f"2024-01-01 00:00:0{s}"} for k, v, n, s in rows))
    lab.finish(MEASURES, m=source)

    def written(name: str) -> dict[str, set[tuple[int | None, ...]]]:
        values = [tuple(row.values()) for row in lab.values(f"{source}-{name}")]
        assert len(values) == len(rows)
        return {key: {value[1:] for value in values if value[0] == key} for key in ("a", "b")}

    assert written("rows") == {
        "a": {(1, 1, 1, 1, 1), (None, 1, 2, 1, 1), (2, 2, 2, 2, 2), (4, 6, 2, 2, 4), (6, 10, 2, 4, 6)},
        "b": {(3, 3, 1, 3, 3), (7, 10, 2, 3, 7)},
    }
    assert written("times") == {
        "a": {(1, 1, 1, 1, 1), (None, 1, 2, 1, 1), (2, 6, 3, 2, 4), (4, 6, 3, 2, 4), (6, 6, 1, 6, 6)},
        "b": {(3, 3, 1, 3, 3), (7, 7, 1, 7, 7)},
    }
    assert written("all") == {
        "a": {(1, 1, 1, None, 1), (None, 1, 2, 1, 1), (2, 7, 3, 2, 2), (4, 7, 3, 2, 2), (6, 13, 4, 4, 3)},
        "b": {(3, 3, 1, None, 3), (7, 10, 2, 3, 5)},
    }
    assert written("arrival") == {
        "a": {(1, 1, 1, -1, 1), (2, 3, 2, -1, 2), (4, 7, 3, 1, 4), (None, 7, 4, 2, 4), (6, 13, 5, 4, 6)},
        "b": {(3, 3, 1, -1, 3), (7, 10, 2, -1, 7)},
    }
    table = {key["k"] + str(key["n"]): tuple(value.values())[2:] for key, value in lab.pairs(f"{source}-order")}
    assert table == {
        "a1": (None, None, None, 2),
        "a3": (2, 2, None, 6),
        "a4": (6, 8, 2, 4),
        "a5": (4, 12, 6, None),
        "b2": (7, 7, None, 3),
        "b3": (3, 10, 7, None),
    }
