"""Embedded Kafka: locked jars, start, stop."""

from rowkind.broker.broker import Broker
from rowkind.broker.java import require_java

__all__ = ["Broker", "require_java"]
