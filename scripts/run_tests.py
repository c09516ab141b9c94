"""Run the tests in three parts, of which the first fills the time that the others leave.

Arguments are pytest's. The first part are those that mind no neighbour: on every core, file by file, with a low
priority. The others run beside it with the ordinary one, one after the other, so they have a core whenever they want
it. What is marked `ros` starts nodes or talks over DDS, each file in a domain of its own: it mostly waits, so one file
more than there are cores shares them well. What is marked `timed` bounds a time, and what is marked `alone` starts a
whole stack or uses the default domain: one test at a time. Where memory does not suffice for two parts, the first ends
before the others begin.

A few failed files among those with nodes or bounds of time are run once more, alone: other programs of the machine
delay nodes too. What passes only then is named at the end, and does not fail the whole. The exit status is pytest's
first bad one, 0 where all passed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_WORKERS = 4  # a worker takes up to 2.5 GB of memory
MOST_WITH_NODES = 3  # files at a time; each has up to seven nodes
MOST_AGAIN = 3  # failed files that are run a second time; more than these failed for a reason of their own
BESIDE = (
    12 << 30
)  # bytes of free memory from which parts run beside each other; estimated: 4 workers of up to 2.5 GB
GIVES_WAY = 10  # nice value: a tenth of a core where another wants it, so that no wait within a test runs out
PR_SET_PDEATHSIG = 1  # of Linux' prctl
HANGS = 900  # seconds after which a test that gives way to all others is taken to hang; 300 for the others
ARRAYS = "1000000"  # bytes from which memory goes back to the system when it is freed
ALONE = "timed or alone"
PASSED, FAILED, NONE_CHOSEN = 0, 1, 5  # of pytest's exit statuses; others end everything
WORDS = {PASSED: "passed", FAILED: "FAILED", NONE_CHOSEN: "none chosen"}


@dataclass(frozen=True)
class Part:
    """Tests that are run by one pytest: which, in how many processes, and whether only while nothing else runs."""

    marks: str
    workers: int = 1
    again: bool = False  # run a few failed files once more
    idle: bool = False  # takes the time that the others leave, and writes to a file

    @property
    def name(self) -> str:
        return f"{self.workers if self.workers > 1 else 'one'} at a time, {self.marks}"

    def run(self, arguments: Sequence[str]) -> tuple[int, str]:
        """Return pytest's exit status and a word on it."""
        with Run(self, arguments) as run:
            return run.result()

    def command(self, arguments: Sequence[str], report: Path) -> list[str]:
        command = [sys.executable, "-m", "pytest", "-q", "-m", self.marks]
        command += [f"--junitxml={report}", "-o", "junit_family=xunit1"]  # the only one that names files
        if self.workers > 1:
            # A file stays whole, so that what its tests share is made once; files begin in the order of the collection.
            command += ["-n", str(self.workers), "--dist", "loadfile", "--no-loadscope-reorder"]
        return [*command, *arguments]

    def environment(self) -> dict[str, str]:
        # Bytecode is kept: every node that a test starts would compile all that it imports anew.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        if self.workers > 1 or self.idle:
            # Threads of several workers on the same cores would wait for each other, ten times as long.
            environment.setdefault("OMP_NUM_THREADS", "1")
        if self.idle:
            environment.setdefault("PYTEST_TIMEOUT", str(HANGS))
            # else glibc keeps freed arrays: a worker held up to 8 GB, and spent a third of its time on them
            environment.setdefault("MALLOC_MMAP_THRESHOLD_", ARRAYS)
            environment.setdefault("MALLOC_TRIM_THRESHOLD_", ARRAYS)
        return environment


