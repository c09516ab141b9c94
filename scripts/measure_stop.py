"""Measure how long the simulated robot drives on after SIGSTOP of `motion_gate`, in real and in simulated time.

`python scripts/measure_stop.py --factors 1.0,0.5,0.2 --runs 5`; `--without` leaves out the limits in real time.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import time

import rclpy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor

from lodestar_bringup.domains import free_domain
from lodestar_interfaces.msg import Heartbeat
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg

_NEVER = 1e9  # s


class Bed:
    """Heartbeats and commands as a goal selector and a navigator send them, and the true speed of the robot."""

    def __init__(self, domain: int) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        node = rclpy.create_node("measure_stop", context=self.context)
        self.speed, self.stamp, self.driving = 0.0, 0.0, True
        self._beat = node.create_publisher(Heartbeat, "goal_selector/heartbeat", qos.COMMAND)
        self._command = node.create_publisher(Twist, "cmd_vel", qos.COMMAND)
        node.create_subscription(Odometry, "sim/ground_truth", self._on_truth, qos.EVENT)
        node.create_timer(0.05, self._send)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(node)

    def _on_truth(self, message: Odometry) -> None:
        twist = message.twist.twist
        self.speed, self.stamp = abs(twist.linear.x), stamp_from_msg(message.header.stamp)

    def _send(self) -> None:
        self._beat.publish(Heartbeat(motion_allowed=True))
        twist = Twist()
        twist.linear.x = 0.5
        self._command.publish(twist)

    def until(self, condition, patience: float = 60.0) -> None:
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                raise SystemExit("the robot neither drives nor stands: look at the processes")
            self._executor.spin_once(timeout_sec=0.005)


def measure(factor: float, without: bool) -> tuple[float, float, float]:
    """Seconds of real time until the robot brakes and until it stands, and simulated seconds until it stands."""
    limits = (
        {"sim": f"silence_timeout:={_NEVER}", "motion_gate": f"repeat_period:={_NEVER}"} if without else {}
    )
    parameters = {
        "sim": [f"real_time_factor:={factor}", "world:=office"],
        "motion_gate": ["use_sim_time:=true"],
    }
    with free_domain() as domain:
        running = {}
        try:
            for name, package in (("sim", "lodestar_sim"), ("motion_gate", "lodestar_ros")):
                command = [
                    sys.executable,
                    "-c",
                    f"from {package}.nodes.{name}_node import main; main()",
                    "--ros-args",
                ]
                command += ["-r", "heartbeat:=goal_selector/heartbeat"]
                for given in (*parameters[name], *([limits[name]] if name in limits else [])):
                    command += ["-p", given]
                environment = {**os.environ, "ROS_DOMAIN_ID": str(domain)}
                running[name] = subprocess.Popen(command, env=environment)
            bed = Bed(domain)
            bed.until(lambda: bed.speed > 0.45, 120.0)
            running["motion_gate"].send_signal(signal.SIGSTOP)
            begun, stamp = time.monotonic(), bed.stamp
            bed.until(lambda: bed.speed < 0.44)
            braked = time.monotonic() - begun
            bed.until(lambda: bed.speed == 0.0)
            return braked, time.monotonic() - begun, bed.stamp - stamp
        finally:
            for process in running.values():
                process.kill()
            for process in running.values():
                process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--factors", default="1.0,0.5,0.2")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--without", action="store_true")
    given = parser.parse_args()
    print("| real-time factor | brakes after, s | stands after, s | simulated, s |\n|---|---|---|---|")
    for factor in (float(part) for part in given.factors.split(",")):
        rows = [measure(factor, given.without) for _ in range(given.runs)]
        cells = [f"{statistics.median(values):.2f} (at most {max(values):.2f})" for values in zip(*rows)]
        print(f"| {factor:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
