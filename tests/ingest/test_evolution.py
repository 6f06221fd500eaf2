"""Schema changes (spec 1.2, 1.5, Y18, Y31), the widest common type (1.3), and how rows fit."""

from __future__ import annotations

import pytest

from rowkind.errors import RowkindError
from rowkind.ingest.evolution import APPLIED, IGNORED, UNWRITTEN, Evolved, emptied, evolved
from rowkind.ingest.fitting import Fit, fit_of, fits, fitted
from rowkind.ingest.modes import Behavior
from rowkind.ingest.schema_changes import TAGS, DropTable, TruncateTable, changes_between
from rowkind.ingest.widening import widest, widest_columns
from rowkind.sql import render
from tests.ingest.jobs import fields, job, shown, type_

WIDEST = [
    ("VARCHAR(17)", "VARCHAR(19)", "STRING"),
    ("CHAR(3)", "VARCHAR(3)", "STRING"),
    ("VARCHAR(3)", "VARCHAR(3)", "VARCHAR(3)"),
    ("INT", "BIGINT", "BIGINT"),
    ("TINYINT", "SMALLINT", "SMALLINT"),
    ("INT", "STRING", "STRING"),
    ("INT NOT NULL", "INT NOT NULL", "INT NOT NULL"),
    ("INT NOT NULL", "INT", "INT"),
    ("INT", "DECIMAL(10, 2)", "DECIMAL(12, 2)"),
    ("BIGINT", "DECIMAL(20, 0)", "DECIMAL(20, 0)"),
    ("DECIMAL(10, 2)", "DECIMAL(8, 4)", "DECIMAL(12, 4)"),
    ("DECIMAL(38, 0)", "DECIMAL(38, 10)", "STRING"),
    ("BIGINT", "DECIMAL(38, 30)", "STRING"),
    ("SMALLINT", "FLOAT", "FLOAT"),
    ("INT", "FLOAT", "DOUBLE"),
    ("BIGINT", "DOUBLE", "DOUBLE"),
    ("FLOAT", "DOUBLE", "DOUBLE"),
    ("DECIMAL(10, 2)", "DOUBLE", "STRING"),
    ("BOOLEAN", "TINYINT", "STRING"),
    ("BOOLEAN", "STRING", "STRING"),
    ("BINARY(3)", "BINARY(5)", "BYTES"),
    ("BYTES", "STRING", "STRING"),
    ("DATE", "TIMESTAMP(3)", "TIMESTAMP(3)"),
    ("TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(6)"),
    ("TIMESTAMP(6)", "TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(6)"),
    ("DATE", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(3)"),
    ("TIME(0)", "TIME(6)", "TIME(6)"),
    ("TIME(0)", "TIMESTAMP(3)", "STRING"),
    ("DATE", "INT", "STRING"),
    ("ARRAY<INT>", "INT", "STRING"),
]


@pytest.mark.parametrize(("first", "second", "common"), WIDEST)
def test_the_widest_common_type(first: str, second: str, common: str) -> None:
    assert str(widest(type_(first), type_(second))) == common
    assert str(widest(type_(second), type_(first))) == common


def test_tables_that_share_a_topic() -> None:
    first = fields("id INT NOT NULL, name VARCHAR(17) NOT NULL, old INT NOT NULL")
    second = fields("id BIGINT NOT NULL, name VARCHAR(19), new STRING NOT NULL")
    assert shown(widest_columns([first, second])) == "id BIGINT NOT NULL, name STRING, old INT, new STRING"
    assert widest_columns([first]) == first
    assert widest_columns([]) == ()


BEFORE = "id INT NOT NULL, a STRING NOT NULL, b INT"
CHANGES = [
    # change, after, renames, EVOLVE, LENIENT, IGNORE
    (
        "add in the middle",
        "id INT NOT NULL, new INT NOT NULL, a STRING NOT NULL, b INT",
        {},
        "id INT NOT NULL, new INT NOT NULL, a STRING NOT NULL, b INT",
        "id INT NOT NULL, a STRING NOT NULL, b INT, new INT",
        BEFORE,
    ),
    (
        "add first",
        f"new INT, {BEFORE}",
        {},
        f"new INT, {BEFORE}",
        f"{BEFORE}, new INT",
        BEFORE,
    ),
    (
        "add two last",
        f"{BEFORE}, c INT NOT NULL, d STRING",
        {},
        f"{BEFORE}, c INT NOT NULL, d STRING",
        f"{BEFORE}, c INT, d STRING",
        BEFORE,
    ),
    (
        "rename",
        "id INT NOT NULL, z STRING NOT NULL, b INT",
        {"a": "z"},
        "id INT NOT NULL, z STRING NOT NULL, b INT",
        "id INT NOT NULL, a STRING, b INT, z STRING",
        BEFORE,
    ),
    (
        "rename, not known as such",
        "id INT NOT NULL, z STRING NOT NULL, b INT",
        {},
        "id INT NOT NULL, z STRING NOT NULL, b INT",
        "id INT NOT NULL, a STRING, b INT, z STRING",
        BEFORE,
    ),
    (
        "change a type",
        "id INT NOT NULL, a INT NOT NULL, b BIGINT",
        {},
        "id INT NOT NULL, a INT NOT NULL, b BIGINT",
        "id INT NOT NULL, a INT NOT NULL, b BIGINT",
        BEFORE,
    ),
    (
        "take NULL back",
        "id INT NOT NULL, a STRING NOT NULL, b INT NOT NULL",
        {},
        "id INT NOT NULL, a STRING NOT NULL, b INT NOT NULL",
        BEFORE,
        BEFORE,
    ),
    (
        "drop",
        "id INT NOT NULL, b INT",
        {},
        "id INT NOT NULL, b INT",
        "id INT NOT NULL, a STRING, b INT",
        BEFORE,
    ),
    ("another order", "id INT NOT NULL, b INT, a STRING NOT NULL", {}, BEFORE, BEFORE, BEFORE),
    ("nothing", BEFORE, {}, BEFORE, BEFORE, BEFORE),
]


def follow(
    after: str,
    behavior: str,
    renames: dict[str, str] | None = None,
    lists: str = "",
    sink: str = BEFORE,
    shared: bool = False,
    enabled: str = "true",
) -> Evolved:
    made = job(pipeline={"schema.change.behavior": behavior}, lists=lists, source={"schema-change.enabled": enabled})
    return evolved("shop.t", fields(sink), fields(BEFORE), fields(after), made.policy(shared), renames)


@pytest.mark.parametrize(
    ("after", "renames", "evolve", "lenient", "ignore"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES]
)
def test_behaviours(after: str, renames: dict[str, str], evolve: str, lenient: str, ignore: str) -> None:
    for behavior, expected in (("EVOLVE", evolve), ("TRY_EVOLVE", evolve), ("LENIENT", lenient), ("IGNORE", ignore)):
        assert shown(follow(after, behavior, renames).columns) == expected, behavior
    if changes_between(fields(BEFORE), fields(after), renames):
        with pytest.raises(RowkindError) as caught:
            follow(after, "EXCEPTION", renames)
        assert caught.value.condition == "INGEST_SCHEMA_CHANGED"
    else:
        assert shown(follow(after, "EXCEPTION", renames).columns) == BEFORE


def test_notes_and_counters() -> None:
    after = "id INT NOT NULL, a STRING NOT NULL, b INT, c INT"
    followed, ignored = follow(after, "LENIENT"), follow(after, "IGNORE")
    assert (followed.counts, ignored.counts) == ({APPLIED: 1}, {IGNORED: 1})
    assert followed.notes == ("Table shop.t: column 'c' INT added; the sink has id, a, b, c from here on.",)
    assert ignored.notes == ("Table shop.t: column 'c' INT added; the sink does not follow it.",)


def test_a_column_that_comes_back() -> None:
    dropped = shown(follow("id INT NOT NULL, b INT", "LENIENT").columns)
    made = job().policy(False)
    back = evolved(
        "t", fields(dropped), fields("id INT NOT NULL, b INT"), fields("id INT NOT NULL, b INT, a INT"), made
    )
    assert shown(back.columns) == "id INT NOT NULL, a STRING, b INT"


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("id INT NOT NULL, b INT", "id INT NOT NULL, a STRING, b INT"),
        ("id BIGINT NOT NULL, a STRING NOT NULL, b INT", "id BIGINT NOT NULL, a STRING NOT NULL, b INT"),
        ("id TINYINT NOT NULL, a STRING NOT NULL, b INT", BEFORE),
        ("id INT NOT NULL, c INT, a STRING NOT NULL, b INT", f"{BEFORE}, c INT"),
    ],
)
def test_a_topic_that_tables_share_only_widens(after: str, expected: str) -> None:
    assert shown(follow(after, "EVOLVE", shared=True).columns) == expected


