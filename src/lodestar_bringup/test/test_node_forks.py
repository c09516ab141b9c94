"""Tests that nodes forked from a warm process are independent processes, and that stacks work without it."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import psutil
import pytest
from toy_nodes import POINTS, QUICK, ended, reported, runs, toy, wait_until
from waiting import PATIENCE

from lodestar_bringup.node_forks import ForkedProcess, ForkLimits, WarmProcess, main_of
from lodestar_bringup.process_spec import ProcessSpec
from lodestar_bringup.starter import Starter, prepare

pytestmark = pytest.mark.timed


def _is_up(log: Path) -> bool:
    return "up" in log.read_text()


def _is_gone(starter: Starter, pid: int) -> bool:
    return pid not in starter.pids()


def test_a_node_is_a_process_of_its_own(warm: WarmProcess, tmp_path: Path) -> None:
    spec = toy("report", "ada", parameters={"seed": 3}, environment={"MINE": "7"})
    seen = reported(warm, tmp_path / "log", spec, environment={"ROS_DOMAIN_ID": "9"})
    assert seen["parent"] == os.getpid()
    assert seen["session"] == seen["group"] == seen["pid"]
    assert seen["argv"] == spec.command()
    assert seen["folder"] == os.getcwd()
    wanted = {"MINE": "7", "ROS_DOMAIN_ID": "9", "ROS_LOG_DIR": str(tmp_path / "log" / "ros")}
    assert seen["environment"].items() >= wanted.items()
    assert sorted(seen["files"]) == ["/dev/null", *[str(tmp_path / "log" / "ada.log")] * 2]
    assert seen["main"]
    assert seen["interrupt"]
    assert seen["blocked"] == []


def test_it_is_told_what_an_executed_node_is_told(warm: WarmProcess, tmp_path: Path) -> None:
    """Arguments, folder, files and environment are equal, except for bash's counter of nesting levels."""
    forked = reported(warm, tmp_path / "a", toy("report"))
    broken = WarmProcess(ForkLimits(failures=0))
    text, code, was_forked = ended(broken, tmp_path / "b", toy("report"))
    executed = json.loads(text.splitlines()[-1].replace(str(tmp_path / "b"), str(tmp_path / "a")))
    assert (code, was_forked) == (0, False)
    told = ("argv", "parent", "folder", "environment", "files", "main", "blocked", "interrupt")
    assert {key: forked[key] for key in told} == {key: executed[key] for key in told}


def test_no_two_nodes_draw_the_same_numbers(warm: WarmProcess, tmp_path: Path) -> None:
    drawn = [reported(warm, tmp_path / str(turn), toy("report"))["random"] for turn in range(2)]
    assert not set(drawn[0]) & set(drawn[1])


def test_ps_lists_a_node_under_its_own_name_and_line(warm: WarmProcess, tmp_path: Path) -> None:
    spec = toy("steady", "a_long_name_of_a_node")
    with Starter([spec], tmp_path, stop_times=QUICK, warm=warm, environment={"MINE": "8"}) as starter:
        wait_until(lambda: "up" in (tmp_path / f"{spec.name}.log").read_text())
        node = psutil.Process(starter.pid(spec.name))
        assert node.cmdline() == [sys.executable, *spec.command()]
        assert node.name() == "a_long_name_of_"
        assert node.environ()["MINE"] == "8"
        assert node.ppid() == os.getpid()


@pytest.mark.parametrize(
    ("executable", "code", "words"),
    [
        ("doomed", 3, "cannot find the weights"),
        ("told", 4, ""),
        ("raises", 1, "RuntimeError: the lens is dirty"),
        ("crashes", -signal.SIGSEGV, "Segmentation fault"),
        ("at_exit", 0, "said goodbye"),
    ],
)
def test_its_end_is_told_with_its_last_words(
    executable: str, code: int, words: str, warm: WarmProcess, tmp_path: Path
) -> None:
    text, returned, forked = ended(warm, tmp_path, toy(executable))
    assert (returned, forked) == (code, True)
    assert words in text


