"""Client of the warm process: a process with all libraries loaded, from which the starter forks nodes."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import IO

from lodestar_bringup.loading import OURS
from lodestar_bringup.process_spec import ONE_THREAD
from lodestar_bringup.warm_process import GO, REQUEST_LIMIT, Order

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37
_OURS = "lodestar_"  # packages whose nodes can be forked: their import only loads libraries

# Environment variables that the dynamic linker, the C library, Python or a library reads once, when it is loaded. A
# node with another value than the warm process's is executed instead of forked.
READ_WHILE_LOADING = (
    "LD_", "GLIBC_", "MALLOC_", "PYTHON", "VIRTUAL_ENV", "OPENBLAS_", "OMP_", "MKL_", "NUMBA_", "NPY_", "OPENCV_", "TZ",
    "LANG", "LC_", "RMW_",
)  # fmt: skip
PROGRAM = (sys.executable, "-m", "lodestar_bringup.warm_process")


@dataclass(frozen=True)
class ForkLimits:
    """Timeouts and failures of forking after which nodes are executed as new processes instead."""

    answer: float = 90.0  # seconds for one fork; chosen: loading all libraries on a busy machine takes 30 s
    # consecutive failures after which nothing is forked any more; chosen: the fault repeats
    failures: int = 2
    close: float = 5.0  # seconds for the warm process to end; chosen: it may be in the middle of an import


class ForkedProcess:
    """A child process that this program has not started itself, with the interface of `subprocess.Popen`."""

    def __init__(self, pid: int, arguments: Sequence[str]) -> None:
        self.pid, self.args = pid, list(arguments)
        self.returncode: int | None = None
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """Return the exit status, negative for a signal; None while the process runs."""
        with self._lock:
            if self.returncode is None:
                try:
                    pid, status = os.waitpid(self.pid, os.WNOHANG)
                except ChildProcessError:  # another thread has waited for it
                    self.returncode = 255
                else:
                    if pid:
                        self.returncode = os.waitstatus_to_exitcode(status)
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended; return the exit status. Raises subprocess.TimeoutExpired."""
        code = self.poll()
        if code is not None:
            return code
        try:
            ended = os.pidfd_open(self.pid)
        except ProcessLookupError:  # another thread has waited for it meanwhile
            return self.wait(timeout)
        try:
            events = select.poll()  # poll, because select accepts no descriptor above 1023
            events.register(ended, select.POLLIN)
            events.poll(None if timeout is None else timeout * 1000.0)
        finally:
            os.close(ended)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return code


