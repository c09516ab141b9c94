"""`make unit` runs every test once, whole stacks and bounds of time alone, and fails where one of them does."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

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
    given = iter(statuses)
    monkeypatch.setattr(run_tests.subprocess, "call", lambda *_, **__: next(given))
    assert run_tests.main([]) == expected


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
    given = iter((4,))
    monkeypatch.setattr(run_tests.subprocess, "call", lambda *_, **__: next(given))
    assert run_tests.main(["no/such/path"]) == 4
    assert "ENDED (4)" in capsys.readouterr().out


def test_one_file_needs_no_second_worker(run_tests: ModuleType, monkeypatch) -> None:
    monkeypatch.setattr(run_tests.os, "sched_getaffinity", lambda _: {0, 1, 2})
    here = str(Path(__file__))
    assert run_tests.useful_workers([]) == 3
    assert run_tests.useful_workers([f"{here}::test_a", f"{here}::test_b", "-x"]) == 1
    assert run_tests.useful_workers([here, str(SCRIPT)]) == 2
    assert run_tests.useful_workers([str(ROOT / "tests")]) == 3
