"""The alert rules and the dashboard that come with the package, taken apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

import rowkind

FOLDER = Path(rowkind.__file__).parent / "metrics"
ALERTS = FOLDER / "alerts.yml"


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]


def panel_queries() -> list[str]:
    """As Grafana sends them when all jobs are chosen."""
    panels = json.loads((FOLDER / "grafana-dashboard.json").read_text())["panels"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    return [query.replace("$job", ".*").replace("$__rate_interval", "1m") for query in queries]