class WarmProcess:
    """A process that has loaded the nodes' libraries; started at first use, and again if it died.

    One serves every starter of a program. It ends with the program, or with `close`.
    """

    def __init__(self, limits: ForkLimits | None = None) -> None:
        self._limits = limits or ForkLimits()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._words: IO[bytes] | None = None
        self._environment: dict[str, str] = {}
        self._failures = 0
        self.refusal = ""  # why the last node was not forked, "" = it was

    @property
    def pid(self) -> int | None:
        """Return the process id of the warm process, None if it does not run."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def prepare(self, mains: Sequence[str]) -> None:
        """Request the warm process to load the modules of entry points; returns at once."""
        with self._lock, contextlib.suppress(OSError):
            if self._failures < self._limits.failures:
                self._ensure().send(json.dumps({"prepare": list(mains)}).encode())

    def fork(
        self, name: str, main: str, arguments: Sequence[str], environment: Mapping[str, str], log: IO[bytes]
    ) -> ForkedProcess | None:
        """Fork a node that writes to `log`; None if it must be executed instead, with the reason in `refusal`."""
        order = Order(main, name, list(arguments), dict(environment), _folder(), os.getpid())
        request = json.dumps({"fork": asdict(order)}).encode()
        with self._lock:
            if self._failures >= self._limits.failures:
                self.refusal = f"the warm process failed {self._failures} times"
            while self._failures < self._limits.failures:
                try:
                    return self._ask(order, request, log.fileno())
                except (OSError, ValueError) as error:
                    self._failures += 1
                    self.refusal = f"the warm process failed: {error}"
                    self._abandon()
                except BaseException:  # on Ctrl-C the answer may still come, and would leave an unknown node
                    self._abandon()
                    raise
            return None

    def close(self) -> None:
        """End the warm process; forked nodes keep running."""
        with self._lock:
            self._end()

    def _ask(self, order: Order, request: bytes, log: int) -> ForkedProcess | None:
        connection = self._ensure()
        self.refusal = self._unlike(order.environment)
        if len(request) > REQUEST_LIMIT:
            self.refusal = f"{len(request)} bytes of environment and arguments are too many"
        if self.refusal:
            return None
        # the node begins when GO is written to the pipe, and ends if the pipe is closed without it
        go, start = os.pipe()
        try:
            with _adopting():
                try:
                    socket.send_fds(connection, [request], [log, go])
                finally:
                    os.close(go)
                connection.settimeout(self._limits.answer)
                text = connection.recv(REQUEST_LIMIT)
            if not text:
                raise OSError(f"it ended{self._last_words()}")
            answer = json.loads(text)
            self._failures = 0
            self.refusal = answer.get("refusal", "")
            if not self.refusal:
                os.write(start, GO)
        finally:
            os.close(start)
        node = ForkedProcess(answer["pid"], order.arguments) if answer.get("pid") else None
        if self.refusal and node is not None:
            node.wait(self._limits.close)
        return None if self.refusal else node

    def _abandon(self) -> None:
        """End the warm process after a timeout, and wait for the end of a node that it has forked without
        reporting it in time; such a node ends before it begins its work.
        """
        with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired), _adopting():
            if self._socket is not None:
                self._socket.settimeout(self._limits.close)
                pid = json.loads(self._socket.recv(REQUEST_LIMIT)).get("pid")
                if pid:
                    ForkedProcess(pid, ()).wait(self._limits.close)
        self._end()

    def _unlike(self, environment: Mapping[str, str]) -> str:
        """Return why nodes cannot be forked with this environment: a variable that libraries read while
        loading has another value in the warm process. "" if there is none.
        """
        for key in sorted({*environment, *self._environment}):
            if key.startswith(READ_WHILE_LOADING) and environment.get(key) != self._environment.get(key):
                return f"{key} is read while libraries are loaded, and differs from the warm process's"
        return ""

    def _ensure(self) -> socket.socket:
        if self._socket is not None and self.pid is not None:
            return self._socket
        self._end()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * REQUEST_LIMIT)
        self._environment = {**os.environ, "PYTHONUNBUFFERED": "1", **ONE_THREAD}
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        with theirs:
            self._process = subprocess.Popen(
                [*PROGRAM, str(theirs.fileno())],
                cwd="/",  # not the caller's folder, in which Python would look for modules
                stdin=subprocess.DEVNULL,
                stdout=self._words,
                stderr=self._words,
                env=self._environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._socket = ours
        return ours

    def _last_words(self) -> str:
        if self._words is None:
            return ""
        self._words.seek(0)
        lines = self._words.read().decode(errors="replace").splitlines()
        return f": {lines[-1]}" if lines else ""

    def _end(self) -> None:
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            try:
                self._process.wait(self._limits.close)
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGKILL)
                self._process.wait()
        if self._words is not None:
            self._words.close()
        self._socket = self._process = self._words = None


@contextlib.contextmanager
def _adopting() -> Iterator[None]:
    """Make this process the parent of orphaned descendants during the block, so that it can wait for them."""
    before = ctypes.c_int(0)
    _LIBC.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, before.value, 0, 0, 0)


def _folder() -> str:
    """Return the working folder, "" if it was removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


_shared: tuple[int, WarmProcess] | None = None


def shared_warm_process() -> WarmProcess:
    """Return the warm process of this program."""
    global _shared
    if _shared is None or _shared[0] != os.getpid():  # a forked copy of the program needs its own
        _shared = os.getpid(), WarmProcess()
        atexit.register(_shared[1].close)
    return _shared[1]


def main_of(package: str, executable: Path) -> str:
    """Return the entry point "module:function" of a Lodestar Python node, "" for any other executable.

    The executable must be the script that setuptools or pip writes for that entry point, for this program's Python.
    """
    if not package.startswith(OURS):
        return ""
    main = _entry_points(package).get(executable.name, "")
    with executable.open("rb") as file:
        text = file.read(4096).decode(errors="replace")
    return main if main and _runs_in_this_python(text) and _calls(text, executable.name, main) else ""


@lru_cache(maxsize=16)
def _entry_points(package: str) -> dict[str, str]:
    try:
        found = distribution(package.replace("_", "-")).entry_points
    except PackageNotFoundError:
        return {}
    return {point.name: point.value for point in found if point.group == "console_scripts"}


def _runs_in_this_python(script: str) -> bool:
    """Return whether a script's first line names this program's interpreter, without options."""
    first = script.partition("\n")[0]
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    if len(words) == 2 and words[0].endswith("/env"):
        words = [shutil.which(words[1]) or ""]
    if len(words) != 1 or not os.path.exists(words[0]):
        return False
    same_folder = os.path.dirname(words[0]) == os.path.dirname(sys.executable)
    return same_folder and os.path.samefile(words[0], sys.executable)


def _calls(script: str, name: str, main: str) -> bool:
    """Return whether a script calls an entry point: setuptools writes its name, pip its module and function."""
    module, _, function = main.partition(":")
    return f"'console_scripts', '{name}'" in script or f"from {module} import {function}" in script
