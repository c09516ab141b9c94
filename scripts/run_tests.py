"""Run the tests in three parts: on every core, two files at a time, one test at a time.

Arguments are pytest's. The first part are those that mind no neighbour. What is marked `ros` starts nodes or talks over
DDS, each file in a domain of its own: it mostly waits, so two files share the cores well. What is marked `timed` bounds
a time, and what is marked `alone` starts a whole stack or uses the default domain: beside a busy neighbour both would
tell about that one. The exit status is pytest's first bad one, 0 where all passed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MOST_WORKERS = 4  # a worker takes up to 2.5 GB of memory
MOST_WITH_NODES = 2  # files at a time; each has up to seven nodes
ALONE = "timed or alone"
PASSED, FAILED, NONE_CHOSEN = 0, 1, 5  # of pytest's exit statuses; others end everything
WORDS = {PASSED: "passed", FAILED: "FAILED", NONE_CHOSEN: "none chosen"}


@dataclass(frozen=True)
class Part:
    """One run of pytest: which tests, in how many processes."""

    marks: str
    workers: int = 1

    @property
    def name(self) -> str:
        return f"{self.workers if self.workers > 1 else 'one'} at a time, {self.marks}"

    def run(self, arguments: Sequence[str]) -> int:
        """Return pytest's exit status."""
        command = [sys.executable, "-m", "pytest", "-q", "-m", self.marks]
        # Bytecode is kept: every node that a test starts would compile all that it imports anew.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        if self.workers > 1:
            # A file stays whole, so that what its tests share is made once.
            command += ["-n", str(self.workers), "--dist", "loadfile"]
            # Threads of several workers on the same cores would wait for each other, ten times as long.
            environment.setdefault("OMP_NUM_THREADS", "1")
        return subprocess.call([*command, *arguments], env=environment)


def useful_workers(arguments: Sequence[str], most: int = MOST_WORKERS) -> int:
    """Return how many workers, at `most`, have something to do: not more than cores, nor than the files named."""
    paths = {Path(argument.split("::")[0]) for argument in arguments if not argument.startswith("-")}
    files = len(paths) if paths and all(path.is_file() for path in paths) else most
    return min(len(os.sched_getaffinity(0)), most, files)


def main(arguments: Sequence[str]) -> int:
    """Run all parts, the later ones also where tests of an earlier one have failed."""
    statuses, lines = [], []
    parts = (
        Part(f"not (ros or {ALONE})", useful_workers(arguments)),
        Part(f"ros and not ({ALONE})", useful_workers(arguments, MOST_WITH_NODES)),
        Part(ALONE),
    )
    for part in parts:
        print(f"== tests, {part.name}", flush=True)
        began = time.monotonic()
        status = part.run(arguments)
        outcome = WORDS.get(status, f"ENDED ({status})")
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
