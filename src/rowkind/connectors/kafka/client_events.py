"""What a client has to tell, taken from librdkafka's queue instead of through callbacks."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np
from confluent_kafka import KafkaError

from rowkind.connectors.kafka import librdkafka
from rowkind.connectors.kafka.clients import Reports
from rowkind.connectors.kafka.librdkafka import Messages

_LOG = logging.getLogger("rowkind.kafka")


class Events:
    """A client's queue: errors go to its reports, delivered messages to whoever wants to know."""

    def __init__(self, queue: int, reports: Reports, delivered: Callable[[Messages], None] | None = None) -> None:
        self._queue = queue
        self._reports = reports
        self._delivered = delivered

    def hear(self, seconds: float = 0) -> None:
        """All there is to hear, waiting so long for the first of it."""
        while event := librdkafka.queue_poll(self._queue, int(seconds * 1000)):
            seconds = 0
            try:
                self._take(event)
            finally:
                librdkafka.event_destroy(event)

    def _take(self, event: int) -> None:
        kind = librdkafka.event_type(event)
        if kind == librdkafka.DELIVERY and self._delivered is not None:
            pointers = np.zeros(librdkafka.event_message_count(event), np.int64)
            librdkafka.event_message_array(event, pointers.ctypes.data, len(pointers))
            self._delivered(Messages(pointers))
        elif kind == librdkafka.ERROR_EVENT:
            self._reports(KafkaError(librdkafka.event_error(event), librdkafka.event_error_string(event).decode()))
        elif kind == librdkafka.LOG:
            _LOG.info(librdkafka.log_line(event))
