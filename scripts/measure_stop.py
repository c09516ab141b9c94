"""Measure how long the simulated robot moves on after a stop, in the running stack: until its true velocity is zero.

`python scripts/measure_stop.py --stops 50`, and again with `--busy`, which runs one busy process per core beside it.
`--by hang` stops `motion_gate` with SIGSTOP instead of saying "stop".
"""

from __future__ import annotations

import argparse
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from nav_msgs.msg import Odometry
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor

from lodestar_bringup.domains import free_domain, session_environment
from lodestar_bringup.stack import StackOptions, stack
from lodestar_bringup.starter import Starter
from lodestar_interfaces.action import FollowDirective
from lodestar_ros import qos
from lodestar_ros.executors import init_ros

PATIENCE = 300.0  # s until the robot moves
MOVING = 0.3  # m/s or rad/s from which on it counts as moving
SEARCH = "find the unicorn"  # nothing is one, so that the robot goes on


class Person:
    """A client of `follow_directive` that sees the robot's true velocity."""

    def __init__(self, domain: int) -> None:
        context = rclpy.Context()
        init_ros(context=context, domain_id=domain)
        self._node = rclpy.create_node("measure_stop", context=context)
        self._client = ActionClient(self._node, FollowDirective, "follow_directive")
        self._speed = 0.0
        self._node.create_subscription(Odometry, "sim/ground_truth", self._on_truth, qos.EVENT)
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self._node)

    def _on_truth(self, message: Odometry) -> None:
        twist = message.twist.twist
        self._speed = max(math.hypot(twist.linear.x, twist.linear.y), abs(twist.angular.z))

    def say(self, text: str) -> Any:
        return self._client.send_goal_async(FollowDirective.Goal(text=text))

    def until(self, condition: Callable[[], bool], patience: float = PATIENCE) -> None:
        end = time.monotonic() + patience
        while not condition() and time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.005)

    def move(self, rng: random.Random) -> None:
        """Search until the robot moves, for a moment more. A search that has ended begins anew."""
        end = time.monotonic() + PATIENCE
        while self._speed < MOVING:
            if time.monotonic() > end:
                raise SystemExit("the robot does not move: look at the processes")
            self.say(SEARCH)
            self.until(lambda: self._speed >= MOVING, 15.0)
        moment = time.monotonic() + rng.uniform(0.0, 0.5)
        self.until(lambda: time.monotonic() > moment)

    def stop(self, act: Callable[[], object]) -> float:
        """Return the seconds from a stop to zero velocity."""
        begun = time.monotonic()
        act()
        self.until(lambda: self._speed == 0.0)
        return time.monotonic() - begun


def measure(stops: int, by: str) -> list[float]:
    """Return the seconds from each stop until the robot stands, of a stack of its own in the office."""
    rng, took = random.Random(1), []
    with (
        free_domain() as domain,
        session_environment(domain) as session,
        tempfile.TemporaryDirectory() as logs,
    ):
        specs = stack("sim", StackOptions(world="office"))
        os.environ.update(session)
        with Starter(specs, Path(logs)) as starter:
            person = Person(domain)
            hang = partial(starter.send, "motion_gate", signal.SIGSTOP)
            for _ in range(stops):
                person.move(rng)
                took.append(person.stop(hang if by == "hang" else partial(person.say, "stop")))
                starter.send("motion_gate", signal.SIGCONT)
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stops", type=int, default=50)
    parser.add_argument("--by", choices=("words", "hang"), default="words")
    parser.add_argument("--busy", action="store_true")
    given = parser.parse_args()
    spin = [sys.executable, "-c", "while True: pass"]
    load = [subprocess.Popen(spin) for _ in range(os.cpu_count() or 1)] if given.busy else []
    try:
        took = measure(given.stops, given.by)
    finally:
        for process in load:
            process.kill()
    median, most = np.percentile(took, (50, 99))
    minutes = os.getloadavg()[1]
    print(
        "| by | beside | stops | median, s | p99, s | largest, s | load of 5 minutes |\n|---|---|---|---|---|---|---|"
    )
    beside = "one busy process per core" if given.busy else "nothing"
    print(
        f"| {given.by} | {beside} | {len(took)} | {median:.2f} | {most:.2f} | {max(took):.2f} | {minutes:.1f} |"
    )


if __name__ == "__main__":
    main()
