"""Settings for all tests, independent of how the suite is started."""

import faulthandler
import gc
import importlib.util
import os
import signal
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import hypothesis
import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

from lodestar_bringup.domains import free_domain

# Before any message is imported, in processes that a test starts too: a field of the wrong type raises.
os.environ["ROS_PYTHON_CHECK_FIELDS"] = "1"

# The same examples in every run: a failure tells of the code, not of the day. Hypothesis would mix numbers and texts of
# the modules into them that happen to be loaded, which other tests of the process decide; so no module counts as ours.
hypothesis.internal.conjecture.providers.is_local_module_file = lambda path: False
# No deadline per example, because machines differ; tests that bound a time have the mark `timed`.
hypothesis.settings.register_profile(
    "fixed",
    derandomize=True,
    max_examples=40,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("fixed")
#: Runs many random examples of every property test: `python -m pytest FILE --hypothesis-profile=long`.
hypothesis.settings.register_profile(
    "long", hypothesis.settings.get_profile("fixed"), derandomize=False, max_examples=20_000
)


# Before the first participant of DDS: a node that a test kills cannot lock what the tests' bed hears with.
_profile = Path(__file__).parent / "config" / "fastdds_udp.xml"
if _profile.is_file():  # a test of this file copies it to a folder without profiles
    os.environ["FASTDDS_DEFAULT_PROFILES_FILE"] = str(_profile)

#: Seconds after which a test that native code holds up, so that no timeout reaches it, ends its process.
HELD_UP = 660
#: Variable with the path of the file in which scripts/run_tests.py reads which tests have begun, ended and failed.
PROGRESS = "LODESTAR_TEST_PROGRESS"

_state = tempfile.TemporaryDirectory(prefix="lodestar-state-")
_error_output = -1  # file descriptor of stderr, which the tests do not capture


def pytest_configure() -> None:
    """Keep the tests away from the user's state, such as the record of today's requests to models.

    Processes under test must react to SIGINT, which a background job of a script ignores and its children inherit.
    """
    global _error_output
    _error_output = os.dup(2)
    os.environ["XDG_STATE_HOME"] = _state.name
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End the process with the stacks of its threads if a test does not end; xdist goes on in another worker."""
    faulthandler.dump_traceback_later(HELD_UP, exit=True, file=_error_output)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_exception_interact(node: pytest.Item | pytest.Collector) -> None:
    """Keep the bound of a test that has failed: pytest and its timeout forget theirs before the fixtures end."""
    if isinstance(node, pytest.Item):
        faulthandler.dump_traceback_later(HELD_UP, exit=True, file=_error_output)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        _note("failed", report.nodeid)


def pytest_runtest_logstart(nodeid: str) -> None:
    _note("began", nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _note("failed", report.nodeid)


def pytest_runtest_logfinish(nodeid: str) -> None:
    _note("ended", nodeid)


def _note(what: str, test: str) -> None:
    path = os.environ.get(PROGRESS)
    if path and "PYTEST_XDIST_WORKER" not in os.environ:
        with open(path, "a") as file:
            file.write(f"{what} {test}\n")


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Collect without the garbage collector, which finds nothing among a million objects: 16 s instead of 24 s."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave what was collected out of all later passes of the garbage collector."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def domain() -> Iterator[int]:
    """Claim a DDS domain for the nodes of a file, which nothing else on this machine uses."""
    with free_domain() as number, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(number))
        yield number


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out comparisons with PyTorch where it is not installed; `make test-torch` runs them."""
    if all(importlib.util.find_spec(name) for name in ("torch", "sentence_transformers")):
        return
    left_out = [item for item in items if item.get_closest_marker("torch")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not item.get_closest_marker("torch")]


@pytest.hookimpl(specname="pytest_collection_modifyitems")
def pytest_marks_are_named(items: list[pytest.Item]) -> None:
    """Refuse a mark of an exclusive test that its file or its folder's conftest does not contain as text.

    scripts/run_tests.py collects only files whose text contains the mark.
    """
    for item in items:
        for mark in ("ros", "timed", "alone"):
            if item.get_closest_marker(mark) and f"mark.{mark}" not in _named_in(item.path):
                raise pytest.UsageError(
                    f"{item.nodeid} has the mark {mark}, and its file does not name pytest.mark.{mark}"
                )


@cache
def _named_in(path: Path) -> str:
    conftest = path.with_name("conftest.py")
    return path.read_text() + (conftest.read_text() if conftest.is_file() else "")


@pytest.hookimpl(specname="pytest_collection_modifyitems")
def pytest_slow_files_first(items: list[pytest.Item]) -> None:
    """Run files with a slow test first, so that no worker runs one of them alone at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling:
    """Give a file to a worker as a whole."""

    class Files(LoadFileScheduling):
        def _reschedule(self, node: WorkerController) -> None:
            super()._reschedule(node)
            if not self.workqueue and not node.shutting_down:
                node.shutdown()  # else one that stands in for a dead one keeps its last test

        def remove_node(self, node: WorkerController) -> str | None:
            """Go on after the test at which a worker died, which xdist would run again."""
            units = self.assigned_work.pop(node)
            left = ((unit, test) for unit in units.values() for test, done in unit.items() if not done)
            unit, died_at = next(left, ({}, None))
            if died_at is not None:
                unit[died_at] = True
                self.workqueue.update(units)
                for other in self.assigned_work:
                    self._reschedule(other)
            return died_at

    return Files(config, log)
