"""Starter of a stack of processes without `ros2 launch`: starts, monitors and stops them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

import psutil

from lodestar.storage.run_folder import RunFolder
from lodestar_bringup.memory import PssSampler, descendants_of
from lodestar_bringup.node_forks import ForkedProcess, WarmProcess, main_of, shared_warm_process
from lodestar_bringup.places import StackError, executable_path
from lodestar_bringup.process_spec import ProcessSpec

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
Process = subprocess.Popen[bytes] | ForkedProcess


@dataclass(frozen=True)
class StopTimes:
    """Seconds to wait for a process to end after each signal. ROS nodes usually end within 1 s of SIGINT."""

    interrupt: float = 4.0  # seconds after SIGINT; chosen: nodes save their state
    terminate: float = 2.0  # seconds after SIGTERM; chosen: a node that ignored SIGINT is stuck
    kill: float = 2.0  # seconds after SIGKILL; chosen: the kernel's clean-up on a loaded machine


@dataclass(frozen=True)
class Death:
    """A process that ended unexpectedly."""

    name: str
    returncode: int  # exit status; negative: killed by that signal
    log: Path
    tail: str  # last lines of its log

    def report(self) -> str:
        """Return a report for the user: what happened and what to do."""
        how = (
            f"killed by {signal.Signals(-self.returncode).name}"
            if self.returncode < 0
            else (f"ended with status {self.returncode}")
        )
        end = f"\n{self.tail}" if self.tail else ""
        return f"{self.name} {how}; its whole log is {self.log}{end}"


class Starter:
    """Runs processes until `stop`, each in its own session and with its log in a folder.

    Lodestar's Python nodes are forked from the program's warm process, every other executable is executed (ADR 0005).
    The time from `start` to `stop` is one run: processes with checkpoints get the run's folder, which is
    deleted at its end.

    As a context manager it stops the processes on exit, also on an exception or KeyboardInterrupt; if this
    process is killed, the kernel kills them. The kernel watches the thread that calls `start`: call it from a
    thread that lives as long as the processes should.
    """

    def __init__(
        self,
        specs: Sequence[ProcessSpec],
        log_folder: Path,
        *,
        environment: Mapping[str, str] | None = None,
        stop_times: StopTimes | None = None,
        warm: WarmProcess | None = None,
    ) -> None:
        self._specs = {spec.name: spec for spec in specs}
        if len(self._specs) != len(specs):
            raise ValueError("two processes of the stack have the same name")
        self._log_folder = Path(log_folder).absolute()
        self._environment = dict(environment or {})
        self._stop_times = stop_times or StopTimes()
        self._warm = warm or shared_warm_process()
        self._processes: dict[str, Process] = {}
        self._reported: set[int] = set()
        self._lock = threading.Lock()
        self._run: RunFolder | None = None
        self.memory = PssSampler(self._measured)

    def __enter__(self) -> Starter:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def log_folder(self) -> Path:
        """Return the folder with one `<name>.log` per process."""
        return self._log_folder

    def start(self, between: Callable[[], object] = lambda: None) -> None:
        """Start every process; if one fails to start, stop all and raise the error.

        between: called after each process, since all of them may take a minute. Its error stops all, and is raised.
        """
        self._log_folder.mkdir(parents=True, exist_ok=True)
        prepare(self._specs.values(), self._warm)
        clean_shared_memory()
        if any(spec.keeps for spec in self._specs.values()):
            self._run = RunFolder()
        try:
            for name in self._specs:
                self.start_one(name)
                between()
        except BaseException:
            self.stop()
            raise
        self.memory.start()

    def start_one(self, name: str) -> None:
        """Start one process of the stack, or start it again after it has ended."""
        spec = self._specs[name]
        old = self._processes.get(name)
        if old is not None and old.poll() is None:
            raise ValueError(f"{name} is already running")
        given = spec if self._run is None else spec.in_run(self._run.path, self._run.name)
        command, environment = given.command(), self._process_environment(spec)
        main = main_of(spec.package, Path(command[0]))
        with self._lock, (self._log_folder / f"{name}.log").open("ab") as log:
            forked = self._warm.fork(name, main, command, environment, log) if main else None
            if main and forked is None:
                with contextlib.suppress(OSError):  # if the disk is full, the node runs nevertheless
                    os.write(log.fileno(), f"{name} is executed, not forked: {self._warm.refusal}\n".encode())
            self._processes[name] = forked or _execute(command, environment, log)

    def pids(self) -> list[int]:
        """Return the process ids of running processes."""
        with self._lock:
            return [process.pid for process in self._processes.values() if process.poll() is None]

    def _measured(self) -> list[int]:
        """Return the ids of the running processes and of the warm process, which share memory."""
        pids, warm = self.pids(), self._warm.pid
        return [*pids, warm] if pids and warm is not None else pids

    def pid(self, name: str) -> int:
        """Return the process id of one process; KeyError if it was never started."""
        return self._processes[name].pid

    def process(self, name: str) -> Process:
        """Return one process, forked or executed; KeyError if it was never started."""
        return self._processes[name]

    def deaths(self) -> list[Death]:
        """Return the processes that have ended since the last call."""
        found = []
        for name, process in list(self._processes.items()):
            code = process.poll()
            if code is not None and process.pid not in self._reported:
                self._reported.add(process.pid)
                log = self._log_folder / f"{name}.log"
                found.append(Death(name, code, log, tail_of(log)))
        return found

    def send(self, name: str, number: signal.Signals) -> None:
        """Send a signal to one process and its descendants."""
        _signal_group(self._processes[name], number)

    def stop(self) -> None:
        """Stop every process: SIGINT, SIGTERM, SIGKILL, each with a bounded wait. Safe to repeat."""
        self.memory.stop()
        times = self._stop_times
        steps = (
            (signal.SIGINT, times.interrupt),
            (signal.SIGTERM, times.terminate),
            (signal.SIGKILL, times.kill),
        )
        descendants = descendants_of(self.pids())
        killed = any(process.poll() == -signal.SIGKILL for process in self._processes.values())
        for number, seconds in steps:
            running = [process for process in self._processes.values() if process.poll() is None]
            if not running:
                break
            killed = killed or number is signal.SIGKILL
            for process in running:
                _signal_group(process, number)
            _wait(running, seconds)
        for child in descendants:  # processes that a node started and did not end
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        self._reported.update(process.pid for process in self._processes.values())
        run, self._run = self._run, None
        if run is not None:
            run.close()
        if killed:
            clean_shared_memory()

    def _process_environment(self, spec: ProcessSpec) -> dict[str, str]:
        environment = dict(os.environ)
        environment["ROS_LOG_DIR"] = str(self._log_folder / "ros")
        environment["PYTHONUNBUFFERED"] = "1"
        environment.update(spec.process_environment())
        environment.update(self._environment)
        return environment


def prepare(specs: Iterable[ProcessSpec], warm: WarmProcess | None = None) -> None:
    """Request the warm process to load the libraries of these nodes, in the order of their start."""
    mains = []
    for spec in specs:
        with contextlib.suppress(StackError):  # reported when the process is started
            mains.append(main_of(spec.package, executable_path(spec.package, spec.executable)))
    if any(mains):
        (warm or shared_warm_process()).prepare([main for main in mains if main])


def _execute(
    command: Sequence[str], environment: Mapping[str, str], log: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start an executable in a new session; the kernel kills it when the calling thread ends."""
    parent = os.getpid()

    def die_with_parent() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
        preexec_fn=die_with_parent,
    )


def tail_of(log: Path, lines: int = 20, limit: int = 16384) -> str:
    """Return the last lines of a log file, "" if there is none."""
    try:
        with log.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - limit))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def clean_shared_memory() -> None:
    """Remove the Fast DDS segments that killed processes left in /dev/shm; segments in use stay."""
    tool = shutil.which("fastdds")
    if tool is None:
        return
    try:
        subprocess.run([tool, "shm", "clean"], capture_output=True, timeout=10, check=False)
    except subprocess.TimeoutExpired:
        return  # harmless: only space is lost, and the next start cleans again


def _signal_group(process: Process, number: signal.Signals) -> None:
    if process.poll() is None:  # the id of an ended process may have been reused
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)


def _wait(processes: Iterable[Process], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            continue
