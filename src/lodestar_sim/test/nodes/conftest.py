"""The simulator's nodes."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for running


@pytest.fixture
def processes(tmp_path):
    from running import Processes

    group = Processes(tmp_path / "log")
    yield group
    group.stop()


@pytest.fixture
def listener():
    from running import Listener

    one = Listener()
    yield one
    one.close()


@pytest.fixture
def world_file(tmp_path, furnished_room) -> str:
    path = tmp_path / "room.json"
    furnished_room.save(path)
    return str(path)