def test_changes_that_the_source_keeps_to_itself() -> None:
    after = "id INT NOT NULL, a STRING NOT NULL, b INT, c INT"
    for behavior in ("EVOLVE", "LENIENT", "EXCEPTION"):
        assert shown(follow(after, behavior, enabled="false").columns) == BEFORE


LISTS = [
    # lists, behaviour, accepted
    ("", "EVOLVE", set(TAGS)),
    ("", "LENIENT", set(TAGS) - {"drop.table", "truncate.table"}),
    ("exclude.schema.changes: []", "LENIENT", set(TAGS)),
    ("exclude.schema.changes: [drop.column]", "LENIENT", set(TAGS) - {"drop.column"}),
    ("include.schema.changes: [add.column]", "EVOLVE", {"add.column", "create.table"}),
    ("include.schema.changes: [column]", "EVOLVE", {t for t in TAGS if "column" in t} | {"create.table"}),
    ("include.schema.changes: [alter]", "EVOLVE", {"alter.column.type", "alter.table.comment", "create.table"}),
    ("include.schema.changes: [drop]", "EVOLVE", {"drop.column", "drop.table", "create.table"}),
    ("include.schema.changes: [Rename, TRUNCATE]", "EVOLVE", {"rename.column", "truncate.table", "create.table"}),
    ("include.schema.changes: []", "EVOLVE", {"create.table"}),
    (
        "include.schema.changes: [column]\nexclude.schema.changes: [drop.column, create.table]",
        "EVOLVE",
        {"add.column", "alter.column.type", "rename.column"},
    ),
    ("exclude.schema.changes: [table]", "EVOLVE", {t for t in TAGS if "column" in t}),
]


