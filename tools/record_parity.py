"""Record what real Flink makes of the scripts in tests/parity/cases. Needs `make flink`.

    python -m tools.record_parity [--check] [--missing] [NAME …]

`--check` runs them again and says which results differ from the recordings, which are left alone: a case whose result
depends on the order of arrival is no good. `--missing` leaves out what has been recorded as it stands now.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rowkind.broker import Broker
from tests.kafka_client import KafkaClient
from tests.parity.cases import CASES, Case, create_topic, fill_topics, parsed, recorded, result, script
from tools.flink.client import Flink

FLINK = "2.2.1"


def record(case: Case, rows: list[str]) -> None:
    """One row a line, as Flink wrote it."""
    head = f'{{\n"flink": "{FLINK}",\n"of": "{case.digest}",\n"rows": ['
    lines = "".join(f"\n{row}," for row in rows)
    case.recording.write_text(f"{head}{lines[:-1]}\n]\n}}\n", "utf-8")


def is_recorded(case: Case) -> bool:
    return case.recording.exists() and recorded(case)["of"] == case.digest


@dataclass(frozen=True, slots=True)
class Recorder:
    """Runs cases on Flink, many in one job; what fails is found by halves."""

    flink: Flink
    client: KafkaClient
    check: bool

    def settle(self, cases: Sequence[Case]) -> bool:
        """Record or check the cases; whether all went well."""
        answer = self.ran(cases)
        if "error" not in answer:
            return not [case for case in cases if not self.keep(case)]
        if len(cases) == 1:
            print(f"{cases[0].name}: {answer['error']}", flush=True)
            return False
        return not [part for part in self.apart(cases, answer["statement"]) if not self.settle(part)]

    def ran(self, cases: Sequence[Case]) -> dict[str, Any]:
        """Run the cases to their end, in one job: Flink's last answer."""
        for case in cases:
            if case.topic in self.client.admin.list_topics().topics:
                self.client.delete_topic(case.topic)
            create_topic(self.client, case.topic)
        return self.flink.run(script(cases, self.client.bootstrap, capped=False))[-1]

    def apart(self, cases: Sequence[Case], failed: str) -> Iterable[Sequence[Case]]:
        """The case whose own statement failed apart from the others, or two halves."""
        guilty = [case for case in cases if failed in case.statements(self.client.bootstrap)]
        if guilty:
            return guilty, [case for case in cases if case not in guilty]
        return cases[: len(cases) // 2], cases[len(cases) // 2 :]

    def keep(self, case: Case) -> bool:
        rows = result(case, self.client)
        same = case.recording.exists() and recorded(case)["rows"] == [parsed(row) for row in rows]
        if not self.check:
            record(case, rows)
        told = "as recorded" if same else "not as recorded" if self.check else "recorded"
        print(f"{case.name}: {len(rows)} rows, {told}", flush=True)
        return same or not self.check


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    chosen = [c for c in CASES if not given.names or c.name in given.names or c.group in given.names]
    chosen = [c for c in chosen if not (given.missing and is_recorded(c))]
    with Broker.start() as broker, Flink() as flink:
        client = KafkaClient(broker.bootstrap)
        fill_topics(client)
        recorder = Recorder(flink, client, given.check)
        groups = groupby(chosen, key=lambda case: case.group)
        return sum(not recorder.settle(list(cases)) for _, cases in groups)


if __name__ == "__main__":
    sys.exit(main())
