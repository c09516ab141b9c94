"""`make unit` runs every test once, whole stacks after all others, and fails where one of them does."""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import PATIENCE, wait_for

pytest_plugins = "pytester"
ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "run_tests.py"

TESTS = """
import os, pathlib, pytest
def note(request):
    (pathlib.Path(os.environ["NOTES"]) / request.node.name).write_text(os.environ["PYTEST_XDIST_WORKER"])
def test_sum_{0}(request): note(request)
@pytest.mark.ros
def test_node_{0}(request): note(request)
@pytest.mark.timed
def test_time_{0}(request): note(request)
"""
STACK = """
import pytest
from test_a import note
pytestmark = pytest.mark.alone
def test_stack_{0}(request): note(request)
"""


@pytest.fixture
def run_tests() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_tests", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses resolve field types there
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start the script in a folder with this project's conftest."""
    marks = "markers =\n    ros\n    timed\n    alone\n    slow\n"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\n{marks}pythonpath = .\n")
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "notes").mkdir()
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    own = {"NOTES": str(tmp_path / "notes"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # slow to import

    def start(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(SCRIPT), "-pxdist.plugin", *arguments], cwd=tmp_path, env={**bare, **own},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip

    return start


def test_every_test_runs_once_and_whole_stacks_after_all_others(
    tmp_path: Path, run_tests: ModuleType, run: Callable[..., subprocess.Popen[str]]
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"test_{name}.py").write_text(TESTS.format(name))
        (tmp_path / f"test_stack_{name}.py").write_text(STACK.format(name))
    done = run(".")
    said, _ = done.communicate(timeout=PATIENCE)
    assert done.returncode == 0, said
    notes = list((tmp_path / "notes").iterdir())
    workers = {note.name: note.read_text() for note in notes}
    assert len(workers) == 12
    for kind in ("sum", "node"):
        beside = {workers[f"test_{kind}_{name}"] for name in ("a", "b", "c")}
        assert len(beside) > 1 or run_tests.useful_workers([]) == 1
    in_order = [note.name for note in sorted(notes, key=lambda note: note.stat().st_mtime_ns)]
    assert sorted(in_order[-3:]) == ["test_stack_a", "test_stack_b", "test_stack_c"]
    assert said.count(": passed, ") == 3


def test_a_worker_that_dies_fails_its_test_and_loses_no_other(
    tmp_path: Path, run: Callable[..., subprocess.Popen[str]]
) -> None:
    (tmp_path / "test_it.py").write_text(DYING)
    done = run("test_it.py")
    said, _ = done.communicate(timeout=PATIENCE)
    assert done.returncode == 1
    assert "crashed while running 'test_it.py::test_dies'" in said
    assert said.rstrip().endswith("\n== FAILED test_it.py::test_dies")
    assert {note.name for note in (tmp_path / "notes").iterdir()} == {"test_before", "test_after"}


def test_the_second_part_collects_the_files_that_name_its_marks(
    tmp_path: Path, run_tests: ModuleType
) -> None:
    nodes = tmp_path / "tests" / "nodes"
    nodes.mkdir(parents=True)
    (nodes / "conftest.py").write_text("item.add_marker(pytest.mark.ros)\n")
    (nodes / "test_a.py").write_text("")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "test_b.py").write_text("@pytest.mark.timed\n")
    (tmp_path / "src" / "test_c.py").write_text("")
    assert run_tests.marked_files(root=tmp_path) == ["src/test_b.py", "tests/nodes/test_a.py"]
    assert "tests/integration/test_operator.py" in run_tests.marked_files()


def test_a_mark_that_its_file_does_not_name_is_refused(pytester: pytest.Pytester) -> None:
    """A test with an unknown mark would not be collected by any part."""
    pytester.makeconftest((ROOT / "conftest.py").read_text())
    pytester.makeini("[pytest]\nmarkers =\n    ros: nodes\n")
    pytester.makepyfile(
        test_it="import pytest\n\npytestmark = getattr(pytest.mark, 'ros')\ndef test_it(): pass\n"
    )
    done = pytester.runpytest("-p", "no:cacheprovider")
    done.stderr.fnmatch_lines(["*test_it has the mark ros, and its file does not name pytest.mark.ros*"])


HELD_UP = """
import ctypes, pytest
pytestmark = pytest.mark.timed
def hold_up(): ctypes.PyDLL(None).sleep(600)  # holds the interpreter's lock, as a destructor of DDS can
@pytest.fixture
def ends_in_it(): yield; hold_up()
def test_held_up(): hold_up()
def test_failed_before(ends_in_it): assert False
def test_after(): pass
"""


def test_a_test_that_native_code_holds_up_fails_with_its_stack(
    tmp_path: Path, run: Callable[..., subprocess.Popen[str]]
) -> None:
    (tmp_path / "test_it.py").write_text(HELD_UP)
    conftest = tmp_path / "conftest.py"
    conftest.write_text(conftest.read_text().replace("HELD_UP = 660", "HELD_UP = 5"))
    said, _ = run("test_it.py").communicate(timeout=PATIENCE)
    assert said.count("in hold_up") == 2 and " 1 passed" in said
    assert "\n== FAILED test_it.py::test_held_up\n== FAILED test_it.py::test_failed_before" in said


DYING = """
import os, pathlib, pytest
pytestmark = pytest.mark.timed
def note(request): (pathlib.Path(os.environ["NOTES"]) / request.node.name).write_text("")
def test_before(request): note(request)
def test_dies(): os._exit(9)
def test_after(request): note(request)
"""


class FakeProcess:
    """Fake pytest process that has ended, or ends in `wait`."""

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
    """Make the parts end with these exit statuses; return a list to which started processes are added."""
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
        ((5, 0, 0), 0),  # 5: no tests collected for this part
        ((0, 5, 5), 0),
        ((5, 1, 5), 1),
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
def test_a_part_that_is_not_over_ends_with_the_program(
    tmp_path: Path, run: Callable[..., subprocess.Popen[str]], number: signal.Signals
) -> None:
    """A signal that stops the program also ends its running parts."""
    (tmp_path / "test_endless.py").write_text(ENDLESS)
    running, notes = run("test_endless.py"), tmp_path / "notes" / "pid"
    pid = int(wait_for(lambda: notes.exists() and notes.read_text(), "the test's process"))
    running.send_signal(number)
    said, _ = running.communicate(timeout=PATIENCE)
    assert running.returncode == (128 + number if number is signal.SIGTERM else -number)
    if number is signal.SIGTERM:
        assert said.rstrip().endswith("\n== NOT ENDED test_endless.py::test_endless")
    wait_for(lambda: not psutil.pid_exists(pid), "its end")  # after SIGKILL it may remain as a zombie


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


def test_the_examples_of_a_property_do_not_depend_on_the_modules_that_are_loaded(tmp_path, monkeypatch):
    def examples() -> list[float]:
        found: list[float] = []

        @given(st.floats())
        def take(value: float) -> None:
            found.append(value)

        take()
        return found

    before = examples()
    (tmp_path / "with_numbers.py").write_text(f"NUMBERS = [{', '.join(f'{n}.125' for n in range(200))}]\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("with_numbers")
    assert repr(examples()) == repr(before)
