"""The commands for a terminal, as processes, against a stack in a namespace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from integration.bed import PATIENCE
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.send_directive import EXIT_CANCELLED, EXIT_GONE

NAMESPACE = "robot1"
HEARTBEAT = f"/{NAMESPACE}/goal_selector/heartbeat"


class Command:
    """A command that runs; what it writes is kept line by line."""

    def __init__(self, bed, domain: int, module: str, *arguments: str) -> None:
        self._bed = bed
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", f"lodestar_ros.{module}", *arguments],
            env={**os.environ, "ROS_DOMAIN_ID": str(domain)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.append(line)
            self._bed.poke()

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def ends(self) -> int:
        """Its exit status."""
        status = self.process.wait(PATIENCE)
        self._reader.join(5.0)
        return status


@pytest.fixture(scope="module")
def starter(bed, processes):
    bed.hear(msg.Heartbeat, HEARTBEAT, qos.COMMAND)
    patient = {"loop.no_map_timeout": 120.0}  # there is no map here: a directive waits for it
    started = processes.start(
        "goal_selector", "motion_gate", namespace=NAMESPACE, parameters={"goal_selector": patient}
    )
    bed.next(HEARTBEAT)
    return started


@pytest.fixture
def command(bed, domain, starter) -> Iterator:
    running: list[Command] = []

    def start(module: str, *arguments: str) -> Command:
        running.append(Command(bed, domain, module, *arguments))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            os.killpg(one.process.pid, signal.SIGKILL)
            one.process.wait()


def under_way(bed, command) -> Command:
    """A directive that the goal selector has begun."""
    sent = command("send_directive", "find the red chair", "--namespace", NAMESPACE)
    bed.next(HEARTBEAT, lambda beat: beat.state != "IDLE")
    bed.until(lambda: sent.lines, "it shows progress")
    return sent


def test_hold_finds_the_stack_in_its_namespace(bed, command):
    for state, arguments in (("on", ["--namespace", NAMESPACE]), ("off", ["--ros-args", "-r", "__ns:=/robot1"])):
        told = command("hold", state, *arguments)
        assert told.ends() == 0, told.text
        bed.next(HEARTBEAT, lambda beat, state=state: beat.held == (state == "on"))
        assert told.text.count(f"hold {state}") == 2


def test_hold_in_another_namespace_says_where_it_looked(command, domain):
    told = command("hold", "on", "--timeout", "0.5")
    assert told.ends() == 1
    assert told.text.count("NO ANSWER") == 2
    for advice in ("emergency stop", f"ROS_DOMAIN_ID={domain}", "namespace /", "DISCOVERY_RANGE"):
        assert advice in told.text


def test_an_interrupt_cancels_the_directive(bed, command):
    sent = under_way(bed, command)
    sent.process.send_signal(signal.SIGINT)
    assert sent.ends() == EXIT_CANCELLED, sent.text
    bed.next(HEARTBEAT, lambda beat: beat.state == "IDLE")


def test_a_goal_selector_that_dies_is_noticed_even_if_it_comes_back(bed, command, processes, starter):
    sent = under_way(bed, command)
    processes.kill("goal_selector")
    starter.start_one("goal_selector")
    assert sent.ends() == EXIT_GONE, sent.text
    assert "The goal selector is gone" in sent.text
    assert "Traceback" not in sent.text
    processes.assert_alive(besides=("goal_selector",))
