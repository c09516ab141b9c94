"""Run the tests in three parts: on every core, a file more than cores at a time, one test at a time.

Arguments are pytest's. The first part are those that mind no neighbour. What is marked `ros` starts nodes or talks over
DDS, each file in a domain of its own: it mostly waits, so one file more than there are cores shares them well. What is
marked `timed` bounds a time, and what is marked `alone` starts a whole stack or uses the default domain: beside a busy
neighbour both would tell about that one.

A few failed files among those with nodes or bounds of time are run once more, alone: other programs of the machine
delay nodes too. What passes only then is named at the end, and does not fail the whole. The exit status is pytest's
first bad one, 0 where all passed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MOST_WORKERS = 4  # a worker takes up to 2.5 GB of memory
MOST_WITH_NODES = 3  # files at a time; each has up to seven nodes
MOST_AGAIN = 3  # failed files that are run a second time; more than these failed for a reason of their own
ALONE = "timed or alone"
PASSED, FAILED, NONE_CHOSEN = 0, 1, 5  # of pytest's exit statuses; others end everything
WORDS = {PASSED: "passed", FAILED: "FAILED", NONE_CHOSEN: "none chosen"}


@dataclass(frozen=True)
class Part:
    """One run of pytest: which tests, in how many processes."""

    marks: str
    workers: int = 1
    again: bool = False  # run a few failed files once more

    @property
    def name(self) -> str:
        return f"{self.workers if self.workers > 1 else 'one'} at a time, {self.marks}"

    def run(self, arguments: Sequence[str]) -> tuple[int, str]:
        """Return pytest's exit status and a word on it."""
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.xml"
            status = self._pytest(arguments, report)
            files = failed_files(report) if self.again and status == FAILED else []
        outcome = WORDS.get(status, f"ENDED ({status})")
        if not 0 < len(files) <= MOST_AGAIN:
            return status, outcome
        print(f"== tests once more, one at a time: {' '.join(files)}", flush=True)
        options = [one for one in arguments if one.startswith("-") or not Path(one.split("::")[0]).exists()]
        if Part(self.marks).run([*options, *files])[0] != PASSED:
            return status, outcome
        return PASSED, f"passed, but only when run again: {', '.join(files)}"

    def _pytest(self, arguments: Sequence[str], report: Path) -> int:
        command = [sys.executable, "-m", "pytest", "-q", "-m", self.marks]
        command += [f"--junitxml={report}", "-o", "junit_family=xunit1"]  # the only one that names files
        # Bytecode is kept: every node that a test starts would compile all that it imports anew.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        if self.workers > 1:
            # A file stays whole, so that what its tests share is made once.
            command += ["-n", str(self.workers), "--dist", "loadfile"]
            # Threads of several workers on the same cores would wait for each other, ten times as long.
            environment.setdefault("OMP_NUM_THREADS", "1")
        return subprocess.call([*command, *arguments], env=environment)


def failed_files(report: Path) -> list[str]:
    """Return the files with failed tests of a JUnit report, sorted. None where there is no report."""
    if not report.exists():
        return []
    cases = ElementTree.parse(report).getroot().iter("testcase")
    return sorted(
        {
            case.get("file", "")
            for case in cases
            if case.find("failure") is not None or case.find("error") is not None
        }
    )


def useful_workers(arguments: Sequence[str], most: int = MOST_WORKERS, waiting: int = 0) -> int:
    """Return how many workers, at `most`, have something to do: not more than cores and `waiting`, nor than the files
    named.
    """
    paths = {Path(argument.split("::")[0]) for argument in arguments if not argument.startswith("-")}
    files = len(paths) if paths and all(path.is_file() for path in paths) else most
    return min(len(os.sched_getaffinity(0)) + waiting, most, files)


def main(arguments: Sequence[str]) -> int:
    """Run all parts, the later ones also where tests of an earlier one have failed."""
    statuses, lines = [], []
    parts = (
        Part(f"not (ros or {ALONE})", useful_workers(arguments)),
        Part(f"ros and not ({ALONE})", useful_workers(arguments, MOST_WITH_NODES, waiting=1), again=True),
        Part(ALONE, again=True),
    )
    for part in parts:
        print(f"== tests, {part.name}", flush=True)
        began = time.monotonic()
        status, outcome = part.run(arguments)
        lines.append(f"== tests, {part.name}: {outcome}, {time.monotonic() - began:.0f} s")
        statuses.append(status)
        if status not in WORDS:
            break
    print("\n".join(lines), flush=True)
    bad = [status for status in statuses if status not in (PASSED, NONE_CHOSEN)]
    return bad[0] if bad else min(statuses)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:  # pytest, which was interrupted too, has said what there is to say
        sys.exit(130)
