"""What happens to rows that break the types of a sink's columns."""

from __future__ import annotations

from dataclasses import dataclass

from rowkind.options.session_options import (
    LENGTH_ENFORCER,
    NESTED_ENFORCER,
    NOT_NULL_ENFORCER,
    LengthEnforcer,
    NestedEnforcer,
    NotNullEnforcer,
)
from rowkind.options.session_values import SessionOptions


@dataclass(frozen=True, slots=True)
class Constraints:
    nulls: NotNullEnforcer = NotNullEnforcer.ERROR
    lengths: LengthEnforcer = LengthEnforcer.IGNORE
    nested: NestedEnforcer = NestedEnforcer.IGNORE

    @staticmethod
    def of(session: SessionOptions) -> Constraints:
        return Constraints(
            session.value(NOT_NULL_ENFORCER), session.value(LENGTH_ENFORCER), session.value(NESTED_ENFORCER)
        )


USUAL = Constraints()
"""Those of a session that sets none."""
