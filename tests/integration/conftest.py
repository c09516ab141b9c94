"""Real processes over real DDS; everything ends with the module."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from integration.bed import Bed, Processes
from integration.commands import Command

LEASE = 8  # s after which DDS drops a killed client; 20 by default
SHORT_LEASE = f"""<?xml version="1.0" encoding="UTF-8"?>
<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <participant profile_name="short_lease" is_default_profile="true"><rtps><builtin><discovery_config>
    <leaseDuration><sec>{LEASE}</sec></leaseDuration>
    <leaseAnnouncement><sec>1</sec></leaseAnnouncement>
  </discovery_config></builtin></rtps></participant>
</profiles>
"""
UNOWNED = """
import rclpy
from rclpy.action import ActionClient
from lodestar_interfaces.action import FollowDirective
rclpy.init()
node = rclpy.create_node("foreign")
client = ActionClient(node, FollowDirective, "follow_directive")
assert client.wait_for_server(60.0)
client.send_goal_async(FollowDirective.Goal(text="find the red chair"))
rclpy.spin(node)
"""


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(item.fspath).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.ros)


@pytest.fixture(scope="module")
def bed(domain: int) -> Iterator[Bed]:
    """Yield the test's node, whose callbacks run on a thread."""
    gc.collect()  # the bed of the file before is in cycles, and holds a participant until then
    bed = Bed()
    yield bed
    bed.close()


@pytest.fixture(scope="module")
def processes(domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """Yield a starter of the stack's nodes in this module's domain."""
    running = Processes(tmp_path_factory.mktemp("logs"))
    yield running
    running.stop()


@pytest.fixture
def unowned(tmp_path, monkeypatch):
    """Return a function that starts a client whose goal has no owner, and that DDS drops soon when it is killed."""
    profile = tmp_path / "short_lease.xml"
    profile.write_text(SHORT_LEASE)
    running: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        with monkeypatch.context() as patch:
            patch.setenv("FASTDDS_DEFAULT_PROFILES_FILE", str(profile))
            running.append(subprocess.Popen([sys.executable, "-c", UNOWNED]))
        return running[-1]

    yield start
    for one in running:
        one.kill()
        one.wait()


@pytest.fixture
def ask():
    """Return a function that runs `python -m lodestar_ros.ask` and returns exit status and output."""
    running: list[Command] = []

    def run(*arguments: str) -> tuple[int, str]:
        running.append(Command("lodestar_ros.ask", *arguments))
        return running[-1].ends(), running[-1].text

    yield run
    for one in running:
        one.kill()
