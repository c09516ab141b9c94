"""Test of two stacks in one domain and namespace: the second is refused with advice, the first keeps running."""

from __future__ import annotations

import subprocess
import sys

import pytest
from waiting import PATIENCE, wait_for

from integration.surroundings import release_all
from lodestar_interfaces.msg import Holds
from lodestar_ros import qos
from lodestar_ros.twins import FOUND


@pytest.fixture(scope="module")
def first(bed, processes):
    processes.start("motion_gate")
    bed.until(lambda: bed.diagnosis("motion_gate"), "the first gate's diagnostics")
    return processes


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


def gate(*arguments):
    program = "from lodestar_ros.nodes.motion_gate_node import main; main()"
    return run(sys.executable, "-c", program, "--ros-args", *arguments)


def test_the_starter_refuses_a_second_stack(first, tmp_path):
    refused = run(sys.executable, "-m", "lodestar_bringup", "sim", "--log-folder", str(tmp_path / "log"))
    assert refused.returncode == 2
    assert "/motion_gate runs already" in refused.stderr and "ROS_DOMAIN_ID=" in refused.stderr
    assert not (tmp_path / "log").exists(), "nothing was started"
    first.assert_alive()


def test_a_second_gate_with_a_file_of_its_own_ends_itself_and_the_robot_is_held(
    bed, first, monkeypatch, tmp_path
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    bed.hear(Holds, "motion_gate/holds", qos.LATCHED)
    bed.until(lambda: bed.last("motion_gate/holds"), "the gate's word")
    refused = gate()
    assert refused.returncode == 2
    assert "/motion_gate runs already" in refused.stdout + refused.stderr
    assert "held by motion_gate since" in refused.stdout + refused.stderr, (
        "the second one passes nothing either"
    )
    first.assert_alive()
    bed.until(
        lambda: "another motion_gate was running" in bed.diagnosis("motion_gate").get("message", ""),
        "who holds",
    )
    bed.until(
        lambda: "named" not in bed.diagnosis("motion_gate")["blocked"], "the second one has left the graph"
    )
    wait_for(  # as long as the graph shows the second one, the first may hold again
        lambda: release_all(bed) or "no heartbeat" in bed.diagnosis("motion_gate")["message"],
        "that nothing holds it any more",
        every=1.0,
    )


def test_another_namespace_is_no_second_stack(first):
    looked = run(sys.executable, "-m", "lodestar_ros.twins", "/second/motion_gate")
    assert looked.returncode == 0, looked.stdout
    looked = run(sys.executable, "-m", "lodestar_ros.twins", "/motion_gate", "--seconds", "60")
    assert looked.returncode == FOUND, looked.stdout


def test_a_node_that_was_killed_is_no_twin_of_its_successor(bed, first):
    first.kill("motion_gate")
    first.starter.start_one("motion_gate")
    bed.forget("/diagnostics")
    bed.until(lambda: len(bed.heard["/diagnostics"]) >= 5, "five diagnostics of the successor")
    assert first.starter.pid("motion_gate") in first.starter.pids()
