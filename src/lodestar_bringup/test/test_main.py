"""`python -m lodestar_bringup` itself, with small programs in the nodes' places."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from lodestar_bringup import __main__ as command
from lodestar_bringup.places import StackError
from lodestar_bringup.process_spec import ProcessSpec
from lodestar_bringup.stack import StackOptions, stack
from lodestar_bringup.supervision import RestartLimits, Supervision

pytestmark = pytest.mark.timed

UP = "print('up', flush=True)\nimport time\nwhile True: time.sleep(0.1)"
PATIENCE = 40.0  # s


@pytest.fixture
def nodes(prefix: Path) -> Path:
    """An AMENT prefix whose every node of the simulator's stack is a program that only waits."""
    for spec in stack("sim"):
        folder = prefix / "lib" / spec.package
        folder.mkdir(exist_ok=True)
        (folder / spec.executable).write_text(f"#!{sys.executable} -S\n{UP}\n")
        (folder / spec.executable).chmod(0o755)
    return prefix / "lib"


@pytest.fixture
def running(nodes: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The starter with its stack up."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "lodestar_bringup", "sim", "--log-folder", str(tmp_path / "log")],
        stdout=subprocess.PIPE,
        stderr=(tmp_path / "errors").open("w"),
        text=True,
    )
    assert process.stdout is not None
    try:
        assert "15 processes are running" in process.stdout.readline()
        yield process
    finally:
        process.terminate()  # it ends its nodes, also where a test has failed
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def node_of(starter: subprocess.Popen[str], name: str) -> psutil.Process | None:
    for child in psutil.Process(starter.pid).children():
        if child.status() != psutil.STATUS_ZOMBIE and f"__node:={name}" in child.cmdline():
            return child
    return None


def kill(starter: subprocess.Popen[str], name: str) -> list[psutil.Process]:
    """Kill -9 one node; every node that ran."""
    until(lambda: node_of(starter, name) is not None)
    children = psutil.Process(starter.pid).children()
    node = node_of(starter, name)
    assert node is not None
    node.kill()
    return children


def gone(children: list[psutil.Process]) -> bool:
    return not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)


def test_a_dead_node_is_started_again_and_the_others_run_on(running, tmp_path: Path) -> None:
    children = kill(running, "mapping")
    until(lambda: "mapping restarted" in (tmp_path / "errors").read_text())
    until(lambda: (tmp_path / "log" / "mapping.log").read_text().count("up") == 2)
    assert "mapping killed by SIGKILL" in (tmp_path / "errors").read_text()
    assert sum(child.is_running() for child in children) >= len(children) - 1
    running.send_signal(signal.SIGINT)
    assert running.wait(PATIENCE) == 0
    until(lambda: gone(children))


def test_the_death_of_what_holds_a_stop_ends_the_stack(running, tmp_path: Path) -> None:
    children = kill(running, "motion_gate")
    assert running.wait(PATIENCE) == 1
    assert "motion_gate is never restarted automatically" in (tmp_path / "errors").read_text()
    assert gone(children)


def test_a_node_that_cannot_run_as_configured_ends_the_stack(nodes: Path, tmp_path: Path, capfd) -> None:
    (nodes / "lodestar_ros" / "perception").write_text(
        f"#!{sys.executable} -S\nprint('no weights')\nraise SystemExit(2)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "lodestar_bringup", "sim", "--log-folder", str(tmp_path / "log")],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "no weights" in done.stderr
    assert "perception cannot run with its configuration" in done.stderr


def test_a_node_that_keeps_dying_ends_the_stack() -> None:
    rule = Supervision([ProcessSpec("p", "a", "a")], RestartLimits(deaths=3, window=60.0))
    assert [rule.end_reason("a", -9, at) for at in (0.0, 50.0, 100.0)] == ["", "", ""]
    assert "died 3 times" in rule.end_reason("a", -9, 105.0)


@pytest.mark.parametrize(
    ("arguments", "missing", "instead"),
    [
        (["go2"], "slam and nav2", "ros2 launch lodestar_bringup go2.launch.py."),
        (["go2", "--external", "slam"], "needs nav2", "--external nav2"),
        (["isaac", "--slam", "none"], "needs nav2", "isaac.launch.py"),
        (["sim", "--slam", "slam_toolbox"], "needs slam,", "slam:=slam_toolbox navigator:=sim"),
        (["sim", "--navigator", "nav2"], "needs nav2,", "slam:=none navigator:=nav2"),
    ],
)
def test_slam_and_nav2_are_never_left_out_in_silence(arguments, missing, instead, tmp_path, capsys) -> None:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        assert command.main([*arguments, "--log-folder", str(tmp_path / "log")]) == 2
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    error = capsys.readouterr().err
    assert missing in error
    assert instead in error
    assert not (tmp_path / "log").exists()


def test_slam_and_nav2_that_run_elsewhere_are_believed(nodes: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [
            *(sys.executable, "-u", "-m", "lodestar_bringup", "sim", "--slam", "slam_toolbox"),
            *("--navigator", "nav2", "--external", "slam,nav2", "--log-folder", str(tmp_path / "log")),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    assert process.stdout is not None
    assert "14 processes are running" in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0


def test_an_unknown_external_is_refused(capsys) -> None:
    with pytest.raises(SystemExit):
        command.main(["go2", "--external", "slam,nav3"])
    assert "'nav3'" in capsys.readouterr().err


def test_what_it_lists_is_what_a_shell_would_start(nodes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["sim", "--world", "my world.json", "--list"]) == 0
    listed = [shlex.split(line) for line in capsys.readouterr().out.splitlines()]
    sim = next(words for words in listed if "__node:=sim" in words)
    assert len(listed) == 15 and 'world:="my world.json"' in sim


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "/**:\n  ros__parameters:\n    shared.query.accept: 0.7\n"
            "/**/goal_selector:\n  ros__parameters:\n    shared.query.accept: 0.5\n",
            r"own\.yaml:6 .*goal_selector alone, to 0\.5, and own\.yaml:3 .*0\.7 for all",
        ),
        (
            "/**/keyframes:\n  ros__parameters:\n    map_id: 2\n",
            r"own\.yaml:3 .*map_id is now shared\.map_id",
        ),
    ],
)
def test_a_profile_with_two_homes_for_one_parameter_starts_nothing(tmp_path, text, reason):
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(StackError, match=reason):
        stack("sim", StackOptions(profiles=(path,)))
