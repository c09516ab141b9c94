"""`make unit` runs every test once, whole stacks and bounds of time alone, and fails where one of them does."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

pytest_plugins = "pytester"
ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "run_tests.py"

TESTS = """
import os, pathlib, pytest
def note(request):
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    (pathlib.Path(os.environ["NOTES"]) / request.node.name).write_text(worker)
def test_sum_{0}(request): note(request)
@pytest.mark.ros
def test_node_{0}(request): note(request)
@pytest.mark.timed
def test_time_{0}(request): note(request)
@pytest.mark.ros
@pytest.mark.alone
def test_stack_{0}(request): note(request)
"""


@pytest.fixture
def run_tests() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_tests", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look
    spec.loader.exec_module(module)
    return module


def test_every_test_runs_once_and_only_what_may_has_neighbours(tmp_path: Path, run_tests: ModuleType) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    ros\n    timed\n    alone\n")
    for name in ("a", "b"):
        (tmp_path / f"test_{name}.py").write_text(TESTS.format(name))
    (tmp_path / "notes").mkdir()
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    own = {
        "NOTES": str(tmp_path / "notes"),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }  # they take seconds to load
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "-pxdist.plugin"], cwd=tmp_path, env={**bare, **own},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    workers = {note.name: note.read_text() for note in (tmp_path / "notes").iterdir()}
    assert len(workers) == 8
    assert {name for name, worker in workers.items() if not worker} >= {
        f"test_{kind}_{name}" for kind in ("stack", "time") for name in ("a", "b")
    }
    for kind, waiting in (("sum", 0), ("node", 1)):
        beside = {workers[f"test_{kind}_a"], workers[f"test_{kind}_b"]}
        several = run_tests.useful_workers([], waiting=waiting) > 1
        assert len(beside) == 2 and "" not in beside if several else beside == {""}
    assert done.stdout.count(": passed, ") == 3


def test_parts_with_nodes_collect_the_files_that_name_their_marks(
    tmp_path: Path, run_tests: ModuleType
) -> None:
    nodes = tmp_path / "tests" / "nodes"
    nodes.mkdir(parents=True)
    (nodes / "conftest.py").write_text("item.add_marker(pytest.mark.ros)\n")
    (nodes / "test_a.py").write_text("")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "test_b.py").write_text("@pytest.mark.timed\n")
    (tmp_path / "src" / "test_c.py").write_text("")
    assert run_tests.marked_files(("ros",), tmp_path) == ["tests/nodes/test_a.py"]
    assert run_tests.marked_files(("timed", "alone"), tmp_path) == ["src/test_b.py"]
    assert "tests/integration/test_operator.py" in run_tests.marked_files(("ros",))
    assert run_tests.arguments_of(("ros",), ["src/test_c.py"]) == ["src/test_c.py"]


def test_a_mark_that_its_file_does_not_name_is_refused(pytester: pytest.Pytester) -> None:
    """Its test would be collected by no part."""
    pytester.makeconftest((ROOT / "conftest.py").read_text())
    pytester.makeini("[pytest]\nmarkers =\n    ros: nodes\n")
    pytester.makepyfile(
        test_it="import pytest\n\npytestmark = getattr(pytest.mark, 'ros')\ndef test_it(): pass\n"
    )
    done = pytester.runpytest("-p", "no:cacheprovider")
    done.stderr.fnmatch_lines(["*test_it has the mark ros, and its file does not name pytest.mark.ros*"])


class FakeProcess:
    """A pytest that has ended, or ends when it is waited for."""

    pid = 0

    def __init__(self, returncode: int, ended_before: int) -> None:
        self._status, self.ended_before = returncode, ended_before
        self.returncode: int | None = None

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        self.returncode = self._status
        return self._status

    def send_signal(self, number: int) -> None:
        self.wait()


def ends_with(
    run_tests: ModuleType, monkeypatch: pytest.MonkeyPatch, statuses: Sequence[int]
) -> list[FakeProcess]:
    """Have the parts end with these statuses; the list grows with what is started."""
    given, started = iter(statuses), list[FakeProcess]()

    def start(*_: object, **__: object) -> FakeProcess:
        started.append(FakeProcess(next(given), sum(one.poll() is not None for one in started)))
        return started[-1]

    monkeypatch.setattr(run_tests.subprocess, "Popen", start)
    monkeypatch.setattr(run_tests.os, "killpg", lambda *_: started[0].wait())
    return started


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((0, 0, 0), 0),
        ((1, 0, 0), 1),
        ((0, 1, 0), 1),
        ((0, 0, 1), 1),
        ((5, 0, 0), 0),  # 5: nothing of that kind among the tests that were named
        ((0, 5, 5), 0),
        ((5, 5, 1), 1),
        ((5, 5, 5), 5),
        ((3, 0, 0), 3),
    ],
)
def test_a_failure_of_any_part_fails(run_tests: ModuleType, monkeypatch, statuses, expected) -> None:
    ends_with(run_tests, monkeypatch, statuses)
    assert run_tests.main([]) == expected


ENDLESS = """
import os, pathlib, time
def test_endless():
    (pathlib.Path(os.environ["NOTES"]) / "pid").write_text(str(os.getpid()))
    time.sleep(600)