def test_signals_stop_and_restart_one_node_alone(warm: WarmProcess, tmp_path: Path) -> None:
    with Starter([toy("steady"), toy("stubborn")], tmp_path, stop_times=QUICK, warm=warm) as starter:
        for name in ("steady", "stubborn"):
            wait_until(partial(_is_up, tmp_path / f"{name}.log"))
        first, other = starter.pid("steady"), starter.pid("stubborn")
        for number, code in ((signal.SIGINT, 1), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -9)):
            pid = starter.pid("steady")
            starter.send("steady", number)
            wait_until(partial(_is_gone, starter, pid))
            (death,) = starter.deaths()
            assert (death.name, death.returncode) in (("steady", code), ("steady", -number))
            starter.start_one("steady")
            wait_until(lambda: len(starter.pids()) == 2)
        assert starter.pid("steady") != first
        assert starter.pids().count(other) == 1
    assert not runs(other)


def test_nodes_outlive_the_warm_process_and_another_one_follows_it(warm: WarmProcess, tmp_path: Path) -> None:
    with Starter([toy("steady")], tmp_path, stop_times=QUICK, warm=warm) as starter:
        wait_until(lambda: "up" in (tmp_path / "steady.log").read_text())
        assert warm.pid is not None
        before = warm.pid
        os.kill(before, signal.SIGKILL)
        wait_until(lambda: warm.pid is None)
        assert starter.pids() == [starter.pid("steady")]
        starter.send("steady", signal.SIGKILL)
        wait_until(lambda: not starter.pids())
        starter.start_one("steady")
        assert isinstance(starter.process("steady"), ForkedProcess)
        assert warm.pid not in (None, before)


