"""Names of tables and views: there is one catalog with one database."""

from __future__ import annotations

from sqlglot import exp

from rowkind.sql.tokens import Cursor
from rowkind.types import quote

CATALOG, DATABASE = "default_catalog", "default_database"


def table_name(c: Cursor, what: str = "a table name") -> exp.Identifier:
    """A table's own name; `default_catalog`.`default_database` in front of it is left out."""
    token = c.token
    parts = [c.name(what)]
    while c.accept("."):
        parts.append(c.name(what))
    prefix = tuple(p.name for p in parts[:-1])
    if prefix not in ((), (DATABASE,), (CATALOG, DATABASE)):
        full = ".".join(quote(p.name) for p in parts)
        raise c.error("CATALOG_NOT_SUPPORTED", token, name=full, table=quote(parts[-1].name))
    return parts[-1]