@pytest.mark.parametrize(("lists", "behavior", "tags"), LISTS)
def test_lists_of_changes(lists: str, behavior: str, tags: set[str]) -> None:
    assert job(pipeline={"schema.change.behavior": behavior}, lists=lists).accepted.tags == tags


def test_a_change_that_is_left_out_is_ignored() -> None:
    after = "id INT NOT NULL, b INT, c INT"
    found = follow(after, "EVOLVE", lists="exclude.schema.changes: [drop.column]")
    assert shown(found.columns) == "id INT NOT NULL, a STRING NOT NULL, b INT, c INT"
    assert found.counts == {APPLIED: 1, IGNORED: 1}
    assert (
        shown(follow("id INT NOT NULL, b INT", "EXCEPTION", lists="exclude.schema.changes: [drop]").columns) == BEFORE
    )


@pytest.mark.parametrize("change", [TruncateTable(), DropTable()])
@pytest.mark.parametrize("behavior", list(Behavior))
def test_truncate_and_drop_write_nothing(change: TruncateTable | DropTable, behavior: Behavior) -> None:
    """Y31."""
    policy = job(pipeline={"schema.change.behavior": behavior}).policy(False)
    if behavior is Behavior.EXCEPTION:
        with pytest.raises(RowkindError) as caught:
            emptied("shop.t", fields(BEFORE), change, policy)
        assert caught.value.condition == "INGEST_SCHEMA_CHANGED"
        return
    found = emptied("shop.t", fields(BEFORE), change, policy)
    assert (found.columns, found.counts) == (fields(BEFORE), {UNWRITTEN: 1})
    assert "stay in the topic" in found.notes[0]


FITS = [
    ("INT", "INT", Fit.SAME),
    ("INT NOT NULL", "INT", Fit.SAME),
    ("VARCHAR(3)", "STRING", Fit.SAME),
    ("STRING", "VARCHAR(3)", Fit.SAME),
    ("BINARY(3)", "BYTES", Fit.SAME),
    ("INT", "BIGINT", Fit.CAST),
    ("INT", "STRING", Fit.CAST),
    ("DATE", "TIMESTAMP(3)", Fit.CAST),
    ("BIGINT", "INT", Fit.TRY_CAST),
    ("STRING", "INT", Fit.TRY_CAST),
    ("DECIMAL(12, 4)", "DECIMAL(10, 2)", Fit.TRY_CAST),
    ("BYTES", "STRING", Fit.BASE64),
    ("ARRAY<INT>", "INT", Fit.NULL),
]


@pytest.mark.parametrize(("given", "wanted", "fit"), FITS)
def test_how_values_fit(given: str, wanted: str, fit: Fit) -> None:
    assert fit_of(type_(given), type_(wanted)) is fit


def test_rows_in_the_columns_of_their_sink() -> None:
    sink, table = fields("id BIGINT, gone STRING, n INT, raw STRING"), fields("id INT, n STRING, raw BYTES, extra INT")
    assert [render(f.tree) for f in fitted(sink, table)] == [
        "CAST(`id` AS BIGINT)",
        "CAST(NULL AS STRING)",
        "TRY_CAST(`n` AS INT)",
        "TO_BASE64(`raw`)",
    ]
    assert not fits(sink, table)
    assert fits(table, table)
