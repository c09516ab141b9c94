"""Settings that every test relies on, however the suite was started."""

import importlib.util
import os
import signal
import tempfile
from functools import cache
from pathlib import Path

import hypothesis
import pytest

# How long an example takes is the machine's matter; tests that bound a time say so by the mark `timed`.
hypothesis.settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("untimed")
#: Many examples of every property test: `python -m pytest FILE --hypothesis-profile=long`.
hypothesis.settings.register_profile("long", hypothesis.settings.get_profile("untimed"), max_examples=20_000)


_state = tempfile.TemporaryDirectory(prefix="lodestar-state-")


def pytest_configure() -> None:
    """Tests leave the user's state alone, such as what models were asked today.

    A script's background job ignores SIGINT, and so would every process under test: they are to be interrupted.
    """
    os.environ["XDG_STATE_HOME"] = _state.name
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what compares with PyTorch where that is not installed; `make test-torch` runs it."""
    missing = [name for name in ("torch", "sentence_transformers") if importlib.util.find_spec(name) is None]
    if missing:
        reason = (
            f"{' and '.join(missing)} not installed: `make test-torch` runs it (or make setup EXTRAS=torch)"
        )
        for item in items:
            if item.get_closest_marker("torch"):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(specname="pytest_collection_modifyitems")
def pytest_marks_are_named(items: list[pytest.Item]) -> None:
    """A test that no core may be shared with names its mark in its file or its folder's conftest: scripts/run_tests.py
    collects only files that do.
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
    """Files with a slow test come first: of several workers none is left alone with the last of them."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
