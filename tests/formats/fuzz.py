"""Random and damaged bytes into every decoder: it may call a message bad, and must do nothing else.

python -m tests.formats.fuzz [--seconds 60] [--seed N] [format …]
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from rowkind.formats.contract import Decoder, FormatChoice, FormatContext
from rowkind.formats.registry import format_named
from rowkind.types import DataType, Field
from tests.formats.suite import SAMPLES, batch

BATCH = 200
SIMPLE = (
    *("boolean", "tinyint", "int", "bigint", "float", "double", "decimal", "wide decimal", "string", "bytes", "date"),
    *("time", "array", "row"),
)
NESTED = (*SIMPLE, "nested array", "map", "multiset", "deep row")
TYPES = {
    "csv": SIMPLE,
    "json": NESTED,
    "avro": NESTED,
    "raw": ("boolean", "tinyint", "int", "bigint", "float", "double", "string", "bytes"),
    **dict.fromkeys(("debezium-json", "canal-json", "maxwell-json", "ogg-json"), NESTED),
}
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "csv": [{}, {"ignore-parse-errors": True, "escape-character": "\\", "null-literal": "n", "trim-spaces": True}],
    "json": [{}, {"ignore-parse-errors": True}],
    "avro": [{}, {"encoding": "json"}],
    "raw": [{}, {"charset": "UTF-16"}, {"line-delimiter": "|"}],
    "debezium-json": [{}, {"ignore-parse-errors": True}, {"schema-include": True}],
    "canal-json": [{}, {"ignore-parse-errors": True}, {"database.include": "a.*"}],
    "maxwell-json": [{}, {"ignore-parse-errors": True}],
    "ogg-json": [{}, {"ignore-parse-errors": True}],
}
SEEDS = b'{}[]",;:\\\n\r\0 #0123456789.eE+-truefalsn\xff\x80\x02\x01'


def payloads(chance: random.Random, good: list[bytes | None]) -> Iterator[bytes | None]:
    """Messages from nowhere, and good ones with a few bytes changed."""
    for _ in range(BATCH):
        kind, base = chance.randrange(4), chance.choice(good) or b""
        if kind == 0:
            yield chance.randbytes(chance.randrange(40))
        elif kind == 1:
            yield bytes(chance.choices(SEEDS, k=chance.randrange(40)))
        else:
            data = bytearray(base)
            for _ in range(chance.randrange(1, 4)):
                at = chance.randrange(len(data) + 1)
                data[at : at + chance.randrange(3)] = bytes(chance.choices(SEEDS, k=chance.randrange(3)))
            yield bytes(data)


def cases(format: str, chance: random.Random) -> tuple[Decoder, list[bytes | None]]:
    """A decoder of random columns, and good messages for it."""
    names = chance.sample(TYPES[format], 1 if format == "raw" else chance.randrange(1, 5))
    held: list[tuple[DataType, list[Any]]] = [SAMPLES[n] for n in names]
    columns = tuple(Field(f"f{i}", type) for i, (type, _) in enumerate(held))
    chosen = FormatChoice(format, chance.choice(OPTIONS[format]), FormatContext("t"))
    rows = [tuple(chance.choice(values) for _, values in held) for _ in range(5)]
    implementation = format_named(format)
    good = implementation.encoder(columns, chosen).encode(batch(columns, rows)).to_pylist()
    metadata = [key for key in implementation.metadata if chance.random() < 0.3]
    return implementation.decoder(columns, metadata, chosen), good + _updates(good)


def _updates(good: list[bytes | None]) -> list[bytes | None]:
    """Change events of two rows made of those of one."""
    made: list[bytes | None] = []
    for payload in good:
        event = payload or b""
        row = event.partition(b'"after":')[2].partition(b',"op')[0]
        made.append(event.replace(b'"before":null', b'"before":' + row).replace(b'"c"', b'"u"').replace(b'"I"', b'"U"'))
        data, _, type = event.partition(b',"type":')
        old = data.replace(b'{"data":', b',"old":')
        made.append(data + old + b',"type":' + type.replace(b"INSERT", b"UPDATE").replace(b"insert", b"update"))
    return made


def one_round(format: str, seed: int) -> None:
    """One batch of messages; what fails can be repeated by its seed."""
    chance = random.Random(seed)
    decoder, good = cases(format, chance)
    given = list(payloads(chance, good))
    try:
        decoded = decoder.decode(pa.array(given, pa.binary()))
        message = range(len(given)) if decoded.message is None else decoded.message.to_pylist()
        assert len(message) == decoded.rows.num_rows
        assert not {b.index for b in decoded.bad} & set(message)
    except Exception as error:
        raise AssertionError(f"{format}: seed {seed} raised {error!r}") from error


def run(formats: list[str], seconds: float, seed: int, say: Callable[[str], None] = print) -> None:
    for format in formats:
        rounds, end = 0, time.monotonic() + seconds / len(formats)
        while time.monotonic() < end:
            one_round(format, seed + rounds)
            rounds += 1
        say(f"{format}: {rounds * BATCH} messages, seeds {seed} to {seed + rounds - 1}, nothing but bad messages")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("formats", nargs="*", default=list(TYPES))
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--seed", type=int, default=int(time.time()))
    chosen = arguments.parse_args()
    run(chosen.formats, chosen.seconds, chosen.seed)
