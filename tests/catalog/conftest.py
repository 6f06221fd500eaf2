"""Small formats of the tests' own, so that these tests do not depend on any real one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from rowkind.errors import RowkindError
from rowkind.formats import registry
from rowkind.formats.contract import Decoder, Encoder, FormatChoice
from rowkind.kinds import ChangelogMode
from rowkind.options.declarations import Option, boolean, text
from rowkind.types import STRING, DataType, Field, timestamp_ltz


class PlainFormat:
    """Insert-only, with one option, one secret and one option for later."""

    name = "plain"
    options: tuple[Option[Any], ...] = (
        Option("strict", boolean, "boolean", False, "Whether to be strict.", fallbacks=("be-strict",)),
        Option("password", boolean, "boolean", None, "A secret of a type that can be wrong.", secret=True),
        Option("subject", text, "string", None, "Subject.", supported=False),
    )
    changelog = ChangelogMode.INSERT_ONLY
    metadata: Mapping[str, DataType] = {}

    def validate(self, columns: Sequence[Field], choice: FormatChoice) -> None:
        if any(c.name == "refused" for c in columns):
            raise RowkindError("UNKNOWN_FORMAT", format=self.name, known="", suggestion="")

    def decoder(self, columns: Sequence[Field], metadata: Sequence[str], choice: FormatChoice) -> Decoder:
        raise NotImplementedError

    def encoder(self, columns: Sequence[Field], choice: FormatChoice) -> Encoder:
        raise NotImplementedError


class ChangeFormat(PlainFormat):
    """A CDC format with metadata."""

    name = "changes"
    options = ()
    changelog = ChangelogMode.RETRACT
    metadata: Mapping[str, DataType] = {"database": STRING, "source.timestamp": timestamp_ltz(3)}


@pytest.fixture(autouse=True)
def formats(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for format in (PlainFormat, ChangeFormat):
        monkeypatch.setitem(registry.BUILT_IN, format.name, f"{__name__}:{format.__name__}")
    registry.format_named.cache_clear()
    yield
    registry.format_named.cache_clear()
