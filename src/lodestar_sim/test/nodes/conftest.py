"""The simulator's nodes in a domain of their own per test."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # running


@pytest.fixture
def processes():
    from running import Processes

    from lodestar_bringup.domains import free_domain

    with free_domain() as domain:
        group = Processes(domain)
        yield group
        group.stop()


@pytest.fixture
def listener(processes):
    from running import Listener

    one = Listener(processes.domain)
    yield one
    one.close()


@pytest.fixture
def world_file(tmp_path, furnished_room) -> str:
    path = tmp_path / "room.json"
    furnished_room.save(path)
    return str(path)