def test_where_the_warm_process_cannot_run_nodes_are_executed(
    toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    warm = WarmProcess()
    with monkeypatch.context() as patch:
        patch.setattr("lodestar_bringup.node_forks.PROGRAM", (str(script),))
        text, code, forked = ended(warm, tmp_path / "log", toy("doomed"))
    assert (code, forked) == (3, False)
    assert "cannot find the weights" in text
    assert "warm process" in warm.refusal


def test_a_warm_process_that_hangs_is_given_up(toys: Path, tmp_path: Path) -> None:
    warm = WarmProcess(ForkLimits(answer=0.2, failures=1, close=0.2))
    warm.prepare(["lodestar_toys.nodes:report"])
    assert warm.pid is not None
    stopped = warm.pid
    os.kill(stopped, signal.SIGSTOP)
    _, code, forked = ended(warm, tmp_path, toy("doomed"))
    assert (code, forked) == (3, False)
    assert not runs(stopped)


@pytest.mark.parametrize("executable", ["threaded", "broken"])
def test_what_cannot_be_loaded_safely_is_executed(executable: str, toys: Path, tmp_path: Path) -> None:
    warm = WarmProcess()
    try:
        text, code, forked = ended(warm, tmp_path, toy(executable))
    finally:
        warm.close()
    assert not forked
    assert warm.refusal
    assert (code, "runs" in text) == ((0, True) if executable == "threaded" else (1, False))
    assert executable == "threaded" or "a_package_that_is_not_there" in text


@pytest.mark.parametrize(
    "variable",
    ["OPENBLAS_NUM_THREADS", "NUMBA_DISABLE_JIT", "LD_PRELOAD", "PYTHONHASHSEED", "RMW_IMPLEMENTATION"],
)
def test_a_variable_that_libraries_read_on_loading_is_obeyed(
    variable: str, warm: WarmProcess, tmp_path: Path
) -> None:
    value = {"LD_PRELOAD": ""}.get(variable, "2")
    text, code, forked = ended(warm, tmp_path, toy("report", environment={variable: value}))
    assert (code, forked) == (0, False)
    assert json.loads(text.splitlines()[-1])["environment"][variable] == value
    assert variable in text.splitlines()[0], "the log says why it was not forked"


def test_the_nodes_and_the_warm_process_end_with_a_killed_starter(toys: Path, tmp_path: Path) -> None:
    code = (
        "import time; from pathlib import Path; from lodestar_bringup.process_spec import ProcessSpec\n"
        "from lodestar_bringup.starter import Starter\n"
        "from lodestar_bringup.node_forks import shared_warm_process\n"
        "spec = ProcessSpec('lodestar_toys', 'stubborn', 'stubborn')\n"
        f"with Starter([spec], Path({str(tmp_path)!r})) as starter:\n"
        "    print(starter.pid('stubborn'), shared_warm_process().pid, flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pids = [int(word) for word in owner.stdout.readline().split()]
        assert len(pids) == 2
        assert all(runs(pid) for pid in pids)
        os.kill(owner.pid, signal.SIGKILL)
        assert owner.wait(PATIENCE) == -9
    wait_until(lambda: not any(runs(pid) for pid in pids))


def test_what_is_prepared_is_there_when_the_node_is_forked(warm: WarmProcess, tmp_path: Path) -> None:
    prepare([toy("report"), toy("broken"), ProcessSpec("fake", "missing", "missing")], warm)
    assert reported(warm, tmp_path, toy("report"))["pid"]


def test_only_scripts_of_our_entry_points_are_forked(toys: Path, tmp_path: Path) -> None:
    script = toys / "prefix" / "lib" / "lodestar_toys" / "report"
    text = script.read_text()
    assert main_of("lodestar_toys", script) == POINTS["report"]
    other = tmp_path / "report"
    for changed in (
        text.replace(sys.executable, sys.executable + " -S"),
        text.replace(sys.executable, "/bin/sh"),
        text.replace("lodestar_toys.nodes", "somebody.elses"),
        "\x7fELF",
    ):
        other.write_text(changed)
        assert main_of("lodestar_toys", other) == ""
    assert main_of("other_package", script) == ""
    assert main_of("lodestar_toys", Path(__file__)) == ""


KILLED_BEFORE_IT_TELLS = """
import os, signal, socket, sys
from lodestar_bringup import warm_process
class Killed(socket.socket):
    def send(self, *_):
        os.kill(os.getpid(), signal.SIGKILL)
sys.exit(warm_process.serve(Killed(fileno=int(sys.argv[1])))())
"""


def test_a_node_of_which_the_starter_has_not_heard_never_begins(
    toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The warm process is killed after forking a node and before reporting it."""
    monkeypatch.setattr("lodestar_bringup.node_forks.PROGRAM", (sys.executable, "-c", KILLED_BEFORE_IT_TELLS))
    warm, log = WarmProcess(), tmp_path / "steady.log"
    with Starter([toy("steady")], tmp_path, stop_times=QUICK, warm=warm) as starter:
        assert not isinstance(starter.process("steady"), ForkedProcess)
        wait_until(lambda: "up" in log.read_text())
        others = [
            child.pid
            for child in psutil.Process().children(recursive=True)
            if child.pid != starter.pid("steady") and runs(child.pid) and str(log) in _files(child.pid)
        ]
        assert others == []
        assert log.read_text().count("steady is up") == 1
    assert "it ended" in warm.refusal


def _files(pid: int) -> list[str]:
    folder = f"/proc/{pid}/fd"
    return [os.readlink(f"{folder}/{number}") for number in os.listdir(folder)]


def test_files_in_the_working_folder_are_not_taken_for_libraries(
    toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('a file of the user')\n")
    monkeypatch.chdir(tmp_path)
    warm = WarmProcess()
    try:
        seen = reported(warm, tmp_path / "log", toy("report"))
    finally:
        warm.close()
    assert seen["folder"] == str(tmp_path)


def test_a_working_folder_that_was_removed_keeps_no_node_from_starting(
    warm: WarmProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert ended(warm, tmp_path / "log", toy("told"))[1:] == (4, True)


def test_a_full_disk_keeps_no_node_from_starting(toys: Path, tmp_path: Path) -> None:
    (tmp_path / "told.log").symlink_to("/dev/full")
    warm = WarmProcess(ForkLimits(failures=0))
    with Starter([toy("told")], tmp_path, stop_times=QUICK, warm=warm) as starter:
        assert starter.process("told").wait(PATIENCE) == 4


def test_nothing_is_prepared_for_forks_that_are_given_up(toys: Path) -> None:
    warm = WarmProcess(ForkLimits(failures=0))
    warm.prepare(["lodestar_toys.nodes:report"])
    assert warm.pid is None


def test_waiting_survives_another_thread_that_waits_and_many_open_files(
    warm: WarmProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 2048)), hard))
    open_pidfd = os.pidfd_open

    def late(pid: int) -> int:
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: process.poll() is not None)
        return open_pidfd(pid)

    def high(pid: int) -> int:
        low = open_pidfd(pid)
        try:
            return fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 1100)
        finally:
            os.close(low)

    try:
        with Starter([toy("steady")], tmp_path, stop_times=QUICK, warm=warm) as starter:
            process = starter.process("steady")
            assert isinstance(process, ForkedProcess)
            with monkeypatch.context() as patch:
                patch.setattr(os, "pidfd_open", high)
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(0.01)
                patch.setattr(os, "pidfd_open", late)
                assert process.wait(PATIENCE) == -signal.SIGKILL
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