class Run:
    """A part under way. As a context manager it ends with it."""

    def __init__(self, part: Part, arguments: Sequence[str]) -> None:
        self._part, self._arguments = part, list(arguments)
        self._folder = tempfile.TemporaryDirectory()
        self._report = Path(self._folder.name) / "report.xml"
        self._written = Path(self._folder.name) / "output.txt"
        self._began = time.monotonic()
        command, environment = part.command(arguments, self._report), part.environment()
        if not part.idle:
            self._process = subprocess.Popen(command, env=environment, preexec_fn=end_with_parent)
            return
        with self._written.open("wb") as output:
            self._process = subprocess.Popen(
                command, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                preexec_fn=run_aside,
            )  # fmt: skip

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._process.poll() is None:
            if self._part.idle or kind is not KeyboardInterrupt:  # Ctrl-C reached it too, in this session
                self._signal(signal.SIGINT)
            try:
                self._process.wait(10.0)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
                self._process.wait()
        self._folder.cleanup()

    @property
    def over(self) -> bool:
        return self._process.poll() is not None

    def result(self) -> tuple[int, str]:
        """Return pytest's exit status and a word on it, once it has ended; what it wrote aside is printed meanwhile."""
        print(f"== tests, {self._part.name}", flush=True)
        status = print_until_ended(self._process, self._written) if self._part.idle else self._process.wait()
        files = failed_files(self._report) if self._part.again and status == FAILED else []
        outcome = WORDS.get(status, f"ENDED ({status})")
        if 0 < len(files) <= MOST_AGAIN and self._passes_again(files):
            status, outcome = PASSED, f"passed, but only when run again: {', '.join(files)}"
        return status, f"{outcome}, {time.monotonic() - self._began:.0f} s"

    def _passes_again(self, files: Sequence[str]) -> bool:
        print(f"== tests once more, one at a time: {' '.join(files)}", flush=True)
        options = [
            one for one in self._arguments if one.startswith("-") or not Path(one.split("::")[0]).exists()
        ]
        return Part(self._part.marks).run([*options, *files])[0] == PASSED

    def _signal(self, number: signal.Signals) -> None:
        if self._part.idle:
            os.killpg(self._process.pid, number)
        else:
            self._process.send_signal(number)


def end_with_parent() -> None:
    """Have this process be interrupted where the one that started it ends, also where that is killed outright."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)


def run_aside() -> None:
    """Have this process give way to all others, with what it starts, and end with the one that started it."""
    end_with_parent()
    os.nice(GIVES_WAY)
    with contextlib.suppress(
        OSError
    ):  # where sessions share the cores evenly, the session's own weight counts
        Path("/proc/self/autogroup").write_text(str(GIVES_WAY))


def print_until_ended(process: subprocess.Popen[bytes], written: Path) -> int:
    """Print what a process has written to a file and goes on to write; return its exit status."""
    with written.open(errors="replace") as output:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.5)
            ended = process.poll() is not None
            print(output.read(), end="", flush=True)
            if ended:
                return process.returncode


def free_memory(group: Path = Path("/sys/fs/cgroup")) -> int:
    """Return bytes that may still be taken, by the machine and by the limit of the container; 0 where unknown."""
    found = []
    with contextlib.suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found.append(1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]))
    with contextlib.suppress(OSError, ValueError):  # "max" where there is no limit
        words = (group / "memory.stat").read_text().split()
        files = int(
            words[words.index("inactive_file") + 1]
        )  # read or written before; freed where it is wanted
        taken = int((group / "memory.current").read_text()) - files
        found.append(int((group / "memory.max").read_text()) - taken)
    return min(found, default=0)


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


def marked_files(marks: Sequence[str], root: Path = ROOT) -> list[str]:
    """Return the test files that name one of the marks, themselves or in their folder's conftest: to collect all
    others takes ten seconds in each process. conftest.py at the root sees to it that every marked test names its mark.
    """
    found = []
    for folder in ("src", "tests"):
        for path in sorted((root / folder).rglob("test_*.py")):
            conftest = path.with_name("conftest.py")
            text = path.read_text() + (conftest.read_text() if conftest.is_file() else "")
            if any(f"mark.{mark}" in text for mark in marks):
                found.append(str(path.relative_to(root)))
    return found


def arguments_of(marks: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """Return the files of the marks, or what somebody has asked for."""
    return list(arguments) or marked_files(marks)


def main(arguments: Sequence[str]) -> int:
    """Run all parts, the later ones also where tests of an earlier one have failed."""
    beside = free_memory() >= BESIDE
    first = Part(f"not (ros or {ALONE})", useful_workers(arguments), idle=beside)
    others = (
        Part(f"ros and not ({ALONE})", useful_workers(arguments, MOST_WITH_NODES, waiting=1), again=True),
        Part(ALONE, again=True),
    )
    results: dict[Part, tuple[int, str]] = {}
    with Run(first, arguments) as filling:
        for part in others:
            if first not in results and (not beside or filling.over):
                results[first] = filling.result()
            if any(status not in WORDS for status, _ in results.values()):
                break
            marks = ("ros",) if part.marks.startswith("ros") else ("timed", "alone")
            results[part] = part.run(arguments_of(marks, arguments))
        else:
            if first not in results:
                results[first] = filling.result()
    ordered = [part for part in (first, *others) if part in results]
    print("\n".join(f"== tests, {part.name}: {results[part][1]}" for part in ordered), flush=True)
    statuses = [results[part][0] for part in ordered]
    bad = [status for status in statuses if status not in (PASSED, NONE_CHOSEN)]
    return bad[0] if bad else min(statuses)


def end(number: int, _: object) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)  # what runs aside ends too
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:  # pytest, which was interrupted too, has said what there is to say
        sys.exit(130)
