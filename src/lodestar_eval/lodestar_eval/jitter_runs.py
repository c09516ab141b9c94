"""Runs of tests with disturbed searches: `python -m lodestar_eval.jitter_runs REQUEST RECORDS`.

Records are lines of JSON, one per test and run. It is a process of its own because the numerical libraries choose their
instructions by the environment when they are imported.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from lodestar_eval.disturbance import Disturbance, Ended, disturbed


@dataclass(frozen=True)
class Request:
    """tests: as for pytest. indices, metres, noise: of the disturbances. folder: the root of the tests."""

    tests: tuple[str, ...]
    indices: tuple[int, ...]
    metres: float
    noise: bool
    folder: str


@dataclass(frozen=True)
class RecordedTest:
    """One run of one test. why: the last line of its failure. searches: that ended in it, its fixtures included."""

    test: str
    index: int
    passed: bool
    why: str
    searches: tuple[Ended, ...]


class _Recorder:
    """Pytest plugin: writes a `RecordedTest` for every test that ran a search or failed."""

    def __init__(self, disturbance: Disturbance, records: Path) -> None:
        self._disturbance, self._records = disturbance, records
        self._failure = ""
        self._before = 0
        self.count = 0  # of tests

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._failure, self._before = "", len(self._disturbance.ended)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash: Any = getattr(report.longrepr, "reprcrash", None)
            text = str(report.longrepr) if crash is None else str(crash.message)
            self._failure = next(iter(text.splitlines()), "") or "failed"

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.count += 1
        searches = tuple(self._disturbance.ended[self._before :])
        if searches or self._failure:
            run = RecordedTest(nodeid, self._disturbance.index, not self._failure, self._failure, searches)
            with self._records.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(run)) + "\n")


def read_runs(lines: Iterable[str]) -> list[RecordedTest]:
    """Return the runs of lines that this program wrote."""
    runs = []
    for line in lines:
        made = json.loads(line)
        searches = tuple(Ended(**search) for search in made.pop("searches"))
        runs.append(RecordedTest(**made, searches=searches))
    return runs


def main(arguments: list[str]) -> int:
    """Run the request's tests once per index; return pytest's status where it could not run them, else 0."""
    request = Request(**json.loads(Path(arguments[0]).read_text(encoding="utf-8")))
    for index in request.indices:
        with disturbed(index, request.metres, request.noise) as disturbance:
            recorder = _Recorder(disturbance, Path(arguments[1]))
            options = ["-q", "--no-header", "--tb=line", "--durations=0", "-p", "no:cacheprovider"]
            status = pytest.main([*options, "--rootdir", request.folder, *request.tests], plugins=[recorder])
        if int(status) not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return int(status)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
