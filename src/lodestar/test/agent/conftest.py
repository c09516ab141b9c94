"""Fixtures of the decision loop's tests."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for the helper modules, such as agent_fakes

from agent_fakes import TARGET, World, exploring, towards_target


@pytest.fixture
def known_target() -> World:
    """Return a room with a red chair (entity 7) that the semantic map knows."""
    world = World(answers={"semantic_map": towards_target, "frontier": exploring((2.0, 8.0, 0.0))})
    world.mirror.put(TARGET)
    world.targets.scores[7] = 0.9
    return world