"""


FLAKY = """
import os, pathlib, pytest
@pytest.mark.{mark}
def test_slow_to_start():
    tries = pathlib.Path(os.environ["NOTES"]) / "tries"
    tries.write_text("x" * (1 + (len(tries.read_text()) if tries.exists() else 0)))
    assert len(tries.read_text()) >= {needed}
"""


@pytest.mark.parametrize(
    ("mark", "needed", "passes", "tries"),
    [
        ("ros", 2, True, 2),
        ("timed", 2, True, 2),
        ("ros", 3, False, 2),
        ("skipif(False, reason='')", 2, False, 1),
    ],
)
def test_what_fails_beside_others_is_tried_once_more_and_named(
    tmp_path: Path, mark, needed, passes, tries
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    ros\n    timed\n    alone\n")
    (tmp_path / "test_flaky.py").write_text(FLAKY.format(mark=mark, needed=needed))
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    own = {"NOTES": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "-pxdist.plugin", "test_flaky.py"], cwd=tmp_path, env={**bare, **own},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode == 0) is passes, done.stdout + done.stderr
    assert len((tmp_path / "tries").read_text()) == tries
    assert ("only when run again: test_flaky.py" in done.stdout) is passes


def test_after_bad_usage_nothing_else_runs(run_tests: ModuleType, monkeypatch, capsys) -> None:
    started = ends_with(run_tests, monkeypatch, (4, 4))
    assert run_tests.main(["no/such/path"]) == 4
    assert "ENDED (4)" in capsys.readouterr().out
    assert len(started) <= 2


def test_without_memory_for_two_parts_they_follow_each_other(run_tests: ModuleType, monkeypatch) -> None:
    monkeypatch.setattr(run_tests, "free_memory", lambda: run_tests.BESIDE - 1)
    started = ends_with(run_tests, monkeypatch, (0, 0, 0))
    assert run_tests.main([]) == 0
    assert [process.ended_before for process in started] == [0, 1, 2]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_part_that_is_not_over_ends_with_the_program(tmp_path: Path, number: signal.Signals) -> None:
    """Whoever stops it by a signal leaves nothing running."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    ros\n    timed\n    alone\n")
    (tmp_path / "test_endless.py").write_text(ENDLESS)
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    own = {"NOTES": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    running = subprocess.Popen(
        [sys.executable, str(SCRIPT), "-pxdist.plugin", "test_endless.py"], cwd=tmp_path, env={**bare, **own},
        stdout=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    notes = tmp_path / "pid"
    end = time.monotonic() + 60.0
    while not (notes.exists() and notes.read_text()):
        assert time.monotonic() < end and running.poll() is None
        time.sleep(0.05)
    running.send_signal(number)
    assert running.wait(30.0) == (128 + number if number is signal.SIGTERM else -number)
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < end:  # after SIGKILL nobody has waited for it
            os.kill(int(notes.read_text()), 0)
            time.sleep(0.05)


SLOW_LAST = """
import pytest
def test_quick_{0}(): pass
@pytest.mark.slow
def test_slow_{0}(): pass
"""


def test_files_with_a_slow_test_come_first_and_stay_whole(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nmarkers =\n    slow\n")
    pytester.makeconftest((ROOT / "conftest.py").read_text())
    pytester.makepyfile(
        test_a="def test_a(): pass", test_b=SLOW_LAST.format("b"), test_c=SLOW_LAST.format("c")
    )
    ordered = pytester.runpytest_inprocess("--collect-only", "-q", "-p", "no:cacheprovider").outlines
    assert [line.rpartition("::")[2] for line in ordered if "::" in line] == [
        "test_quick_b", "test_slow_b", "test_quick_c", "test_slow_c", "test_a",
    ]  # fmt: skip


def test_one_file_needs_no_second_worker(run_tests: ModuleType, monkeypatch) -> None:
    monkeypatch.setattr(run_tests.os, "sched_getaffinity", lambda _: {0, 1, 2})
    here = str(Path(__file__))
    assert run_tests.useful_workers([]) == 3
    assert run_tests.useful_workers([f"{here}::test_a", f"{here}::test_b", "-x"]) == 1
    assert run_tests.useful_workers([here, str(SCRIPT)]) == 2
    assert run_tests.useful_workers([str(ROOT / "tests")]) == 3


def test_files_that_a_container_has_read_leave_its_memory_free(tmp_path: Path, run_tests: ModuleType) -> None:
    for name, text in (("max", "1000000"), ("current", "990000"), ("stat", "anon 7\ninactive_file 400000\n")):
        (tmp_path / f"memory.{name}").write_text(text)
    assert run_tests.free_memory(tmp_path) == 410000
