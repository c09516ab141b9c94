"""Small nodes of a test package, `lodestar_toys`, and functions to start them and wait for them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from waiting import wait_for

from lodestar_bringup.node_forks import ForkedProcess, WarmProcess
from lodestar_bringup.process_spec import ONE_THREAD, ProcessSpec
from lodestar_bringup.starter import Starter, StopTimes

QUICK = StopTimes(interrupt=0.5, terminate=0.5, kill=5.0)

NODES = """
import faulthandler, json, os, random, signal, sys, threading, time
import numpy

def report():
    seen = {
        "argv": sys.argv, "pid": os.getpid(), "parent": os.getppid(), "session": os.getsid(0), "group": os.getpgrp(),
        "folder": os.getcwd(), "environment": dict(os.environ), "threads": len(os.listdir("/proc/self/task")),
        "files": [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if n != "3"],
        "random": [random.random(), numpy.random.random()],
        "main": threading.current_thread() is threading.main_thread(),
        "blocked": [int(n) for n in signal.pthread_sigmask(signal.SIG_BLOCK, ())],
        "interrupt": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    }
    print(json.dumps(seen), flush=True)

def steady():
    print("steady is up", flush=True)
    while True:
        time.sleep(0.1)

def stubborn():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    steady()

def doomed():
    print("cannot find the weights", flush=True)
    sys.exit(3)

def told():
    return 4

def raises():
    raise RuntimeError("the lens is dirty")

def crashes():
    faulthandler.enable()
    os.kill(os.getpid(), signal.SIGSEGV)

def at_exit():
    import atexit
    atexit.register(lambda: print("said goodbye"))
"""
MODULES = {
    "nodes": NODES,
    "threaded": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
        "def main():\n    print('runs')\n"
    ),
    "broken": "import a_package_that_is_not_there\ndef main(): pass\n",
}
FUNCTIONS = ("report", "steady", "stubborn", "doomed", "told", "raises", "crashes", "at_exit")
POINTS = {
    **{name: f"lodestar_toys.nodes:{name}" for name in FUNCTIONS},
    "threaded": "lodestar_toys.threaded:main",
    "broken": "lodestar_toys.broken:main",
}


def install_toys(root: Path) -> None:
    """Install `lodestar_toys` below `root`: its modules in site/, its scripts in prefix/."""
    package, info = root / "site" / "lodestar_toys", root / "site" / "lodestar_toys-1.0.dist-info"
    scripts = root / "prefix" / "lib" / "lodestar_toys"
    for folder in (package, info, scripts):
        folder.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    for name, text in MODULES.items():
        (package / f"{name}.py").write_text(text)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lodestar-toys\nVersion: 1.0\n")
    lines = [f"{name} = {main}" for name, main in POINTS.items()]
    (info / "entry_points.txt").write_text("[console_scripts]\n" + "\n".join(lines))
    for name, main in POINTS.items():
        module, _, function = main.partition(":")
        (scripts / name).write_text(
            f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n"
        )
        (scripts / name).chmod(0o755)


def toy(executable: str, name: str = "", **more: Any) -> ProcessSpec:
    """Return the process spec of a node of `lodestar_toys`."""
    environment = {**ONE_THREAD, **more.pop("environment", {})}
    return ProcessSpec("lodestar_toys", executable, name or executable, environment=environment, **more)


def wait_until(condition: Callable[[], Any]) -> None:
    """Wait until it holds."""
    wait_for(condition, lambda: f"what {condition} asks for")


def runs(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def ended(warm: WarmProcess, folder: Path, spec: ProcessSpec, **more: Any) -> tuple[str, int, bool]:
    """Run a node to its end; return its log, its exit status, and whether it was forked."""
    with Starter([spec], folder, stop_times=QUICK, warm=warm, **more) as starter:
        wait_until(lambda: not starter.pids())
        (death,) = starter.deaths()
        forked = isinstance(starter.process(spec.name), ForkedProcess)
    return (folder / f"{spec.name}.log").read_text(), death.returncode, forked


def reported(warm: WarmProcess, folder: Path, spec: ProcessSpec, **more: Any) -> dict[str, Any]:
    """Run the node `report` forked; return the data that it reports about its process."""
    text, code, forked = ended(warm, folder, spec, **more)
    assert (code, forked) == (0, True), text
    return dict(json.loads(text))
