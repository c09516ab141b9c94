"""The warm process, which loads the libraries of all nodes once, and forks each node from itself.

`python -m lodestar_bringup.warm_process FD` serves one starter over a socket until the starter closes it. A node is
forked twice, so that it becomes a child of the starter: the starter waits for it and signals it as if it had executed
it, and the end of the warm process does not affect the nodes.

This process never calls `rclpy.init`, has one thread, and holds no file but the socket. With more threads, a fork
could inherit a lock that is never released, so it refuses to fork then. The listener threads of LTTng, which
rclpy is linked to in some distributions, are the exception: LTTng has functions to call around a fork.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import re
import select
import signal
import socket
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lodestar_bringup.loading import OURS, load_kernels, load_parts, load_tables, load_type_supports
from lodestar_bringup.process_title import list_as

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
GO = b"\n"  # the starter writes this to a node to let it begin
REQUEST_LIMIT = 160_000  # most bytes of one request; a socket accepts about 200 kB by default


@dataclass(frozen=True)
class Order:
    """A request to fork one node.

    main: "module:function", as in an entry point. arguments: its command line, with the executable. folder: working
    folder, "" = none. parent: the process id of the starter.
    """

    main: str
    name: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str
    parent: int


class TraceListeners:
    """The threads of liblttng-ust, if it is loaded, and the functions that it wants called around a fork."""

    _LIBRARY = re.compile(r"(/\S*/liblttng-ust[-.][^/]*)$", re.MULTILINE)
    _NAMES = ("lttng_ust_before_fork", "lttng_ust_after_fork_parent", "lttng_ust_after_fork_child")

    def __init__(self) -> None:
        self.threads = 0
        self._calls: tuple[Callable[[Any], Any], ...] = (lambda mask: None,) * 3
        self._mask = (ctypes.c_ulong * 16)()  # sigset_t: 1024 bits
        for path in sorted(set(self._LIBRARY.findall(Path("/proc/self/maps").read_text()))):
            library = ctypes.CDLL(path)
            for prefix in ("", "lttng_"):  # before version 2.13 the names had no prefix
                names = [name.removeprefix(prefix) for name in self._NAMES]
                if all(hasattr(library, name) for name in names):
                    self._calls = tuple(getattr(library, name) for name in names)
                    self.threads = threads() - 1
                    return

    def before_fork(self) -> None:
        self._calls[0](self._mask)

    def after_fork_in_parent(self) -> None:
        self._calls[1](self._mask)

    def after_fork_in_child(self) -> None:
        self._calls[2](self._mask)


def serve(requests: socket.socket) -> Callable[[], Any]:
    """Answer requests until the starter closes the socket; in a forked node, return its main function instead.

    A request is {"prepare": [main, ...]}, which has no answer, or {"fork": Order} with two file descriptors: the node's
    log, and a pipe from which it reads that it may begin. Its answer is {"pid": number} or {"refusal": reason}. A node
    ends before it begins if its starter does not receive the answer. Modules to prepare are loaded while no request
    waits.
    """
    gc.disable()  # a node enables its own collector; here a collection would only write to shared pages
    load("rclpy")  # loaded first, because rclpy from wheels restarts Python on its first import
    listeners = TraceListeners()
    waiting: deque[str] = deque()
    while True:
        if waiting and not select.select([requests], [], [], 0.0)[0]:
            load(waiting.popleft().partition(":")[0])
            continue
        text, files, _, _ = socket.recv_fds(requests, REQUEST_LIMIT, 2)
        if not text:
            return lambda: 0
        request = json.loads(text)
        waiting.extend(request.get("prepare", ()))
        if "fork" in request:
            order = Order(**request["fork"])
            answer, main = _fork(order, files[0], files[1], requests, listeners)
            if main is not None:
                return main
            for file in files:
                os.close(file)
            requests.send(json.dumps(answer).encode())


def load(module: str) -> str:
    """Import a module and all that its node would load later; return why that failed, "" on success.

    Modules that fail here fail again in the node's log.
    """
    before = set(sys.modules)
    try:
        importlib.import_module(module)
        load_parts(
            [one for name, one in list(sys.modules.items()) if name.startswith(OURS) and name not in before]
        )
    except Exception as error:
        return f"{module} cannot be loaded: {error.__class__.__name__}: {error}"
    new = [sys.modules[name] for name in sorted(set(sys.modules) - before)]
    load_kernels(one for one in new if one.__name__.startswith(OURS))
    load_type_supports(new)
    load_tables(new)
    return ""


def threads() -> int:
    """Return the number of threads of this process, including those of libraries."""
    return len(os.listdir("/proc/self/task"))


def _fork(
    order: Order, log: int, go: int, requests: socket.socket, listeners: TraceListeners
) -> tuple[dict[str, object], Callable[[], Any] | None]:
    """Fork a node and wait until it is a child of the starter and ready to begin.

    Returns (answer to the starter, None) in this process, and (unused, main function) in the forked node.
    log, go: file descriptors of the node's log and of the pipe that lets it begin.
    """
    module, _, function = order.main.partition(":")
    refusal = load(module)
    extra = threads() - listeners.threads - 1
    if not refusal and extra > 0:
        refusal = f"a library has started {extra} threads in the warm process, by {module} at the latest"
    if refusal:
        return {"refusal": refusal}, None
    gc.freeze()  # the node's collector must not touch shared objects
    told, tell = os.pipe()
    listeners.before_fork()
    between = os.fork()
    if between == 0:
        node = os.fork()
        if node:
            os.write(tell, f"{node}\n".encode())
            os._exit(0)
        listeners.after_fork_in_child()
        os.close(told)
        _become(order, log, requests, go, tell)
        return {}, getattr(sys.modules[module], function)
    listeners.after_fork_in_parent()
    os.close(tell)
    os.waitpid(between, 0)  # now the node is the starter's child
    with os.fdopen(told) as words:
        number, ready = words.readline().strip(), words.readline().strip()
    if not number or not ready:
        return {"refusal": "the node ended before it began", "pid": int(number or 0)}, None
    return {"pid": int(number)}, None


def _become(order: Order, log: int, requests: socket.socket, go: int, tell: int) -> None:
    """Turn this process into a node: set its session, log, folder, environment, arguments and random numbers."""
    os.setsid()
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)
    requests.close()
    if order.folder:
        os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environment)
    sys.argv = list(order.arguments)
    if not getattr(sys.flags, "safe_path", False):  # the flag exists since Python 3.11
        sys.path[0] = os.path.dirname(order.arguments[0])  # as for an executed script
    list_as(order.name, [sys.executable, *order.arguments], order.environment)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()  # NumPy's global generator was copied; Python reseeds its own
    gc.enable()
    os.write(tell, b"ready\n")
    os.close(tell)
    if os.read(go, 1) != GO:
        os._exit(1)
    os.close(go)
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != order.parent:
        os._exit(1)


if __name__ == "__main__":
    sys.exit(serve(socket.socket(fileno=int(sys.argv[1])))())
