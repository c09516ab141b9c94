"""Tests of `python -m lodestar_bringup`, with small programs in place of nodes."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from toy_nodes import QUICK
from waiting import PATIENCE, wait_for

from lodestar_bringup import __main__ as command
from lodestar_bringup.places import StackError
from lodestar_bringup.process_spec import ProcessSpec
from lodestar_bringup.stack import StackOptions, stack
from lodestar_bringup.starter import Starter
from lodestar_bringup.supervision import RestartLimits, Supervision

pytestmark = pytest.mark.timed

UP = "print('up', flush=True)\nimport time\nwhile True: time.sleep(0.1)"


@pytest.fixture
def nodes(prefix: Path) -> Path:
    """Return the lib folder of an AMENT prefix in which all nodes of the simulator's stack are waiting programs."""
    for spec in stack("sim"):
        folder = prefix / "lib" / spec.package
        folder.mkdir(exist_ok=True)
        (folder / spec.executable).write_text(f"#!{sys.executable} -S\n{UP}\n")
        (folder / spec.executable).chmod(0o755)
    return prefix / "lib"


@pytest.fixture
def running(nodes: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Yield the starter process with its stack running."""
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
        process.terminate()  # the starter ends its nodes, also after a failed test
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def until(condition: Callable[[], bool]) -> None:
    wait_for(condition, lambda: f"what {condition} asks for")


def node_of(starter: subprocess.Popen[str], name: str) -> psutil.Process | None:
    for child in psutil.Process(starter.pid).children():
        if child.status() != psutil.STATUS_ZOMBIE and f"__node:={name}" in child.cmdline():
            return child
    return None


def kill(starter: subprocess.Popen[str], name: str) -> list[psutil.Process]:
    """Kill one node by SIGKILL; return all nodes that were running."""
    until(lambda: node_of(starter, name) is not None)
    children = psutil.Process(starter.pid).children()
    node = node_of(starter, name)
    assert node is not None
    node.kill()
    return children


def gone(children: list[psutil.Process]) -> bool:
    return not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)


def test_a_dead_node_is_started_again_and_the_others_run_on(running, tmp_path: Path) -> None:
    until(lambda: "up" in (tmp_path / "log" / "mapping.log").read_text())
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


def test_what_is_not_needed_never_ends_a_stack_that_has_begun() -> None:
    limits = RestartLimits(deaths=3, window=60.0)
    rule = Supervision([ProcessSpec("p", "page", "page", needed=False)], limits)
    assert "cannot run with its configuration" in rule.end_reason(
        "page", 2, 0.0
    )  # fails at start, before the robot moves
    assert [rule.end_reason("page", code, float(at)) for at, code in enumerate((-9, 2, -9, 1, -9, -11))] == [
        ""
    ] * 6
    assert rule.delay("page") > limits.delay, "what keeps dying is given time"
    assert rule.end_reason("page", -9, 500.0) == "" and rule.delay("page") == limits.delay
    assert {spec.name for spec in stack("sim", StackOptions(console=True)) if not spec.needed} == {"console"}


def test_a_node_that_dies_while_others_are_started_is_started_again_meanwhile(
    prefix: Path, tmp_path: Path
) -> None:
    specs = [ProcessSpec("fake", "steady", name) for name in ("page", "second", "third")]
    starter = Starter(specs, tmp_path / "log", stop_times=QUICK)
    watch = command._Watch(starter, Supervision(specs, RestartLimits(delay=0.0)), threading.Event())
    seen: list[int] = []

    def between() -> None:
        if not seen:
            starter.send("page", signal.SIGKILL)
            starter.process("page").wait(PATIENCE)
            seen.append(starter.pid("page"))
        watch.look()
        seen.append(starter.pid("page"))

    try:
        starter.start(between)
        assert len(seen) == 4 and seen[0] != seen[1] == seen[3]
        assert seen[3] in starter.pids()
    finally:
        starter.stop()


def test_a_stack_that_is_to_end_while_it_starts_leaves_nothing(prefix: Path, tmp_path: Path) -> None:
    specs = [ProcessSpec("fake", "steady", name) for name in ("page", "second")]
    starter, asked = Starter(specs, tmp_path / "log", stop_times=QUICK), threading.Event()
    asked.set()
    with pytest.raises(command._Ended) as ended:
        starter.start(command._Watch(starter, Supervision(specs), asked).look)
    assert ended.value.status == 0 and starter.pids() == []


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
