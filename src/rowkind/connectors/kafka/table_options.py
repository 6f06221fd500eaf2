"""Options that say what a table is, however it is used: connector, topics, client properties, formats, key."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from rowkind.options.declarations import Option, choice, strings, text


class FieldsInclude(StrEnum):
    """Whether key columns are in the value too."""

    ALL = "ALL"
    EXCEPT_KEY = "EXCEPT_KEY"


TOPIC = Option(
    "topic",
    strings,
    "list of string",
    None,
    "Topics, separated by `;`. Read: all of them. Written: the one topic, or with two or more the topics that the "
    "writable `topic` metadata column may name.",
    required="this or `topic-pattern`",
)

TOPIC_PATTERN = Option(
    "topic-pattern",
    text,
    "Java regex",
    None,
    "Matches whole topic names. Read: every matching topic, new ones included. Written: what the `topic` metadata "
    "column must match.",
    required="this or `topic`",
)

BOOTSTRAP_SERVERS = Option(
    "properties.bootstrap.servers",
    text,
    "string",
    None,
    "Brokers to connect to first, as `host:port,host:port`.",
    required="yes",
)

GROUP_ID = Option(
    "properties.group.id",
    text,
    "string",
    None,
    "Consumer group: needed to start or stop at `group-offsets`, and to have progress committed for monitoring.",
    required="with `group-offsets`",
    unset="no group",
)

PROPERTIES = Option(
    "properties.*",
    text,
    "string",
    None,
    "Any property of Kafka's Java clients, by its Java name; an unknown one is named in a warning.",
)

FORMAT = Option(
    "format",
    text,
    "string",
    None,
    "Format of the message's value; the same as `value.format`, give one of them.",
    required="this or `value.format`",
)

VALUE_FORMAT = Option(
    "value.format",
    text,
    "string",
    None,
    "Format of the message's value.",
    required="this or `format`",
)

KEY_FORMAT = Option(
    "key.format",
    text,
    "string",
    None,
    "Format of the message's key. Insert-only.",
    required="with `key.fields`",
    unset="no key",
)

KEY_FIELDS: Option[tuple[str, ...]] = Option(
    "key.fields",
    strings,
    "list of string",
    (),
    "Physical columns that make the key, in this order, separated by `;`.",
    required="with `key.format`",
    unset="no key",
)

KEY_FIELDS_PREFIX = Option(
    "key.fields-prefix",
    text,
    "string",
    None,
    "Start of every key column's name, cut off inside the key; needs `value.fields-include` = `EXCEPT_KEY`.",
    unset="no prefix",
)

VALUE_FIELDS_INCLUDE: Option[FieldsInclude] = Option(
    "value.fields-include",
    choice(FieldsInclude),
    "ALL, EXCEPT_KEY",
    FieldsInclude.ALL,
    "Whether key columns are in the value too.",
)

SHARED: tuple[Option[Any], ...] = (
    TOPIC,
    TOPIC_PATTERN,
    BOOTSTRAP_SERVERS,
    GROUP_ID,
    PROPERTIES,
    FORMAT,
    VALUE_FORMAT,
    KEY_FORMAT,
    KEY_FIELDS_PREFIX,
    VALUE_FIELDS_INCLUDE,
)
