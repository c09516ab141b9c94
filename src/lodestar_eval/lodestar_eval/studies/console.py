"""Study: the console under load, with a scripted robot: time to stop, first page, traffic at rest, memory."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import psutil

import lodestar_console
from lodestar_eval.console_client import ConsolePage, Puller, StatePage
from lodestar_eval.options import positive_int
from lodestar_eval.registry import BadOptions
from lodestar_eval.study import EACH, Limit, Number, Row, Study

_REST = 5.0  # s, duration of the measurement of traffic and processor while the robot stands


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--points", type=positive_int, default=200_000, help="of the cloud (default 200000)")
    parser.add_argument("--objects", type=positive_int, default=3000, help="things on the map (default 3000)")
    parser.add_argument("--clients", type=positive_int, default=10, help="that pull clouds (default 10)")
    parser.add_argument("--stops", type=positive_int, default=100, help="STOPs measured (default 100)")


class _Script:
    """Process that runs the console with a scripted robot."""

    def __init__(self, points: int, objects: int, cleanup: ExitStack) -> None:
        folder = cleanup.enter_context(tempfile.TemporaryDirectory())
        self._folder = str(Path(folder) / "console")
        words = ["--port", "18080", "--folder", self._folder, "--points", str(points)]
        words += ["--objects", str(objects)]
        command = [sys.executable, "-m", "scripted_robot", *words]
        tests = Path(lodestar_console.__file__).resolve().parents[1] / "test"
        if not tests.is_dir():
            raise BadOptions(f"the scripted robot is one of the tests: run this from a checkout ({tests})")
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tests)
        cleanup.callback(self._end)
        assert self._process.stdout is not None
        self.link = self._process.stdout.readline().strip()
        self.process = psutil.Process(self._process.pid)

    def new_link(self) -> str:
        command = [sys.executable, "-m", "lodestar_console.link", "--folder", self._folder]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def _end(self) -> None:
        self._process.terminate()
        self._process.wait(10.0)


def _measure(points: int, objects: int, clients: int, count: int) -> list[Row]:
    with ExitStack() as cleanup:
        script = _Script(points, objects, cleanup)
        began = time.monotonic()
        page = ConsolePage(script.link)
        for path in ("/", "/static/console.js", "/static/console.css"):
            page.get(path)
        state = cleanup.enter_context(StatePage(page))
        while state.items.get("entities", 0) < objects and state.read(10.0):
            pass
        load = time.monotonic() - began
        rest, share = _at_rest(script, page, state, cleanup)
        pullers = [Puller(ConsolePage(script.new_link())) for _ in range(clients)]
        dead = page.hang()
        sent, held, stands = _stops(page, state, count)
        pss = script.process.memory_full_info().pss / 2**20
        cloud = min(puller.received for puller in pullers)
        for puller in pullers:
            puller.close()
        dead.close()
    slowest = {"stop": stands, "stop_sent": sent, "stop_held": held}
    times = {f"{name}_p99_s": np.percentile(values, 99) for name, values in slowest.items()}
    found = {"load_s": load, "rest_kb_per_s": rest / 1000, "rest_core": share, "pss_mib": pss}
    return [{**found, **times, "slowest_puller_mb": cloud / 1e6}]


def _at_rest(script: _Script, page: ConsolePage, state: StatePage, cleanup: ExitStack) -> tuple[float, float]:
    """Return bytes per second to one client that reads all topics, and the server's share of a core, at rest."""
    puller = Puller(page)
    cleanup.callback(puller.close)
    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        state.read(0.1)
    before, times, began = puller.received + state.received, script.process.cpu_times(), time.monotonic()
    while time.monotonic() - began < _REST:
        state.read(0.1)
    span = time.monotonic() - began
    now = script.process.cpu_times()
    used = now.user + now.system - times.user - times.system
    return (puller.received + state.received - before) / span, used / span


def _stops(page: ConsolePage, state: StatePage, count: int) -> tuple[list[float], list[float], list[float]]:
    """Return, per drive, the seconds from STOP until it is forwarded, latched, and the robot stands."""
    found: tuple[list[float], list[float], list[float]] = ([], [], [])
    things = ("red chair", "sofa", "printer", "blue chair")
    with page.open("stop") as stop:
        for number in range(count):
            state.request("directive", text=f"find the {things[number % len(things)]}")
            _until_moving(state)
            began = time.monotonic()
            stop.send('{"stop": true}')
            for word, times in zip(("sent", "held", "stands"), found):
                while json.loads(stop.recv(timeout=20.0))["stop"] != word:
                    continue
                times.append(time.monotonic() - began)
            while not state.parts["robot"]["holds"]:
                state.read(1.0)
            state.request("resume", numbers=[one["number"] for one in state.parts["robot"]["holds"]])
    return found


def _until_moving(state: StatePage) -> None:
    end = time.monotonic() + 5.0
    while time.monotonic() < end:
        robot = state.parts.get("robot", {})
        if robot.get("speed") and not robot.get("held"):
            return
        state.read(0.2)
    raise TimeoutError("the robot of the script does not move")


BENCHMARK = Study(
    "console",
    "The console under load, with a script in the robot's place: STOP, first page, traffic at rest, memory.",
    _add_options,
    lambda options: [(options.points, options.objects, options.clients, options.stops)],
    _measure,
    numbers=(Number(EACH),),
    bars=(
        Limit("stop_p99_s", 0.5, at_least=False),
        Limit("load_s", 1.5, at_least=False),
        Limit("rest_kb_per_s", 300.0, at_least=False),
        Limit("pss_mib", 160.0, at_least=False),
    ),
    notes=(
        "The robot is a script: it stands at the next of its steps, 0.1 s apart.",
        "`slowest_puller_mb` is what the slowest client was sent: a client that hangs keeps no other waiting.",
    ),
)
