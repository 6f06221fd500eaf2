"""Job files that pages show are valid."""

from __future__ import annotations

import re

import pytest

from rowkind.ingest.document import page
from rowkind.ingest.loading import parse_job
from rowkind.ingest.variables import Variables
from tests.docs import pages as p

JOBS = [block for name in p.pages_with("yaml") for block in p.of("yaml", name) if not block.words]
SHOWN = [(block.place, block.text) for block in JOBS]
GENERATED = [("ingestion-options.md", text) for text in re.findall(r"```yaml\n(.*?)```", page(), re.DOTALL)]


@pytest.mark.parametrize(("place", "text"), SHOWN + GENERATED, ids=[place for place, _ in SHOWN + GENERATED])
def test_a_job_file_of_a_page(place: str, text: str) -> None:
    named = set(re.findall(r"\$\{([^}:]+)\}", text))
    secrets = {name.removeprefix("secret_values.") for name in named if name.startswith("secret_values.")}
    values = dict.fromkeys((name for name in named if not name.startswith("secret_values.")), "x")
    assert parse_job(text, place, Variables(values, dict.fromkeys(secrets, "x")), "/checkpoint")


def test_pages_show_job_files() -> None:
    assert len(GENERATED) == 1
    assert SHOWN != []
