"""The workloads: the same Flink SQL for both engines, over seeded topics."""

from __future__ import annotations

from dataclasses import dataclass

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Input:
    """A topic to fill: kind of rows, how many, and their shape."""

    topic: str
    kind: str
    rows: int
    shape: Shape


@dataclass(frozen=True, slots=True)
class Workload:
    """Tables, those that are read first, and the INSERT; `{servers}` and `{out}` are filled in for each run."""

    name: str
    inputs: tuple[Input, ...]
    tables: str
    insert: str

    @property
    def reads(self) -> int:
        return len(self.inputs)

    @property
    def rows(self) -> int:
        return sum(i.rows for i in self.inputs)


def _kafka(topic: str) -> str:
    return (
        f"'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{{servers}}', "
        "'properties.group.id' = 'bench', 'format' = 'json', "
        "'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset'"
    )


def _upsert(topic: str) -> str:
    return (
        f"'connector' = 'upsert-kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{{servers}}', "
        "'key.format' = 'json', 'value.format' = 'json', 'scan.bounded.mode' = 'latest-offset'"
    )


_PAGEVIEWS = (
    "CREATE TABLE pageviews (user_id BIGINT, page_id BIGINT, viewtime TIMESTAMP(3), user_region STRING) "
    f"WITH ({_kafka('{pageviews}')});"
)


def workloads(scale: float) -> tuple[Workload, ...]:
    """All of them; `scale` 1 is the full size."""

    def rows(full: int) -> int:
        return max(1_000, int(full * scale))

    views = Input("pageviews", "pageviews", rows(10_000_000), (1_000, rows(1_000_000)))
    copied = Input("copied", "pageviews", rows(5_000_000), (1_000, rows(1_000_000)))
    accounts = Input("accounts", "upserts", rows(10_000_000), (rows(1_000_000), 1_000))
    left = Input("left_side", "upserts", rows(3_000_000), (rows(1_000_000), 1_000))
    right = Input("right_side", "upserts", rows(3_000_000), (rows(1_000_000), 1_000))
    account = "(id BIGINT, grp STRING, amount BIGINT, PRIMARY KEY (id) NOT ENFORCED)"
    return (
        Workload(
            "copy",
            (copied,),
            _PAGEVIEWS.replace("{pageviews}", "copied")
            + "CREATE TABLE sink (user_id BIGINT, page_id BIGINT, viewtime TIMESTAMP(3), user_region STRING, "
            f"PRIMARY KEY (user_id) NOT ENFORCED) WITH ({_upsert('{out}')});",
            "INSERT INTO sink SELECT user_id, page_id, viewtime, user_region FROM pageviews",
        ),
        Workload(
            "pvuv",
            (views,),
            _PAGEVIEWS.replace("{pageviews}", "pageviews")
            + "CREATE TABLE sink (user_region STRING, pv BIGINT, uv BIGINT, PRIMARY KEY (user_region) NOT ENFORCED) "
            f"WITH ({_upsert('{out}')});",
            "INSERT INTO sink SELECT user_region, COUNT(*), COUNT(DISTINCT user_id) "
            "FROM pageviews GROUP BY user_region",
        ),
        Workload(
            "retract",
            (accounts,),
            f"CREATE TABLE accounts {account} WITH ({_upsert('accounts')});"
            "CREATE TABLE sink (grp STRING, n BIGINT, total BIGINT, PRIMARY KEY (grp) NOT ENFORCED) "
            f"WITH ({_upsert('{out}')});",
            "INSERT INTO sink SELECT grp, COUNT(*), SUM(amount) FROM accounts GROUP BY grp",
        ),
        Workload(
            "join",
            (left, right),
            f"CREATE TABLE l {account} WITH ({_upsert('left_side')});"
            f"CREATE TABLE r {account} WITH ({_upsert('right_side')});"
            "CREATE TABLE sink (id BIGINT, grp STRING, amount BIGINT, other BIGINT, PRIMARY KEY (id) NOT ENFORCED) "
            f"WITH ({_upsert('{out}')});",
            "INSERT INTO sink SELECT l.id, l.grp, l.amount, r.amount FROM l JOIN r ON l.id = r.id",
        ),
    )
