"""Run the tests in three parts: two beside each other, and whole stacks afterwards, on a machine of their own.

Arguments are pytest's. The first part runs on every core, file by file, with a low priority. The second runs beside it
with the ordinary one, so it has a core whenever it wants it: what is marked `ros` starts nodes or talks over DDS, each
file in a domain of its own; what is marked `timed` bounds a time. What is marked `alone` starts a whole stack, which
fills the machine, also in real time: one file after the other, when all else has ended. Where memory does not suffice
for two parts, they follow each other.

No test is run twice. A worker that dies fails the test it was at, and another one goes on with the rest. The last lines
name the tests that failed, and after a signal those that had not ended. The exit status is pytest's first bad one, 0 if
all passed.
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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_WORKERS = 4  # a worker takes up to 2.5 GB of memory
# bytes of free memory from which parts run beside each other; estimated: 4 workers of up to 2.5 GB
BESIDE = 12 << 30
GIVES_WAY = 10  # nice value: a tenth of a core where another wants it, so that no wait within a test runs out
PR_SET_PDEATHSIG = 1  # of Linux' prctl
ARRAYS = "1000000"  # bytes from which memory goes back to the system when it is freed
MARKS = ("ros", "timed", "alone")
PROGRESS = "LODESTAR_TEST_PROGRESS"  # as in conftest.py, which writes it
BESIDE_OTHERS, ALONE = "(ros or timed) and not alone", "alone"
PASSED, FAILED, NONE_CHOSEN = 0, 1, 5  # of pytest's exit statuses; others end everything
WORDS = {PASSED: "passed", FAILED: "FAILED", NONE_CHOSEN: "none chosen"}


@dataclass(frozen=True)
class Part:
    """Tests that are run by one pytest: which, in how many processes, and whether only while nothing else runs."""

    marks: str
    workers: int = 1
    idle: bool = False  # takes the time that the others leave, and writes to a file

    @property
    def name(self) -> str:
        return f"{self.workers if self.workers > 1 else 'one'} at a time, {self.marks}"

    def command(self, arguments: Sequence[str]) -> list[str]:
        # Files begin in the order of the collection. One worker is a process too, which may die.
        options = ["-n", str(self.workers), "--dist", "loadfile", "--no-loadscope-reorder"]
        return [sys.executable, "-m", "pytest", "-q", "-m", self.marks, *options, *arguments]

    def environment(self) -> dict[str, str]:
        # Bytecode is kept: every node that a test starts would compile all that it imports anew.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        if self.workers > 1 or self.idle:
            # Threads of several workers on the same cores would wait for each other, ten times as long.
            environment.setdefault("OMP_NUM_THREADS", "1")
        if self.idle:
            # else glibc keeps freed arrays: a worker held up to 8 GB, and spent a third of its time on them
            environment.setdefault("MALLOC_MMAP_THRESHOLD_", ARRAYS)
            environment.setdefault("MALLOC_TRIM_THRESHOLD_", ARRAYS)
        return environment


class Run:
    """A part under way. As a context manager it ends with it."""

    def __init__(self, part: Part, arguments: Sequence[str]) -> None:
        self._part = part
        self._output = tempfile.NamedTemporaryFile()  # noqa: SIM115 - closed with the run
        self._began = time.monotonic()
        aside = {"stdout": self._output, "stderr": subprocess.STDOUT, "start_new_session": True}
        self._process = subprocess.Popen(
            part.command(arguments), env=part.environment(), **(aside if part.idle else {}),
            preexec_fn=run_aside if part.idle else end_with_parent,
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
        self._output.close()

    @property
    def status(self) -> int | None:
        """Return pytest's exit status, None while it runs."""
        return self._process.poll()

    def result(self) -> tuple[int, str]:
        """Return pytest's exit status and a word on it, once it has ended; what it wrote aside is printed meanwhile."""
        print(f"== tests, {self._part.name}", flush=True)
        output = Path(self._output.name)
        status = print_until_ended(self._process, output) if self._part.idle else self._process.wait()
        return status, f"{WORDS.get(status, f'ENDED ({status})')}, {time.monotonic() - self._began:.0f} s"

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
    # where sessions share the cores evenly, the session's own weight counts
    with contextlib.suppress(OSError):
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


@contextlib.contextmanager
def told_at_the_end() -> Iterator[None]:
    """Print which tests have failed or not ended, after all else."""
    with tempfile.NamedTemporaryFile("r", errors="replace") as file:
        os.environ[PROGRESS] = file.name
        try:
            yield
        finally:
            words: dict[str, dict[str, None]] = {"began": {}, "ended": {}, "failed": {}}
            for line in file:
                word, _, test = line.rstrip("\n").partition(" ")
                words[word][test] = None
            for test in words["failed"]:
                print(f"== FAILED {test}", flush=True)
            for test in words["began"].keys() - words["ended"].keys() - words["failed"].keys():
                print(f"== NOT ENDED {test}", flush=True)


def free_memory(group: Path = Path("/sys/fs/cgroup")) -> int:
    """Return bytes that may still be taken, by the machine and by the limit of the container; 0 where unknown."""
    found = []
    with contextlib.suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found.append(1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]))
    with contextlib.suppress(OSError, ValueError):  # "max" where there is no limit
        words = (group / "memory.stat").read_text().split()
        # read or written before; freed where it is wanted
        files = int(words[words.index("inactive_file") + 1])
        taken = int((group / "memory.current").read_text()) - files
        found.append(int((group / "memory.max").read_text()) - taken)
    return min(found, default=0)


def useful_workers(arguments: Sequence[str], most: int = MOST_WORKERS) -> int:
    """Return how many workers, at `most`, have something to do: not more than cores, nor than the files named."""
    paths = {Path(argument.split("::")[0]) for argument in arguments if not argument.startswith("-")}
    files = len(paths) if paths and all(path.is_file() for path in paths) else most
    return min(len(os.sched_getaffinity(0)), most, files)


def marked_files(marks: Sequence[str] = MARKS, root: Path = ROOT) -> list[str]:
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


def main(arguments: Sequence[str]) -> int:
    """Run all parts, also where tests of one have failed."""
    beside = free_memory() >= BESIDE
    began = time.monotonic()
    first = Part(f"not ({' or '.join(MARKS)})", useful_workers(arguments), idle=beside)
    results: dict[Part, tuple[int, str]] = {}
    with Run(first, arguments) as filling:
        if not beside:
            results[first] = filling.result()
        if filling.status in (None, *WORDS):
            second = Part(BESIDE_OTHERS, useful_workers(arguments))
            with Run(second, list(arguments) or marked_files()) as run:
                results[second] = run.result()
        if first not in results:
            results[first] = filling.result()
    if all(status in WORDS for status, _ in results.values()):
        print(f"== {time.monotonic() - began:.0f} s after the start", flush=True)
        with Run(third := Part(ALONE), list(arguments) or marked_files((ALONE,))) as run:
            results[third] = run.result()
    print("\n".join(f"== tests, {part.name}: {word}" for part, (_, word) in results.items()), flush=True)
    statuses = [status for status, _ in results.values()]
    return next((status for status in statuses if status not in (PASSED, NONE_CHOSEN)), min(statuses))


def end(number: int, _: object) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)  # what runs aside ends too
    try:
        with told_at_the_end():
            status = main(sys.argv[1:])
        sys.exit(status)
    except KeyboardInterrupt:  # pytest, which was interrupted too, has said what there is to say
        sys.exit(130)
