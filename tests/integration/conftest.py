"""Real processes over real DDS: a domain of its own per module, everything ended with it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from integration.bed import Bed, Processes


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(item.fspath).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.ros)


@contextlib.contextmanager
def free_domain() -> Iterator[int]:
    """A ROS domain that nobody on this machine uses.

    The first participant of a domain binds the port 7410 + 250 x domain; another port is the sign of this test run,
    from before its own first participant until its last has gone.
    """
    for domain in range(20, 100):
        with contextlib.ExitStack() as locks:
            try:
                _bind(locks, 17000 + domain)
                with contextlib.ExitStack() as probe:
                    _bind(probe, 7410 + 250 * domain)
            except OSError:
                continue
            yield domain
            return
    raise RuntimeError("no free ROS domain: too many test runs at once")


def _bind(stack: contextlib.ExitStack, port: int) -> None:
    stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)).bind(("0.0.0.0", port))


@pytest.fixture(scope="module")
def domain() -> Iterator[int]:
    with free_domain() as number:
        yield number


@pytest.fixture(scope="module")
def bed(domain: int) -> Iterator[Bed]:
    """A node of the test's own, whose callbacks run on a thread."""
    bed = Bed(domain)
    yield bed
    bed.close()


@pytest.fixture(scope="module")
def processes(domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """Starts nodes as the stack's list says, in this module's domain."""
    running = Processes(domain, tmp_path_factory.mktemp("logs"))
    yield running
    running.stop()
