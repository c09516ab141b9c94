"""Tests of the shutdown of a node's process."""

import os
import subprocess
import sys

import pytest
from waiting import PATIENCE

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from lodestar_ros.executors import PROFILE_NAME, keep_to_profile

SECOND_CTRL_C = """
import os, signal
from lodestar_ros.executors import run
from lodestar_ros.parameters import ParameterError

def refuse():
    raise ParameterError("no such parameter")

status = run(refuse)
os.kill(os.getpid(), signal.SIGINT)
assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # it stays while the interpreter ends
raise SystemExit(status)
"""


def test_a_second_ctrl_c_does_not_kill_a_node_that_has_closed():
    ended = subprocess.run([sys.executable, "-c", SECOND_CTRL_C], capture_output=True, text=True, check=False)
    assert ended.returncode == 2, ended.stderr


BAD_PRIORS = """
from lodestar_ros.executors import run
from lodestar.assembly.parts import category_priors
raise SystemExit(run(lambda: category_priors("{path}")))
"""


def test_a_bad_file_of_counts_ends_a_node_with_a_sentence(tmp_path):
    path = tmp_path / "moves.json"
    path.write_text("{}")
    ended = subprocess.run(
        [sys.executable, "-c", BAD_PRIORS.format(path=path)], capture_output=True, text=True, check=False
    )
    said = ended.stdout + ended.stderr
    assert ended.returncode == 2 and "not a file of counts" in said and "Traceback" not in said, said


@pytest.mark.parametrize("profile", ["shipped", "own"])
@pytest.mark.parametrize("given", [{"ROS_LOCALHOST_ONLY": "1"}, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"}])
def test_a_shipped_profile_alone_names_the_interfaces(monkeypatch, tmp_path, profile, given):
    file = tmp_path / "profile.xml"
    file.write_text(f'<participant profile_name="{PROFILE_NAME if profile == "shipped" else "mine"}"/>')
    names = ("ROS_LOCALHOST_ONLY", "ROS_AUTOMATIC_DISCOVERY_RANGE")
    for name in (*names, "RMW_IMPLEMENTATION"):
        monkeypatch.setenv(name, "")  # to be restored
        monkeypatch.delenv(name)
    for name, value in {**given, "FASTDDS_DEFAULT_PROFILES_FILE": str(file)}.items():
        monkeypatch.setenv(name, value)
    keep_to_profile()
    expected = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT"} if profile == "shipped" else given
    assert {name: os.environ[name] for name in names if name in os.environ} == expected


FAULT = """
from types import SimpleNamespace
from lodestar_ros import executors

node = SimpleNamespace(failed=False, destroy_node=lambda: None)
node.get_logger = lambda: SimpleNamespace(info=print)
node.close = lambda: print("failed:", node.failed)

def spin(*_):
    {end}

executors.reject_unknown, executors.spin = print, spin
executors.run(lambda: node)
"""


@pytest.mark.parametrize(
    ("end", "failed"), [("raise RuntimeError", True), ("raise KeyboardInterrupt", False)]
)
def test_a_node_that_ends_by_a_fault_is_told_so_before_it_closes(end, failed):
    code = FAULT.format(end=end)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"failed: {failed}" in ended.stdout, ended.stderr


END = """
import atexit, threading, time
from types import SimpleNamespace
from lodestar_ros import executors

node = SimpleNamespace(destroy_node=lambda: None)
node.get_logger = lambda: SimpleNamespace(info=print)
atexit.register(print, "folders are removed")
threading.Thread(target=time.sleep, args=(1e6,)).start()
executors.reject_unknown, executors.spin = print, print
executors.main_of(lambda: node)()
"""


def test_a_node_that_has_closed_waits_for_no_thread():
    ended = subprocess.run(
        [sys.executable, "-c", END], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert ended.returncode == 0 and "folders are removed" in ended.stdout, ended.stderr
