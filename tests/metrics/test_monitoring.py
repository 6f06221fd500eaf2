"""What comes with the package for Prometheus and Grafana fits the declarations, and alerts fire when they should."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rowkind.cli import app
from rowkind.metrics.declarations import METRICS
from rowkind.metrics.document import PAGE, written
from tests.metrics.shipped import ALERTS, panel_queries, rules
from tests.servers.prometheus import NotAvailable, program

SOURCE = Path(__file__).parents[2] / "src/rowkind"


def test_the_page_is_current() -> None:
    """If this fails: run `make docs`."""
    assert PAGE.read_text("utf-8") == written(PAGE.read_text("utf-8"))
    for metric in METRICS:
        assert f"`{metric.exposed}`" in PAGE.read_text("utf-8")


def test_the_dashboard_shows_every_metric_and_no_other() -> None:
    shown = {name for query in panel_queries() for name in re.findall(r"rowkind_\w+", query)}
    exposed = {metric.exposed for metric in METRICS}
    assert shown <= exposed
    # counters of messages are shown by their means, and a failed job as one that does not run
    by_others = {f"rowkind_{side}" for side in ("source_numRecordsIn", "source_numBytesIn")}
    by_others |= {f"rowkind_{side}" for side in ("sink_numRecordsOut", "sink_numBytesOut")}
    assert exposed - shown == by_others | {"rowkind_job_failed"}


def test_alerts_ask_for_metrics_that_exist() -> None:
    asked = {name for rule in rules() for name in re.findall(r"rowkind_\w+", rule["expr"])}
    assert asked <= {metric.exposed for metric in METRICS}
    for rule in rules():
        assert f"`{rule['alert']}`" in PAGE.read_text("utf-8")


def test_every_count_that_a_metric_sums_is_made_somewhere() -> None:
    code = "\n".join(file.read_text() for file in SOURCE.rglob("*.py") if file.parent.name != "metrics")
    assert [count for metric in METRICS for count in metric.counts if f'"{count}"' not in code] == []


@pytest.mark.parametrize(("command", "file"), [("alerts", "alerts.yml"), ("dashboard", "grafana-dashboard.json")])
def test_they_are_written_where_the_user_says(command: str, file: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["metrics", command, str(tmp_path / "here")])
    assert done.exit_code == 0
    assert (tmp_path / "here").read_text() == (SOURCE / "metrics" / file).read_text()


def test_alerts_fire_when_they_should(tmp_path: Path) -> None:
    shutil.copy(ALERTS, tmp_path / "alerts.yml")
    shutil.copy(Path(__file__).with_name("alerts_test.yml"), tmp_path)
    try:
        promtool = program("promtool")
    except NotAvailable as reason:
        if "CI" in os.environ:
            raise
        pytest.skip(str(reason))
    done = subprocess.run(
        [promtool, "test", "rules", "alerts_test.yml"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
