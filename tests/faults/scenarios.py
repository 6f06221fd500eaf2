"""Harm that comes to a running job. Each scenario ends with all of the load in the output, seen by another process."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass

from rowkind.broker.process import wait_until
from tests.cli.command import SECONDS, Command
from tests.faults.arena import Arena
from tests.faults.checks import OUTPUTS, Promise
from tests.faults.disk import small_disk
from tests.faults.processes import held, kill, workers

STEPS = ("before-sinks", "before-commit", "after-commit", "after-sinks", "after-manifest", "after-groups")
"""`before-commit` and `after-commit` kill a Python worker at its transaction, and the driver at once after it."""
TRANSACTION_STEPS = ("before-commit", "after-commit")
RUN_AGAIN = ("before-commit", "after-manifest")
"""Steps after one at which the driver kills itself, so that its batch has certainly not ended."""
CONTINUE = ", 'scan.on-data-loss' = 'continue'"

CLOCK = """
import os, time
def shifted(real, unit):
    def now():
        try:
            with open(os.environ["ROWKIND_TEST_CLOCK"]) as file:
                return real() + int(file.read() or 0) * unit
        except OSError:
            return real()
    return now
time.time, time.time_ns = shifted(time.time, 1), shifted(time.time_ns, 1_000_000_000)
"""


def killed_at_every_step(arena: Arena) -> int:
    """kill -9 of the driver at each step of the commit protocol, one after the other on one checkpoint.

    Two of the kills meet a batch that is run again, the others the next new one.
    """
    transactions = arena.promise is not Promise.AT_LEAST_ONCE
    steps = [step for step in STEPS if transactions or step not in TRANSACTION_STEPS]
    arena.load(arena.batch * (len(steps) - len(RUN_AGAIN) + 2))
    batch = -1
    for step in steps:
        happened = arena.folder / step
        batch += step not in RUN_AGAIN
        with arena.start(ROWKIND_FAIL_AT=f"{step}:{batch}:{happened}") as job:
            job.until(happened.exists)
            job.kill()
        if step == "before-commit":
            assert transaction_is_open(arena), "what was written before the commit is to be seen without isolation only"
    with arena.start() as job:
        arena.finish(job)
    return len(steps)


def worker_killed(arena: Arena) -> int:
    """kill -9 of the Python workers alone: Spark runs their tasks again."""
    arena.load(8 * arena.batch)
    kills = 0
    with arena.start() as job:
        arena.until_written(job)
        while kills < 3 and arena.faults():
            kill(workers(job.process.pid))
            kills += 1
            before = written(arena)
            job.until(lambda before=before: written(arena) > before or not arena.faults())  # type: ignore[misc]
        arena.load(arena.batch)
        arena.finish(job)
    return kills


def broker_restarted(arena: Arena) -> int:
    """The broker is away until the job says that it waits, then comes back: the job never ends."""
    arena.load(3 * arena.batch)
    with arena.start() as job:
        arena.until_complete(job)
        arena.broker.stop(keep=True)
        job.until(lambda: "The job waits" in job.err)
        arena.broker.restart()
        job.until(lambda: "The job goes on" in job.err)
        arena.load(2 * arena.batch)
        arena.finish(job)
    return 1


def broker_restarted_then_second_instance(arena: Arena) -> int:
    """The two faults after each other: the job that has survived the first loses its checkpoint to the second."""
    arena.load(arena.batch)
    with arena.start() as first:
        arena.until_complete(first)
        arena.broker.stop(keep=True)
        first.until(lambda: "The job waits" in first.err)
        arena.broker.restart()
        first.until(lambda: "The job goes on" in first.err)
        arena.load(arena.batch)
        arena.until_complete(first)
        owner = arena.owner()
        with arena.start() as second:
            second.until(lambda: arena.owner() != owner)
            arena.load(3 * arena.batch)
            ends_with(first, "JOB_TAKEN_OVER", "TRANSACTION_FENCED")
            arena.finish(second)
    return 2


def broker_killed_in_a_transaction(arena: Arena) -> int:
    """The broker dies while messages of a transaction are there that nobody may see yet.

    The job stands still meanwhile, so that the transaction is not about to be ended: Kafka may lose the end of one (see
    "A lost end" in docs/delivery.md).
    """
    arena.load(100)

    def killed() -> bool:
        if not arena.faults():
            arena.load(arena.batch)
        if not transaction_is_open(arena):
            return False
        with held(workers(job.process.pid)):
            threading.Event().wait(1.0)  # what is on its way to the broker arrives
            still = transaction_is_open(arena)
            if still:
                arena.broker.kill()
            return still

    with arena.start() as job:
        arena.until_complete(job)
        arena.site.proxy.delay = 0.02  # a slow way makes transactions last
        arena.load(5 * arena.batch)
        job.until(killed)
        arena.broker.restart()
        arena.site.proxy.delay = 0.0
        arena.load(arena.batch)
        arena.finish(job)
    return 1


def slow_connection(arena: Arena) -> int:
    """Every piece of every answer is late."""
    arena.load(arena.batch)
    with arena.start() as job:
        arena.until_written(job)
        arena.site.proxy.delay = 0.1
        arena.load(3 * arena.batch)
        arena.until_complete(job)
        arena.site.proxy.delay = 0.0
        arena.finish(job)
    return 1


def flapping_connection(arena: Arena) -> int:
    """Connections are cut again and again while there is load."""
    arena.load(arena.batch)
    cuts, over = 0, threading.Event()
    with arena.start() as job:
        arena.until_written(job)
        while cuts < 20:
            arena.load(arena.batch // 4)
            cuts += bool(arena.site.proxy.cut())
            over.wait(0.3)
            assert job.process.poll() is None, job.err
        arena.finish(job)
    return cuts


def disk_full(arena: Arena) -> int:
    """The checkpoint's disk is full: a named error; with room again the same command goes on."""
    with small_disk(arena.checkpoint) as disk:
        arena.load(2 * arena.batch)
        with arena.start(**disk.env) as job:
            arena.until_complete(job)

            def ended() -> bool:
                disk.fill()
                arena.load(100)
                return job.process.poll() is not None

            assert wait_until(ended, SECONDS)
            ends_with(job, "CHECKPOINT_NOT_WRITTEN")
        disk.free()
        with arena.start() as job:
            arena.finish(job)
    return 1


