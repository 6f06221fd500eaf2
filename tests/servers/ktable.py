"""A topic as Kafka Streams sees it: a KTable in a JVM of its own, asked through py4j."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, get_field, launch_gateway

from rowkind.broker.broker import LOCK as BROKER
from rowkind.broker.download import fetch
from rowkind.broker.java import require_java

STREAMS = Path(__file__).with_name("streams.lock")
STORE = "table"


@dataclass(frozen=True, slots=True)
class KTable:
    """A table that Kafka Streams keeps of a topic, for as long as it runs."""

    streams: Any
    parameters: Any

    def rows(self) -> dict[str, str]:
        """Keys and values as text; nothing while the table is being built."""
        if self.streams.state().toString() != "RUNNING":
            return {}
        entries = self.streams.store(self.parameters).all()
        found = {}
        while entries.hasNext():
            entry = entries.next()
            found[get_field(entry, "key")] = get_field(entry, "value")
        entries.close()
        return found


@contextmanager
def ktable(topic: str, servers: str, folder: Path) -> Iterator[KTable]:
    """Build the table in memory, from the beginning of the topic on."""
    jars = [*fetch(BROKER, "Kafka"), *fetch(STREAMS, "Kafka Streams")]
    py4j = next(Path(pyspark.__file__).parent.glob("jars/py4j-*.jar"))
    port = launch_gateway(
        jarpath=str(py4j), classpath=os.pathsep.join(map(str, jars)), java_path=str(require_java()), die_on_exit=True
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    try:
        kafka, properties = gateway.jvm.org.apache.kafka, gateway.jvm.java.util.Properties()
        properties.put("application.id", f"ktable-{uuid4().hex[:8]}")
        properties.put("bootstrap.servers", servers)
        properties.put("state.dir", str(folder))
        text = kafka.common.serialization.Serdes.String()
        builder, state = kafka.streams.StreamsBuilder(), kafka.streams.state
        # words that Python keeps for itself
        stored = getattr(kafka.streams.kstream.Materialized, "as")(state.Stores.inMemoryKeyValueStore(STORE))
        read = getattr(kafka.streams.kstream.Consumed, "with")(text, text)
        builder.table(topic, read, stored)
        streams = kafka.streams.KafkaStreams(builder.build(), properties)
        streams.start()
        kind = state.QueryableStoreTypes.keyValueStore()
        yield KTable(streams, kafka.streams.StoreQueryParameters.fromNameAndType(STORE, kind))
        streams.close()
    finally:
        gateway.shutdown()
