"""Real processes over real DDS: a domain of its own per module, everything ended with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")

from integration.bed import Bed, Processes
from integration.commands import Command
from lodestar_bringup.domains import free_domain


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(item.fspath).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.ros)


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


@pytest.fixture
def ask(domain):
    """Runs `python -m lodestar_ros.ask` to its end: exit status and what it wrote."""
    running: list[Command] = []

    def run(*arguments: str) -> tuple[int, str]:
        running.append(Command("lodestar_ros.ask", *arguments, environment={"ROS_DOMAIN_ID": str(domain)}))
        return running[-1].ends(), running[-1].text

    yield run
    for one in running:
        one.kill()
