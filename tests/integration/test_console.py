"""Tests of the console with a real goal selector and gate: directives, STOP, resume, and death of the console."""

from __future__ import annotations

import itertools
import json
import time

import pytest
from page_client import PageClient, StateReader
from waiting import PATIENCE, Moment

from integration.bed import Processes
from integration.surroundings import TIMES, World, another_place_each_time, chair
from lodestar_console.access.keys import link_to, secret_of


@pytest.fixture(scope="module")
def world(bed, processes, tmp_path_factory):
    world = World(bed, processes, tmp_path_factory.mktemp("decisions") / "decisions.jsonl")
    world.folder = tmp_path_factory.mktemp("console") / "own"
    parameters = {
        "goal_selector": {**TIMES, "client.grace": 3.0},
        "console": {"port": 0, "folder": str(world.folder)},
    }
    processes.start("goal_selector", "motion_gate", "console", parameters=parameters, console=True)
    bed.next("goal_selector/heartbeat")
    bed.until(lambda: (world.folder / "address").exists(), "the console serves")
    world.robot.publish_grid()
    return world


@pytest.fixture(autouse=True)
def clean(world):
    world.reset()
    world.experts["frontier"].goes_to(2.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def page(world):
    """Return a page client whose session keeps the lease."""
    address = (world.folder / "address").read_text()
    return PageClient(link_to(address, secret_of(world.folder)))


def begin(world, state):
    """Send a directive, and wait until the robot moves."""
    reply = state.request("directive", text="find the red chair")
    assert reply["ok"] and "red chair" in reply["text"]
    world.bed.until(lambda: world.nav.driving and world.moving(), "the robot moves")


NUMBERS = itertools.count(1)  # of presses of STOP


def press(stop):
    """Press STOP; return the number of the press."""
    number = next(NUMBERS)
    stop.send(json.dumps({"stop": True, "press": number}))
    return number


def reply(stop, number, besides=()):
    """Return the next reply to a press of STOP that says something else than `besides`."""
    while True:
        told = json.loads(stop.recv(timeout=PATIENCE))
        if told["press"] == number and told["stop"] not in besides:
            return told


def test_a_page_reads_sends_stops_and_resumes(world, page):
    with page.open("state") as socket, page.open("stop") as stop:
        state = StateReader(socket)
        told = state.request("directive", text="find the red chair", dry_run=True)
        assert told["ok"] and "red chair" in told["value"]["understood"] and not world.nav.driving
        begin(world, state)
        state.until(lambda s: s.parts["directive"]["running"] and s.parts["robot"]["motion_allowed"])
        pressed = world.now()
        number = press(stop)
        assert reply(stop, number)["stop"] == "sent"
        world.assert_stops_after(pressed)
        # it is refused first where the gate's disk takes more than a second
        assert reply(stop, number, besides=("refused",))["stop"] == "held"
        state.until(lambda s: s.parts["robot"]["held"] and not s.parts["directive"]["running"])
        state.until(lambda s: s.parts["directive"]["result"])
        assert state.parts["directive"]["result"]["code"] == 11006
        released = state.resume()  # the gate's disk may take longer than the console waits
        assert released["ok"] or released["code"] == "timeout", released
        state.until(lambda s: not s.parts["robot"]["held"])


def test_the_directive_of_a_console_that_is_killed_ends(world, page, processes):
    with page.open("state") as socket:
        begin(world, StateReader(socket))
        processes.kill("console")
    world.bed.until(lambda: not world.nav.driving, "the navigator's goal is cancelled")
    world.beat(lambda beat: beat.state == "IDLE" and not beat.motion_allowed)


@pytest.fixture
def late(world, tmp_path):
    """Yield a function that returns a page of a console started now, and the moment of these processes."""
    own = Processes(tmp_path)
    folder = tmp_path / "own"

    def begin():
        own.start("console", parameters={"console": {"port": 0, "folder": str(folder)}}, console=True)
        world.bed.until(lambda: (folder / "address").exists(), "the console serves")
        return PageClient(link_to((folder / "address").read_text(), secret_of(folder)))

    begin.now = lambda: Moment.now([*world.processes.starter.pids(), *own.starter.pids()])
    yield begin
    own.stop()


def test_a_page_that_comes_late_shows_the_directive_of_another_client(world, late):
    """The directive started before the console; its progress comes from decisions."""
    goal = world.drive("find the red chair")
    with late().open("state") as socket:
        state = StateReader(socket)
        told = lambda s: s.parts.get("directive", {})  # noqa: E731
        state.until(lambda s: told(s).get("running") and "red chair" in told(s)["text"])
        state.until(lambda s: any(e["kind"] == "DIRECTIVE" for e in s.items.get("events", {}).values()))
        world.see(chair(1, (2.0, 1.0), time.time()))
        another_place_each_time(world.experts["frontier"])
        state.until(lambda s: s.parts["directive"]["progress"])
        goal.cancel()
        state.until(lambda s: not told(s)["running"] and (told(s)["result"] or {}).get("text"))


def pressed_stop(stop):
    """Press STOP; return the reported state of the gate."""
    return reply(stop, press(stop), besides=("sent", "stands"))


def test_a_gate_that_is_dead_is_told_and_what_it_said_before_counts_for_nothing(world, late, processes):
    with late().open("stop") as stop:
        world.bed.until(lambda: pressed_stop(stop)["stop"] == "held", "the gate is there, and holds")
        processes.kill("motion_gate")
        pressed = late.now()
        told = pressed_stop(stop)
        assert told["stop"] == "refused" and "hardware stop" in told["text"]
        world.assert_soon(pressed, 2.5)
