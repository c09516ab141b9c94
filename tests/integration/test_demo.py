"""`make demo`'s program with all its processes, in the smallest building there is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from integration.commands import Command
from lodestar_bringup.stack import stack
from lodestar_eval.demo.__main__ import EXIT_INTERRUPTED, EXIT_NOT_FOUND
from lodestar_interfaces.action import FollowDirective
from lodestar_sim.worlds.elements import Slab, Wall
from lodestar_sim.worlds.world import Room, World, WorldObject

pytestmark = pytest.mark.alone

START_UP = 120.0  # s, for fourteen processes on a machine that does other things too


def small_room(path: Path) -> Path:
    """A room of 5 x 4 m with one desk; nothing in it is what the directive means.

    A wall hides a strip of it, so that it is not explored within the time limit however soon the nodes are up.
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


def processes_of(out: Path) -> list[str]:
    """Names of the running processes whose logs go to a run's folder."""
    found = []
    for process in psutil.process_iter(["environ", "status", "name"]):
        logs = (process.info["environ"] or {}).get("ROS_LOG_DIR", "")
        if logs.startswith(str(out)) and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process.info["name"])
    return found


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Command]:
    """The demo with its nodes up and the directive sent; it may take 2 s of simulated time."""
    running = Command(
        "lodestar_eval.demo",
        *("--world", str(small_room(tmp_path / "small.json")), "--out", str(tmp_path / "out")),
        *("--directive", "find the fire extinguisher", "--time-limit", "2"),
    )
    try:
        running.until(lambda: "Directive: " in running.text, "the nodes come up", START_UP)
        yield running
    finally:
        running.kill()


def test_a_demo_that_finds_nothing_in_time_says_so_and_leaves_nothing_running(demo, tmp_path):
    out = tmp_path / "out"
    assert len(processes_of(out)) >= len(stack("sim")), "this test sees no processes"
    assert demo.ends(START_UP) == EXIT_NOT_FOUND, demo.text
    summary = json.loads((out / "summary.json").read_text())
    assert summary["error_code"] == FollowDirective.Result.TIME_LIMIT, summary["error_msg"]
    assert (summary["success"], summary["claimed_success"]) == (False, False)
    assert 2.0 <= summary["duration_s"] < 10.0
    assert summary["peak_pss_mib"] > 100.0
    for name in ("map.png", "decisions.jsonl", "world.json"):
        assert (out / name).is_file(), name
    assert processes_of(out) == []


def test_an_interrupted_demo_leaves_nothing_running(demo, tmp_path):
    demo.interrupt()
    assert demo.ends() == EXIT_INTERRUPTED, demo.text
    assert "everything is stopped" in demo.text
    assert "Traceback" not in demo.text
    page = (tmp_path / "out" / "report.md").read_text()
    assert page.startswith("# Not finished") and "interrupted" in page
    assert not (tmp_path / "out" / "summary.json").exists()
    assert processes_of(tmp_path / "out") == []
