"""Property tests: no time limits; the same examples every time in CI, elsewhere new ones, with a way to repeat them."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_SLOW_MACHINES = [HealthCheck.too_slow, HealthCheck.data_too_large]
EXAMPLES = 30
"""Of each test; `make fuzz` draws new ones round after round."""
settings.register_profile(
    "formats", deadline=None, print_blob=True, suppress_health_check=_SLOW_MACHINES, max_examples=EXAMPLES
)
settings.register_profile("formats-ci", settings.get_profile("formats"), derandomize=True)
settings.load_profile("formats-ci" if os.environ.get("CI") else "formats")
