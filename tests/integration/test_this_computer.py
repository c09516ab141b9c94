"""Test that running nodes, and the commands of a terminal, listen on the loopback alone."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from waiting import PATIENCE

from integration.bed import Bed
from lodestar_bringup.stack import stack
from lodestar_bringup.starter import Starter

pytestmark = pytest.mark.ros
MULTICAST = "239.255.0.1"  # of DDS discovery
TERMINAL = """
from lodestar_ros.terminal import terminal_node
with terminal_node("sockets", "", []):
    print("up", flush=True)
    input()
"""


def listening(pid: int) -> set[str]:
    """Return the addresses of a process's internet sockets, those of IPv6 too."""
    return {one.laddr.ip for one in psutil.Process(pid).net_connections(kind="inet") if one.laddr}


def joined(interface: str) -> int:
    """Return how many sockets of this computer listen to DDS discovery's multicast on an interface."""
    users, name = 0, ""
    for line in Path("/proc/net/igmp").read_text().splitlines()[1:]:
        words = line.split()
        if words[0].isdigit():
            name = words[1]
        elif name == interface and words[0] == socket.inet_aton(MULTICAST)[::-1].hex().upper():
            users += int(words[1])
    return users


def others() -> list[str]:
    names = (name for _, name in socket.if_nameindex() if name != "lo")
    return [name for name in names if Path(f"/sys/class/net/{name}/flags").exists()]


@pytest.mark.parametrize("scope", ["LOCALHOST", "SUBNET", "SYSTEM_DEFAULT"])
def test_nodes_listen_on_the_loopback_alone(
    scope: str, bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", scope)
    monkeypatch.delenv("FASTDDS_DEFAULT_PROFILES_FILE", raising=False)
    before = {name: joined(name) for name in others()}
    specs = [spec for spec in stack("sim") if spec.name in ("goal_selector", "motion_gate")]
    with Starter(specs, tmp_path) as starter:
        bed.until(lambda: {"goal_selector", "motion_gate"} <= set(bed.node.get_node_names()), "the nodes")
        pids = starter.pids()
        assert len(pids) == 2
        for pid in pids:
            addresses = listening(pid)
            assert addresses and addresses <= {"127.0.0.1", MULTICAST}, addresses
        assert {name: joined(name) for name in others()} == before


@pytest.mark.parametrize("scope", ["LOCALHOST", "SUBNET"])
def test_a_command_in_a_terminal_listens_on_the_loopback_alone(scope: str) -> None:
    shipped = str(Path(__file__).resolve().parents[2] / "config" / "fastdds.xml")
    given = {"ROS_AUTOMATIC_DISCOVERY_RANGE": scope, "FASTDDS_DEFAULT_PROFILES_FILE": shipped}
    with subprocess.Popen(
        [sys.executable, "-c", TERMINAL],
        env={**os.environ, **given},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as command:
        try:
            assert command.stdout.readline() == "up\n"
            addresses = listening(command.pid)
            assert addresses and addresses <= {"127.0.0.1", MULTICAST}, addresses
        finally:
            with contextlib.suppress(BrokenPipeError):
                command.stdin.write("\n")
                command.stdin.flush()
            command.wait(PATIENCE)