def second_instance(arena: Arena) -> int:
    """The same job is started twice: the second takes over, the first one ends and says why."""
    arena.load(3 * arena.batch)
    with arena.start() as first:
        arena.until_written(first)
        owner = arena.owner()
        with arena.start() as second:
            second.until(lambda: arena.owner() != owner)
            arena.load(5 * arena.batch)
            ends_with(first, "JOB_TAKEN_OVER", "TRANSACTION_FENCED")
            arena.finish(second)
    return 1


def topic_created_again(arena: Arena) -> int:
    """The topic is deleted and made anew, longer than it was: a named error, and the hint's way out."""
    arena.load(2 * arena.batch)
    with arena.start() as job:
        arena.until_complete(job)
        job.signal(signal.SIGTERM)
        assert job.wait() == 0, job.err
    arena.client.delete_topic(arena.source)
    arena.client.create_topic(arena.source, 2)
    arena.load(4 * arena.batch)
    with arena.start() as job:
        ends_with(job, "TOPIC_CREATED_AGAIN")
    arena.more = CONTINUE
    with arena.start() as job:
        arena.finish(job)
    return 1


def retention_overtakes(arena: Arena) -> int:
    """Messages are gone before they were read: a named error, and the hint's way out reads what is left."""
    arena.load(2 * arena.batch)
    with arena.start() as job:
        arena.until_complete(job)
        job.signal(signal.SIGTERM)
        assert job.wait() == 0, job.err
    read = set(arena.events)
    arena.load(arena.batch)
    gone = arena.records_lost_before({0: arena.client.end_offsets(arena.source)[0]})
    arena.load(arena.batch)
    with arena.start() as job:
        ends_with(job, "KAFKA_DATA_LOSS")
    arena.forget([event for event in gone if event not in read])
    arena.more = CONTINUE
    with arena.start() as job:
        arena.finish(job)
    return 1


