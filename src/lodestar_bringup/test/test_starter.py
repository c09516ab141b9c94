"""Tests of the starter: processes get their arguments, are watched and measured, and are never left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from toy_nodes import QUICK, runs, wait_until
from waiting import PATIENCE, Moment

from lodestar_bringup.memory import pss_mib
from lodestar_bringup.places import StackError
from lodestar_bringup.process_spec import ProcessSpec
from lodestar_bringup.starter import Starter

pytestmark = pytest.mark.timed


def fake(name: str, **more: object) -> ProcessSpec:
    return ProcessSpec("fake", name, name, **more)  # type: ignore[arg-type]


def test_a_spec_becomes_a_ros_command_line(prefix: Path) -> None:
    spec = fake(
        "steady",
        namespace="robot1",
        parameter_files=(Path("/profiles/sim.yaml"),),
        parameters={"seed": 3, "world": "3", "use_sim_time": True},
        remappings=(("grid", "map"),),
    )
    line = spec.command()
    assert line[0] == str(prefix / "lib" / "fake" / "steady")
    assert line[1:] == [
        *("--ros-args", "-r", "__node:=steady", "-r", "__ns:=/robot1"),
        *("--params-file", "/profiles/sim.yaml"),
        *("-p", "seed:=3", "-p", 'world:="3"', "-p", "use_sim_time:=true", "-r", "grid:=map"),
    ]


def test_an_executable_that_is_not_installed_says_what_to_do(prefix: Path) -> None:
    with pytest.raises(StackError, match="make setup"):
        fake("missing").command()


def test_nothing_is_left_where_one_cannot_be_started(prefix: Path, tmp_path: Path) -> None:
    starter = Starter([fake("steady"), fake("missing")], tmp_path / "log", stop_times=QUICK)
    with pytest.raises(StackError):
        starter.start()
    assert starter.pids() == []
    assert not runs(starter.pid("steady"))


def test_output_goes_to_the_log_and_ros_logs_stay_beside_it(prefix: Path, tmp_path: Path) -> None:
    with Starter([fake("echo", parameters={"a": 1})], tmp_path / "log") as starter:
        wait_until(lambda: not starter.pids())
    text = (tmp_path / "log" / "echo.log").read_text()
    assert "a:=1" in text
    assert str(tmp_path / "log" / "ros") in text


def test_a_death_is_reported_once_with_its_last_words(prefix: Path, tmp_path: Path) -> None:
    with Starter([fake("steady"), fake("doomed")], tmp_path / "log", stop_times=QUICK) as starter:
        wait_until(lambda: not runs(starter.pid("doomed")))
        (death,) = starter.deaths()
        assert starter.deaths() == []
    assert (death.name, death.returncode) == ("doomed", 3)
    assert "cannot find the weights" in death.report()
    assert str(death.log) in death.report()


def test_a_killed_process_names_its_signal_and_can_be_started_again(prefix: Path, tmp_path: Path) -> None:
    with Starter([fake("steady")], tmp_path / "log", stop_times=QUICK) as starter:
        first = starter.pid("steady")
        with pytest.raises(ValueError, match="is already running"):
            starter.start_one("steady")
        starter.send("steady", signal.SIGKILL)
        wait_until(lambda: not starter.pids())
        assert "SIGKILL" in starter.deaths()[0].report()
        starter.start_one("steady")
        assert starter.pid("steady") != first
        assert starter.pids() == [starter.pid("steady")]


def test_what_keeps_a_part_of_the_map_has_one_private_folder_for_the_run(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    runs, log = tmp_path / "state" / "lodestar" / "runs", tmp_path / "log" / "echo.log"
    names = []
    for _ in range(2):
        with Starter(
            [fake("echo", keeps=True), fake("steady")], tmp_path / "log", stop_times=QUICK
        ) as starter:
            wait_until(lambda: len(starter.pids()) == 1)
            (folder,) = runs.glob("run-*")
            assert folder.stat().st_mode & 0o077 == 0
            starter.start_one("echo")
            wait_until(lambda: len(starter.pids()) == 1)
            assert log.read_text().count(f'checkpoint.folder:="{folder}"') == 2, "the successor goes on there"
            assert log.read_text().count(f'checkpoint.run:="{folder.name}"') == 2
            names.append(folder.name)
        assert not list(runs.glob("run-*"))
    assert names[0] != names[1], "a new run never sees an old one's map"


def test_stop_ends_the_stubborn_too_within_its_bound(prefix: Path, tmp_path: Path) -> None:
    starter = Starter([fake("steady"), fake("stubborn")], tmp_path / "log", stop_times=QUICK)
    starter.start()
    wait_until(lambda: "up" in (tmp_path / "log" / "stubborn.log").read_text())
    pids = starter.pids()
    began = Moment.now()
    starter.stop()
    assert began.passed() < QUICK.interrupt + QUICK.terminate + QUICK.kill
    assert len(pids) == 2
    assert not any(runs(pid) for pid in pids)
    assert starter.deaths() == []
    starter.stop()


def test_stop_ends_what_a_process_has_started(prefix: Path, tmp_path: Path) -> None:
    log = tmp_path / "log" / "parent.log"
    with Starter([fake("parent")], tmp_path / "log", stop_times=QUICK):
        wait_until(lambda: "child" in log.read_text())
        child = int(log.read_text().split()[1])
        assert runs(child)
    wait_until(lambda: not runs(child))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_processes_end_with_the_one_that_started_them(
    prefix: Path, tmp_path: Path, number: signal.Signals
) -> None:
    code = (
        "import sys, time; from pathlib import Path;"
        "from lodestar_bringup.process_spec import ProcessSpec; from lodestar_bringup.starter import Starter\n"
        "spec = ProcessSpec('fake', 'steady', 'steady')\n"
        f"with Starter([spec], Path({str(tmp_path / 'log')!r})) as starter:\n"
        "    print(starter.pid('steady'), flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        assert runs(pid)
        os.kill(owner.pid, number)
        assert owner.wait(PATIENCE) != 0
    wait_until(lambda: not runs(pid))


def test_memory_of_the_stack_is_summed_and_its_peak_kept(prefix: Path, tmp_path: Path) -> None:
    with Starter([fake("steady"), fake("stubborn")], tmp_path / "log", stop_times=QUICK) as starter:
        wait_until(lambda: "up" in (tmp_path / "log" / "stubborn.log").read_text())
        single = pss_mib(starter.pid("steady"))
        both = starter.memory.sample()
        assert 0 < single < both
    assert starter.memory.peak_mib >= both
    assert starter.memory.sample() == 0.0
    assert starter.memory.peak_mib >= both
