"""Tests of the shipped middleware profiles: whole images pass between processes, and discovery bursts fit buffers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE

from lodestar_bringup.stack import stack

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("rclpy", reason="rclpy is not installed")
pytestmark = pytest.mark.ros

IMAGES = 20

# The reader acknowledges each complete image; then the writer sends the next one. No image is repeated.
READER = """
import numpy as np, rclpy
from lodestar_ros import qos
from sensor_msgs.msg import Image
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("reader")
seen = node.create_publisher(String, "seen", qos.EVENT)
def on_image(message):
    data = np.frombuffer(message.data, np.uint8)
    whole = data.size == 480 * 640 * 3 and (data == int(message.header.frame_id)).all()
    seen.publish(String(data=message.header.frame_id if whole else "broken"))
node.create_subscription(Image, "image", on_image, qos.SENSOR)
rclpy.spin(node)
"""

WRITER = f"""
import sys, time
import numpy as np, rclpy
from lodestar_ros import qos
from sensor_msgs.msg import Image
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("writer")
image = node.create_publisher(Image, "image", qos.SENSOR)
answers, greetings = [], []
def on_seen(message):
    (greetings if message.data == "255" else answers).append(message.data)  # a greeting may be answered late
node.create_subscription(String, "seen", on_seen, qos.EVENT)
def wait(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.1)
    return condition()
def send(number):
    message = Image(height=480, width=640, encoding="rgb8", step=1920)
    message.header.frame_id = str(number)
    message.data = np.full(480 * 640 * 3, number, np.uint8).tobytes()
    image.publish(message)
def greeted():
    send(255)  # until both sides know each other
    return wait(lambda: greetings, 0.3)
assert wait(greeted, 200), "no image arrives at all"
wait(lambda: False, 1.0)
answers.clear()
for number in range({IMAGES}):
    send(number)
    if not wait(lambda: len(answers) > number, 200):
        break
print(",".join(answers))
"""

SOCKETS = """
import os, socket, rclpy
rclpy.init()
node = rclpy.create_node("sockets")
for number in os.listdir("/proc/self/fd"):
    try:
        with socket.socket(fileno=os.dup(int(number))) as one:
            if one.family == socket.AF_INET and one.type == socket.SOCK_DGRAM and one.getsockname()[1] >= 7400:
                print(one.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF))
    except OSError:
        continue
"""


THREADS = """
import pathlib, rclpy
rclpy.init()
node = rclpy.create_node("threads")
print(*(path.read_text().strip() for path in pathlib.Path("/proc/self/task").glob("*/comm")))
"""


@pytest.mark.parametrize("scope", ["LOCALHOST", "SUBNET"])
def test_a_process_that_stops_the_robot_opens_no_shared_memory(
    scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", scope)
    monkeypatch.delenv("FASTDDS_DEFAULT_PROFILES_FILE", raising=False)
    gate = next(spec for spec in stack("go2") if spec.name == "motion_gate")
    done = subprocess.run(
        [sys.executable, "-c", THREADS],
        env={**os.environ, **gate.process_environment()},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert "dds.udp" in done.stdout and "dds.shm" not in done.stdout


@pytest.mark.parametrize(
    "profile", ["fastdds.xml", "fastdds_small.xml", "fastdds_udp.xml", "fastdds_udp_cable.xml"]
)
def test_sockets_of_discovery_have_room_for_a_burst(profile: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SOCKETS],
        env={**os.environ, "FASTDDS_DEFAULT_PROFILES_FILE": str(ROOT / "config" / profile)},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    allowed = int(Path("/proc/sys/net/core/rmem_max").read_text())
    room = [int(size) for size in done.stdout.split()]
    listening = [size for size in room if size >= min(4 << 20, allowed)]
    assert len(listening) >= 2, f"of {room} bytes, with {allowed} allowed"  # multicast, unicast


@pytest.mark.parametrize("readers_profile", ["fastdds.xml", "fastdds_small.xml", "fastdds_cable.xml"])
def test_no_best_effort_image_is_lost_or_broken_between_two_processes(readers_profile: str) -> None:
    variable = "FASTDDS_DEFAULT_PROFILES_FILE"
    environment = {**os.environ, variable: str(ROOT / "config" / "fastdds.xml")}
    with subprocess.Popen(
        [sys.executable, "-c", READER],
        env={**environment, variable: str(ROOT / "config" / readers_profile)},
        start_new_session=True,
    ) as reader:
        try:
            done = subprocess.run(
                [sys.executable, "-c", WRITER],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=PATIENCE,
            )
        finally:
            os.killpg(reader.pid, signal.SIGKILL)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ",".join(map(str, range(IMAGES)))
