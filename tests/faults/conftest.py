"""At the end of `make faults`: each scenario, whether it was survived, and the seconds it took."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if "matrix" not in config.getoption("-m"):
        return
    terminalreporter.section("scenarios")
    terminalreporter.write_line(f"{'':8}  {'seconds':>7}  {'faults':>6}  scenario")
    for outcome in ("passed", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, ()):
            faults = dict(report.user_properties).get("faults survived", "")
            name = report.nodeid.partition("::")[2]
            terminalreporter.write_line(f"{outcome:8}  {report.duration:7.0f}  {faults:>6}  {name}")
