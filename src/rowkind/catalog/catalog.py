"""The tables and views of a session."""

from __future__ import annotations

from rowkind.catalog.definition_rules import validate_definition
from rowkind.catalog.like import merged
from rowkind.definitions import TableDefinition, ViewDefinition
from rowkind.errors import RowkindError, nearest
from rowkind.sql.statements import Like

Definition = TableDefinition | ViewDefinition


class Catalog:
    """Tables and views by name, in the order they were made. One name space holds both, temporary or not.

    >>> catalog = Catalog()
    >>> catalog.create_view(ViewDefinition("v", "SELECT 1"))
    True
    >>> catalog.names()
    ['v']
    """

    def __init__(self) -> None:
        self._definitions: dict[str, Definition] = {}

    def copy(self) -> Catalog:
        """Another one with the same definitions; what is made in one of them is not in the other."""
        copied = Catalog()
        copied._definitions = dict(self._definitions)
        return copied

    def create_table(self, table: TableDefinition, *, if_not_exists: bool = False, like: Like | None = None) -> bool:
        """Whether it was made: False when the name is taken and that is no error."""
        if not self._is_free(table.name, if_not_exists):
            return False
        if like is not None:
            table = merged(table, like, self.table(like.source, "LIKE"))
        validate_definition(table)
        self._definitions[table.name] = table
        return True

    def create_view(self, view: ViewDefinition, *, if_not_exists: bool = False) -> bool:
        """Whether it was made: False when the name is taken and that is no error."""
        if not self._is_free(view.name, if_not_exists):
            return False
        self._definitions[view.name] = view
        return True

    def _is_free(self, name: str, if_not_exists: bool) -> bool:
        found = self._definitions.get(name)
        if found is not None and not if_not_exists:
            raise RowkindError("NAME_TAKEN", kind=_kind(found), name=name)
        return found is None

    def drop(self, name: str, *, view: bool = False, if_exists: bool = False) -> bool:
        """Whether it was there: False when it was not and that is no error."""
        if if_exists and name not in self._definitions:
            return False
        _ = self.view(name, "DROP VIEW") if view else self.table(name, "DROP TABLE")
        del self._definitions[name]
        return True

    def find(self, name: str) -> Definition | None:
        return self._definitions.get(name)

    def get(self, name: str) -> Definition:
        """The table or view of this name; an unknown one is an error that suggests the nearest."""
        found = self._definitions.get(name)
        if found is None:
            raise RowkindError("NO_SUCH_TABLE", table=name, suggestion=nearest(name, self._definitions))
        return found

    def table(self, name: str, purpose: str) -> TableDefinition:
        """The table of this name; `purpose` is what needs it, for the error when it is a view."""
        found = self.get(name)
        if not isinstance(found, TableDefinition):
            raise RowkindError("NOT_A_TABLE", name=name, purpose=purpose)
        return found

    def view(self, name: str, purpose: str) -> ViewDefinition:
        found = self.get(name)
        if not isinstance(found, ViewDefinition):
            raise RowkindError("NOT_A_VIEW", name=name, purpose=purpose)
        return found

    def names(self, *, views_only: bool = False) -> list[str]:
        """Names of tables and views, sorted, as SHOW TABLES and SHOW VIEWS list them."""
        return sorted(n for n, d in self._definitions.items() if not views_only or isinstance(d, ViewDefinition))


def _kind(definition: Definition) -> str:
    return "view" if isinstance(definition, ViewDefinition) else "table"
