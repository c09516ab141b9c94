"""Tests of the program of `make demo` with all its processes, in a minimal building."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from integration.commands import Command
from integration.test_this_computer import MULTICAST
from lodestar_bringup.stack import stack
from lodestar_eval.demo.__main__ import EXIT_INTERRUPTED, EXIT_NOT_FOUND
from lodestar_interfaces.action import FollowDirective
from lodestar_sim.worlds.elements import Slab, Wall
from lodestar_sim.worlds.world import Room, World, WorldObject

pytestmark = pytest.mark.alone


def small_room(path: Path) -> Path:
    """Write the world file of a room of 5 x 4 m with one desk and without the directive's target; return its path.

    A wall hides a strip of the room, so that exploration takes longer than the time limit.
    """
    walls = (
        Wall(-2.6, -2.1, 2.6, -2.0, 0.0, 2.5), Wall(-2.6, 2.0, 2.6, 2.1, 0.0, 2.5),
        Wall(-2.6, -2.0, -2.5, 2.0, 0.0, 2.5), Wall(2.5, -2.0, 2.6, 2.0, 0.0, 2.5),
        Wall(-2.5, -1.0, 1.4, -0.9, 0.0, 2.5),
    )  # fmt: skip
    desk = WorldObject(
        1, "desk", "brown desk", "brown", "wood", (1.2, 0.6, 0.75), "param:desk", (1.6, 1.6, 0.0, 0.0)
    )
    bounds = (-2.6, -2.1, 2.6, 2.1)
    outline = ((-2.5, -2.0), (2.5, -2.0), (2.5, 2.0), (-2.5, 2.0))
    World(
        "small", "apartment", 0, bounds, (0.0, 0.0, 0.0), (Room(1, "study", outline),), walls,
        (Slab(*bounds, 0.0, "beige", "wood"), Slab(*bounds, 2.5, "white", "plaster", ceiling=True)), (desk,), (), (),
    ).save(path)  # fmt: skip
    return path


def processes_of(out: Path) -> list[psutil.Process]:
    """Return the running processes that log to a run's folder."""
    found = []
    for process in psutil.process_iter(["environ", "status"]):
        logs = (process.info["environ"] or {}).get("ROS_LOG_DIR", "")
        if logs.startswith(str(out)) and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


def listening_now() -> dict[int, set[str]]:
    """Return the addresses of the internet sockets of this computer's processes, by pid."""
    found: dict[int, set[str]] = defaultdict(set)
    for one in psutil.net_connections("inet"):
        if one.laddr and one.pid is not None:
            found[one.pid].add(one.laddr.ip)
    return found


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Command]:
    """Yield the demo after its directive was sent, with a time limit of 6 s simulated."""
    running = Command(
        "lodestar_eval.demo",
        *("--world", str(small_room(tmp_path / "small.json")), "--out", str(tmp_path / "out")),
        *("--directive", "find the fire extinguisher", "--time-limit", "6"),
    )
    try:
        running.until(lambda: "Asked: " in running.text, "the nodes come up")
        yield running
    finally:
        running.kill()


def test_a_demo_listens_on_the_loopback_alone_finds_nothing_in_time_and_leaves_nothing_running(
    demo, tmp_path
):
    out = tmp_path / "out"
    running = processes_of(out)
    program = psutil.Process(demo.process.pid)
    every = (*running, program, *program.children(recursive=True))
    addresses = listening_now()  # in one look, as the demo may end meanwhile
    assert len(running) >= len(stack("sim")), "this test sees no processes"
    assert sum(one.pid in addresses for one in running) >= len(stack("sim")), "this test sees no sockets"
    for one in every:
        assert addresses[one.pid] <= {"127.0.0.1", MULTICAST}, f"{one}: {addresses[one.pid]}"
    assert demo.ends() == EXIT_NOT_FOUND, demo.text
    summary = json.loads((out / "summary.json").read_text())
    assert summary["error_code"] == FollowDirective.Result.TIME_LIMIT, summary["error_msg"]
    assert (summary["success"], summary["claimed_success"]) == (False, False)
    assert 6.0 <= summary["duration_s"] < 14.0
    assert summary["peak_pss_mib"] > 100.0
    for name in ("map.png", "run.gif", "decisions.jsonl", "world.json", "log/demo.log"):
        assert (out / name).is_file(), name
    assert len(demo.lines) <= 30 and not any(word in demo.text for word in ("WARN", "Traceback")), demo.text
    assert "Not found" in demo.text and "Next:    make " in demo.text
    assert processes_of(out) == []


@pytest.mark.parametrize("stage", ["Building", "Starting", "Asked: ", " s  "])
def test_an_interrupted_demo_reports_what_it_knew_and_leaves_nothing_running(stage, tmp_path):
    """At each stage, by two presses of Ctrl-C; from the search on, the report holds the map."""
    out = tmp_path / "out"
    running = Command(
        "lodestar_eval.demo",
        *("--world", str(small_room(tmp_path / "small.json")), "--out", str(out)),
        *("--directive", "find the fire extinguisher"),
    )
    try:
        running.until(lambda: stage in running.text, f"the stage {stage!r}")
        running.interrupt()
        running.interrupt()
        assert running.ends() == EXIT_INTERRUPTED, running.text
    finally:
        running.kill()
    assert not any(word in running.text for word in ("WARN", "Traceback")) and len(running.lines) <= 30, (
        running.text
    )
    assert "nterrupted" in running.text, running.text
    if stage != "Building":  # it may be interrupted before there is a folder
        page = (out / "report.md").read_text()
        assert page.startswith("# Not finished") and "nterrupted" in page and "make demo" in page
    if stage in ("Asked: ", " s  "):
        assert (
            "Next:    make demo" in running.text
            and "## What was looked at" in page
            and "](map.png)" in page
            and (out / "map.png").is_file()
        )
    assert processes_of(out) == []