def clock_jumps(arena: Arena) -> int:
    """The clock is set a day ahead, then two days back, under a job that runs; then it is resumed."""
    clock = arena.folder / "clock"
    (arena.folder / "sitecustomize.py").write_text(CLOCK)
    path = os.pathsep.join(filter(None, (str(arena.folder), os.environ.get("PYTHONPATH"))))
    env = {"PYTHONPATH": path, "ROWKIND_TEST_CLOCK": str(clock)}
    arena.load(arena.batch)
    with arena.start(**env) as job:
        for shift in (0, 86_400, -86_400):
            clock.write_text(str(shift))
            arena.load(arena.batch)
            arena.until_complete(job)
        job.kill()
    arena.load(arena.batch)
    with arena.start(**env) as job:
        arena.finish(job)
    return 2


def rescaled(arena: Arena) -> int:
    """Killed in the middle of a batch, and each time resumed on other cores with another `sink.parallelism`."""
    arena.load(5 * arena.batch)
    step = "before-commit" if arena.promise is Promise.EXACTLY_ONCE else "after-sinks"
    sizes = ((1, 1), (3, 3), (2, None))
    for number, (cores, parallelism) in enumerate(sizes[:-1]):
        arena.master, arena.parallelism = f"local[{cores},4]", parallelism
        happened = arena.folder / f"scale-{number}"
        with arena.start(ROWKIND_FAIL_AT=f"{step}:{1 + 2 * number}:{happened}") as job:
            job.until(happened.exists)
            job.kill()
    arena.master, arena.parallelism = f"local[{sizes[-1][0]},4]", sizes[-1][1]
    with arena.start() as job:
        arena.finish(job)
    return len(sizes) - 1


def written(arena: Arena) -> int:
    return sum(sum(arena.client.end_offsets(arena.topic(o.table)).values()) for o in OUTPUTS)


def transaction_is_open(arena: Arena) -> bool:
    """Whether there are messages that only a reader without isolation sees."""
    topics = [arena.topic(o.table) for o in OUTPUTS]
    return any(arena.client.end_offsets(t) != arena.client.end_offsets(t, committed=True) for t in topics)


def ends_with(job: Command, *conditions: str) -> None:
    """The job fails, and says one of these names."""
    code = job.process.wait(SECONDS)
    assert code == 1, job.err
    assert any(f"[{name}]" in job.err for name in conditions), job.err


ONCE = (Promise.EXACTLY_ONCE,)
BOTH = (Promise.EXACTLY_ONCE, Promise.AT_LEAST_ONCE)
MIXED = (Promise.MIXED,)


@dataclass(frozen=True, slots=True)
class Scenario:
    """Harm, what it needs, which promises it is for, and for which of them `make test` has it.

    It says how many faults it has done.
    """

    name: str
    harm: Callable[[Arena], int]
    proxied: bool = False
    promises: tuple[Promise, ...] = BOTH
    always: tuple[Promise, ...] = ()


SCENARIOS = (
    Scenario("killed-at-every-step", killed_at_every_step, promises=(*BOTH, *MIXED), always=MIXED),
    Scenario("worker-killed", worker_killed),
    Scenario("broker-restarted", broker_restarted),
    Scenario("broker-killed-in-a-transaction", broker_killed_in_a_transaction, proxied=True, promises=ONCE),
    Scenario("slow-connection", slow_connection, proxied=True),
    Scenario("flapping-connection", flapping_connection, proxied=True),
    Scenario("disk-full", disk_full),
    Scenario("second-instance", second_instance),
    Scenario(
        "broker-restarted-then-second-instance", broker_restarted_then_second_instance, promises=ONCE, always=ONCE
    ),
    Scenario("topic-created-again", topic_created_again),
    Scenario("retention-overtakes", retention_overtakes),
    Scenario("clock-jumps", clock_jumps),
    Scenario("rescaled", rescaled, promises=ONCE),
)
