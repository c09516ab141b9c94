"""Two stacks in one domain and namespace: the second is refused with advice, the first goes on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from lodestar_ros.twins import FOUND


@pytest.fixture(scope="module")
def first(bed, processes):
    processes.start("motion_gate")
    bed.until(lambda: bed.diagnosis("motion_gate"), "the first gate's diagnostics")
    return processes


def run(domain, *command, timeout=60):
    environment = {**os.environ, "ROS_DOMAIN_ID": str(domain)}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )


def gate(domain, *arguments):
    program = "from lodestar_ros.nodes.motion_gate_node import main; main()"
    return run(domain, sys.executable, "-c", program, "--ros-args", *arguments)


def test_the_starter_refuses_a_second_stack(first, domain, tmp_path):
    refused = run(
        domain, sys.executable, "-m", "lodestar_bringup", "sim", "--log-folder", str(tmp_path / "log")
    )
    assert refused.returncode == 2
    assert "/motion_gate runs already" in refused.stderr and "ROS_DOMAIN_ID=" in refused.stderr
    assert not (tmp_path / "log").exists(), "nothing was started"
    first.assert_alive()


def test_a_second_node_of_the_same_name_ends_itself(first, domain):
    refused = gate(domain)
    assert refused.returncode == 2
    assert "/motion_gate runs already" in refused.stdout + refused.stderr
    first.assert_alive()


def test_another_namespace_is_no_second_stack(first, domain):
    looked = run(domain, sys.executable, "-m", "lodestar_ros.twins", "/second/motion_gate")
    assert looked.returncode == 0, looked.stdout
    assert run(domain, sys.executable, "-m", "lodestar_ros.twins", "/motion_gate").returncode == FOUND


def test_a_node_that_was_killed_is_no_twin_of_its_successor(bed, first):
    first.kill("motion_gate")
    first.starter.start_one("motion_gate")
    bed.forget("/diagnostics")
    bed.until(lambda: len(bed.heard["/diagnostics"]) >= 5, "five diagnostics of the successor")
    assert first.starter.pid("motion_gate") in first.starter.pids()
