"""Tests of the command-line programs as processes, with a stack in a namespace."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from waiting import PATIENCE

from integration.commands import Command
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.send_directive import EXIT_CANCELLED, EXIT_GONE

NAMESPACE = "robot1"
HEARTBEAT = f"/{NAMESPACE}/goal_selector/heartbeat"
HOLDS = f"/{NAMESPACE}/motion_gate/holds"
# The sender, with patience for a goal selector that starts slowly on a busy machine.
PATIENT_SENDER = f"""
import sys
from lodestar_ros import send_directive
send_directive._RETURN_TIMEOUT = {PATIENCE / 2}
sys.exit(send_directive.main())
"""


@pytest.fixture(scope="module")
def starter(bed, processes):
    bed.hear(msg.Heartbeat, HEARTBEAT, qos.COMMAND)
    bed.hear(msg.Holds, HOLDS, qos.LATCHED)
    # There is no map, so directives must wait; a command may be late to assert that it lives.
    patient = {"loop.no_map_timeout": 120.0, "client.grace": 20.0}
    started = processes.start(
        "goal_selector", "motion_gate", namespace=NAMESPACE, parameters={"goal_selector": patient}
    )
    bed.next(HEARTBEAT)
    return started


@pytest.fixture
def command(starter, tmp_path) -> Iterator:
    running: list[Command] = []
    (tmp_path / "patient_sender.py").write_text(PATIENT_SENDER)
    environment = {"PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}

    def start(module: str, *arguments: str) -> Command:
        name = "patient_sender" if module == "send_directive" else f"lodestar_ros.{module}"
        running.append(Command(name, *arguments, environment=environment))
        return running[-1]

    yield start
    for one in running:
        one.kill()


def under_way(bed, command) -> Command:
    """Send a directive by command, wait until the goal selector follows it, and return the command."""
    sent = command("send_directive", "find the red chair", "--namespace", NAMESPACE)
    bed.next(HEARTBEAT, lambda beat: beat.state != "IDLE")
    sent.until(lambda: sent.lines, "it shows progress")
    return sent


def test_hold_finds_the_stack_in_its_namespace(bed, command):
    for state, arguments in (
        ("on", ["--namespace", NAMESPACE]),
        ("off", ["--ros-args", "-r", "__ns:=/robot1"]),
    ):
        told = command("hold", state, "--timeout", str(PATIENCE), *arguments)
        assert told.ends() == 0, told.text
        bed.next(HEARTBEAT, lambda beat, state=state: beat.held == (state == "on"))
        assert ("held: nothing moves" if state == "on" else "released: held by") in told.text


def test_hold_in_another_namespace_says_where_it_looked(command, domain):
    told = command("hold", "on", "--timeout", "0.5")
    assert told.ends() == 1
    assert "motion_gate did not answer" in told.text
    for advice in (
        "emergency stop",
        f"ROS_DOMAIN_ID={domain}",
        "namespace /",
        "FASTDDS_DEFAULT_PROFILES_FILE",
    ):
        assert advice in told.text


def test_an_interrupt_cancels_the_directive(bed, command):
    sent = under_way(bed, command)
    sent.interrupt()
    assert sent.ends() == EXIT_CANCELLED, sent.text
    bed.next(HEARTBEAT, lambda beat: beat.state == "IDLE")


def test_a_goal_selector_that_dies_is_noticed_even_if_it_comes_back(bed, command, processes, starter):
    sent = under_way(bed, command)
    processes.kill("goal_selector")
    starter.start_one("goal_selector")
    assert sent.ends() == EXIT_GONE, sent.text
    assert "The goal selector is gone" in sent.text
    assert "came back held" in sent.text and "hold off" in sent.text
    assert "Traceback" not in sent.text
    stands = lambda: [one.who for one in holds.standing] if (holds := bed.last(HOLDS)) else []  # noqa: E731
    bed.until(lambda: "goal_selector" in stands(), "the hold after a crash")
    released = command("hold", "off", "--timeout", str(PATIENCE), "--namespace", NAMESPACE)
    assert released.ends() == 0, released.text
    bed.next(HEARTBEAT, lambda beat: not beat.held)
    processes.assert_alive(besides=("goal_selector",))
